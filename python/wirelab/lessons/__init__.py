"""Lessons that ship: an experiment, what to look at in its results, and what to ask about it."""
