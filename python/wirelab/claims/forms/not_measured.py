"""A statement that no measurement here can decide."""

from __future__ import annotations

from typing import Literal

from wirelab.claims.judgement import INCONCLUSIVE, Context, Judgement
from wirelab.claims.part import Form


class NotMeasured(Form):
    """No measurement here can decide it: always inconclusive, and `reason` says why."""

    form: Literal["not-measured"]
    reason: str

    def judge(self, context: Context) -> Judgement:
        why = f"not {context.source.words}: {self.reason}"
        return Judgement("not-measured", "not measured", INCONCLUSIVE, why, decidable=False)
