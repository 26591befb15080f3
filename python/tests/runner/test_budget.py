"""A budget of time that several campaigns share."""

from __future__ import annotations

import pytest

from wirelab.runner import budget
from wirelab.runner.budget import Budget


def test_a_budget_begins_when_it_is_made_and_is_negative_when_it_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 1000.0
    monkeypatch.setattr(budget.time, "monotonic", lambda: now_s)
    made = Budget.of(300 * 10**9)
    assert made.left_s == 300
    now_s = 1299.5
    assert made.left_s == 0.5
    now_s = 1301.0
    assert made.left_s == -1
    assert made == Budget(1300.0)
