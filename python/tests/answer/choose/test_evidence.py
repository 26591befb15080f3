"""What of everything that was measured can be ranked."""

from __future__ import annotations

from wirelab.answer.choose.evidence import mean_of, typical_of
from wirelab.answer.choose.ranking import exactly


def test_a_mean_is_over_trials_with_typical_constants() -> None:
    assert mean_of({}) is None
    assert mean_of({0: exactly(1.0), 3: exactly(2.0)}) == 1.5
    assert typical_of({"tail": {"low": 0.5, "typical": 1.0, "high": 4.0}, **exactly(2.0)}) == 3.0
