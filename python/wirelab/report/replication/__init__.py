"""Records of `replicate` to one page: of one paper, or of all. Computes no statistic: every number is looked up or
counted.
"""
