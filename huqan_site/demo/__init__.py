"""The demo: people, agents, policies and a working week of proposals, all made through the real services."""
