"""What nothing measured here can decide."""

from __future__ import annotations

from typing import Literal

from wirelab.claims.judgement import INCONCLUSIVE, Bench, Judgement
from wirelab.claims.part import Form


class NotMeasured(Form):
    """Nothing that is measured here tells: inconclusive whatever comes, and `reason` says why."""

    form: Literal["not-measured"]
    reason: str

    def judge(self, bench: Bench) -> Judgement:
        return Judgement("not-measured", "not measured", INCONCLUSIVE, f"not {bench.source.words}: {self.reason}")
