"""Estimates of one sample of a scenario: means, quantiles, shares, with their intervals. It compares nothing."""
