"""The people's pages of memory: what is held, search, one record."""
