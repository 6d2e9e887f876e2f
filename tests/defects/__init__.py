"""Hand-made defects, each of which the suite must catch."""
