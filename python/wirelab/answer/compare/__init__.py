"""Two campaigns, or two sides of one: which scenarios are compared, what changed in them, and in which packet."""
