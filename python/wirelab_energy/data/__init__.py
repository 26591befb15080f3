"""Shipped radios and devices; every number with its source."""
