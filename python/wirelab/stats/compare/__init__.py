"""Comparisons of two scenarios, and what the error of the links means for them."""
