"""Numbers to Estimates and Comparisons. Knows no protocol's name: what is compared are scenarios, what is estimated
are samples.
"""

from wirelab.stats.analyze import analyze
from wirelab.stats.estimate import LEVEL, Comparison, Estimate
from wirelab.stats.stopping import make_enough

__all__ = ["LEVEL", "Comparison", "Estimate", "analyze", "make_enough"]
