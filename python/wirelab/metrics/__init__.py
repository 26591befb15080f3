"""Observations to numbers with units: one file for each family, each definition with its source. `registry` has them
all, `described` what is said of them without data frames. Statistics are elsewhere.
"""
