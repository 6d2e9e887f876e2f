"""The pages of setting up: one's own account, the one-time link, agents and people."""
