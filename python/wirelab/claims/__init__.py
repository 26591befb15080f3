"""Estimates to Verdicts on stated claims. Pure but for `judge`, which reads a campaign and writes its verdicts."""

from wirelab.claims.judge import judge_campaign as judge
from wirelab.claims.load import Claims, load

__all__ = ["Claims", "judge", "load"]
