"""What nothing measured here can decide."""

from __future__ import annotations

from typing import Literal

from wirelab.claims.judgement import UNDECIDED, Bench, Judgement
from wirelab.claims.part import Form


class NotMeasured(Form):
    """Nothing that is measured here tells: undecided whatever comes, and `reason` says why."""

    form: Literal["not-measured"]
    reason: str

    def judge(self, bench: Bench) -> Judgement:
        return Judgement("not-measured", "not measured", UNDECIDED, f"not {bench.source.words}: {self.reason}")
