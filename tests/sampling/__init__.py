"""The bounds of `wirelab exact` next to a large sample of the same exchanges."""
