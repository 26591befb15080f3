"""The growth of delays in one trial, on messages with known instants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from wirelab.metrics.exchange_rows import EXCHANGE_TYPES
from wirelab.metrics.offered import Growth, growth

MS = 10**6
ORIGIN = 10**12


def message(index: int, due_ms: float, start_ms: float, end_ms: float, **given: Any) -> dict[str, Any]:
    """A message by its instants in ms."""
    due, start, end = (ORIGIN + round(at * MS) for at in (due_ms, start_ms, end_ms))
    return {
        "index": index, "client": 0, "intended_start_ns": due, "start_ns": start, "end_ns": end, "place_ns": start,
        "outcome": "completed", **given,
    }  # fmt: skip


def grown(rows: Sequence[dict[str, Any]], *, subscribers: bool = False) -> Growth | None:
    return growth(pl.DataFrame(list(rows), schema=EXCHANGE_TYPES), subscribers=subscribers)


def one_place(count: int, every_ms: float, takes_ms: float, client: int = 0) -> list[dict[str, Any]]:
    """Messages every so many ms, one at a time, each of which takes so many ms."""
    rows: list[dict[str, Any]] = []
    free = 0.0
    for index in range(count):
        due = index * every_ms
        start = max(due, free)
        rows.append(message(index, due, start, start + takes_ms, place_ns=ORIGIN + round(free * MS), client=client))
        free = start + takes_ms
    return rows


def test_the_slope_is_the_offered_rate_over_the_served_less_1() -> None:
    found = grown(one_place(50, 20, 102))
    assert found is not None
    assert found.offered_hz == pytest.approx(50)
    assert found.offered_hz / (1 + found.slope) == pytest.approx(1 / 0.102)
    assert (found.low, found.high) == (pytest.approx(found.slope), pytest.approx(found.slope))
    assert (found.messages, found.taken_s) == (50, pytest.approx(0.102))


def test_growth_with_all_places_taken_is_in_the_wait() -> None:
    found = grown(one_place(50, 20, 102))
    assert found is not None
    assert found.places == pytest.approx(found.waiting) == pytest.approx(found.slope)
    assert found.inside == pytest.approx(0)


def test_a_late_client_has_a_free_place() -> None:
    rows = [message(i, 20 * i, 100 * i, 100 * i + 10, place_ns=ORIGIN) for i in range(20)]
    found = grown(rows)
    assert found is not None
    assert (found.waiting, found.places) == (pytest.approx(4), 0)


def test_a_client_that_does_not_say_when_a_place_was_free_has_no_growth_of_places() -> None:
    found = grown([{**row, "place_ns": None} for row in one_place(20, 20, 102)])
    assert found is not None
    assert (found.places, found.waiting) == (None, pytest.approx(4.1))


@pytest.mark.parametrize("takes_ms", [5, 2_000, 30_000])
def test_a_long_delay_that_does_not_grow_has_no_slope(takes_ms: float) -> None:
    found = grown([message(i, 200 * i, 200 * i, 200 * i + takes_ms) for i in range(20)])
    assert found is not None
    assert (found.slope, found.inside, found.offered_hz) == (0, pytest.approx(0), pytest.approx(5))


def test_some_retransmissions_do_not_make_a_slope() -> None:
    noise = np.random.default_rng(1)
    rows = [message(i, 20 * i, 20 * i, 20 * i + 40 + 1000 * (noise.random() < 0.1)) for i in range(100)]
    found = grown(rows)
    assert found is not None
    assert found.low <= 0 <= found.high
    assert abs(found.slope) < 0.01


def test_of_a_client_what_comes_after_its_first_time_out_is_left_out() -> None:
    rows = [message(i, 20 * i, 20 * i, 20 * i + min(40 + 80 * i, 1_500)) for i in range(60)]
    late = [{**row, "outcome": "timed-out"} if i > 18 else row for i, row in enumerate(rows)]
    found = grown(late)
    assert found is not None
    assert (found.messages, found.slope) == (19, pytest.approx(4))
    assert found.offered_hz == pytest.approx(50), "of all messages"


def test_time_outs_count_by_when_they_ended_if_they_come_early() -> None:
    rows = [message(i, 200 * i, 200 * i, 200 * i + 1_000, outcome="timed-out") for i in range(20)]
    found = grown(rows)
    assert found is not None
    assert (found.messages, found.slope) == (20, 0)


def test_few_messages_say_nothing() -> None:
    assert grown(one_place(9, 20, 102)) is None
    failed = [{**row, "outcome": "failed"} for row in one_place(30, 20, 102)]
    assert grown(failed) is None
    unknown = [{**row, "intended_start_ns": None} for row in one_place(30, 20, 102)]
    assert grown(unknown) is None
    assert grown([]) is None


def test_only_messages_of_one_client_are_set_against_each_other() -> None:
    rows = [*one_place(10, 20, 102), *one_place(10, 20, 10, client=1)]
    for row in rows[10:]:
        for key in ("intended_start_ns", "start_ns", "end_ns", "place_ns"):
            row[key] += 5_000 * MS
    found = grown(rows)
    assert found is not None
    # Half of the pairs grow by 4.1, and half do not grow.
    assert (found.slope, found.low, found.high) == (pytest.approx(2.05), 0, pytest.approx(4.1))
    assert found.offered_hz == pytest.approx(100)


def test_messages_to_several_subscribers_are_offered_once() -> None:
    rows = [message(i, 20 * i, 20 * i, 20 * i + 5, client=client, copies=1) for client in range(3) for i in range(20)]
    found = grown(rows, subscribers=True)
    assert found is not None
    assert found.offered_hz == pytest.approx(50)


def test_a_long_trial_is_thinned_out() -> None:
    found = grown(one_place(20_000, 20, 102))
    assert found is not None
    assert (found.messages, found.slope) == (20_000, pytest.approx(4.1))
