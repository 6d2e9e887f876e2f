"""The only reader of proposals, decisions and policy outside the services."""
