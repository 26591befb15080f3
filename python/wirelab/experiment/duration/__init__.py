"""How long exchanges and trials take, roughly and before a run: a plan's minutes, its parallel trials and its warnings.
Measures nothing, and no estimate of a campaign depends on it.
"""
