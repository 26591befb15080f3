"""Shipped experiments, profiles and the catalogue of implementations; every number with its source."""
