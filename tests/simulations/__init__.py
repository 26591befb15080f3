"""Coverage of the intervals that a report prints, and false positives of its comparisons, on data of known truth."""
