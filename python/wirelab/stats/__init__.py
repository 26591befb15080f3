"""Numbers to Estimates and Comparisons, by `analyze.analyze`. Knows no protocol's name: what is compared are scenarios,
what is estimated are samples.
"""
