"""Arrival processes of the shipped scripts: instants from the first one on, and the gap after the last."""

from __future__ import annotations

import asyncio
import importlib
import os
import random
import signal
import sys
import time
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CLIENTS = Path(str(resources.files("wirelab.data").joinpath("clients")))
S = 10**9
EVERY_TEN = {"process": "periodic", "interval_ns": 600 * S}
BURSTS = {"process": "bursts", "interval_ns": 3600 * S, "rate_hz": 2.0, "duration_ns": 10 * S}


@pytest.fixture
def arrivals(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(CLIENTS))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return importlib.reload(importlib.import_module("arrivals"))


def instants(
    arrivals: ModuleType, arrival: dict[str, Any], messages: int, client: int = 0, seed: int = 7
) -> list[float]:
    found: list[float] = arrivals.instants_ns(arrival, messages, random.Random(seed), client)
    return found


@pytest.mark.parametrize(
    ("arrival", "expected"),
    [
        ({"process": "closed"}, []),
        ({"process": "fixed", "rate_hz": 2.0}, [0, S / 2, S, 3 * S / 2]),
        (EVERY_TEN, [0, 600 * S, 1200 * S, 1800 * S]),
        (BURSTS | {"duration_ns": S}, [0, S / 2, 3600 * S, 7200 * S]),
    ],
)
def test_the_message_after_the_last_is_due_a_gap_later(
    arrivals: ModuleType, arrival: dict[str, Any], expected: list[float]
) -> None:
    assert instants(arrivals, arrival, 3) == expected


def test_random_gaps_end_with_a_mean_one(arrivals: ModuleType) -> None:
    found = instants(arrivals, {"process": "poisson", "rate_hz": 2.0}, 3)
    assert found[0] == 0 < found[1] < found[2]
    assert found[3] == found[2] + S / 2


def test_jitter_lies_within_half_of_itself_and_the_phase_stays(arrivals: ModuleType) -> None:
    exact = instants(arrivals, EVERY_TEN, 500)
    varied = instants(arrivals, EVERY_TEN | {"jitter_ns": 60 * S}, 500)
    off = [one - other for one, other in zip(varied, exact, strict=True)]
    assert -30 * S <= min(off) < -28 * S
    assert 28 * S < max(off) <= 30 * S
    assert varied[0] >= 0
    assert off[-1] == 0


def test_other_clients_begin_at_phases_of_their_own(arrivals: ModuleType) -> None:
    for arrival, every_ns in ((EVERY_TEN, 600 * S), (BURSTS, 3600 * S), ({"process": "fixed", "rate_hz": 1.0}, S)):
        exact = instants(arrivals, arrival, 30)
        later = instants(arrivals, arrival, 30, client=1)
        phase = later[0]
        assert 0 < phase < every_ns
        assert later == pytest.approx([at + phase for at in exact])


def test_only_instants_that_nobody_draws_are_known_to_all(arrivals: ModuleType) -> None:
    drawn = [{"process": "closed"}, {"process": "poisson", "rate_hz": 1.0}, EVERY_TEN | {"jitter_ns": 1}]
    known = [{"process": "fixed", "rate_hz": 1.0}, EVERY_TEN, BURSTS]
    assert [arrivals.is_drawn(each) for each in (*drawn, *known)] == [True] * 3 + [False] * 3


def test_sigterm_ends_the_last_gap(arrivals: ModuleType) -> None:
    async def stopped() -> None:
        asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGTERM)
        await arrivals.last_gap(time.monotonic_ns() + 3600 * S)

    asyncio.run(asyncio.wait_for(stopped(), 60))
