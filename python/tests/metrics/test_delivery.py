"""Messages from publisher to subscriber, and what a player makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.metrics.records import MS, Records, exchange
from wirelab.metrics.dataset import Dataset, build

STREAM = {"kind": "stream", "message_bytes": 30, "playout_delay_ns": 10 * MS}
NOTIFY = {"kind": "pubsub", "message_bytes": 30}


def got(index: int, delay: float | None, **given: Any) -> dict[str, Any]:
    """A message that came so many ms after it was published; never, if there is no delay."""
    absent = {"tcp_connect_ns": None, "handshake_ns": None, "request_start_ns": None, "first_body_sent_ns": None}
    absent |= {"first_response_byte_ns": None, "first_final_byte_ns": None}
    if delay is None:
        return exchange(index, **absent, end_ns=1000, **({"copies": 0, "outcome": "timed-out"} | given))
    return exchange(index, **absent, end_ns=delay, **({"copies": 1} | given))


def measured(folder: Path, workload: dict[str, Any], rows: list[dict[str, Any]], monkeypatch: Any) -> Dataset:
    records = Records(folder / "campaign", {"s": {"workload": workload}})
    records.trial("s", rows)
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    return build(records.folder)


def test_delivery_delay_is_from_when_a_message_was_due_to_its_arrival(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = got(0, 7)
    late["intended_start_ns"] -= 20 * MS
    dataset = measured(tmp_path, NOTIFY, [late, got(1, None)], monkeypatch)
    assert dataset.exchanges["delivery_delay_ns"].to_list() == [27 * MS, None]


def test_delivery_delay_is_from_publication_to_arrival(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = measured(tmp_path, NOTIFY, [got(0, 7), got(1, None)], monkeypatch)
    assert dataset.exchanges["delivery_delay_ns"].to_list() == [7 * MS, None]
    assert dataset.exchanges["playout_lateness_ns"].to_list() == [None, None]


def test_other_workloads_have_no_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = measured(tmp_path, {"kind": "request-response", "upload_bytes": 30}, [exchange()], monkeypatch)
    assert dataset.exchanges["delivery_delay_ns"].to_list() == [None]
    assert dataset.trials.select("lost_messages", "duplicate_messages", "stalls").row(0) == (None, None, None)


def test_lost_and_duplicate_messages_are_counted_over_all_subscribers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [got(0, 1, copies=3), got(1, None), got(0, 1, client=1), got(1, 2, client=1, copies=2)]
    dataset = measured(tmp_path, NOTIFY, rows, monkeypatch)
    assert dataset.trials.select("lost_messages", "duplicate_messages", "stalls").row(0) == (1, 3, None)


def test_a_message_is_late_beyond_the_first_ones_delay_plus_the_buffer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first takes 5 ms and the buffer is 10 ms, so each is played 15 ms after it was published.
    dataset = measured(tmp_path, STREAM, [got(0, 5), got(1, 15), got(2, 19), got(3, 1)], monkeypatch)
    assert dataset.exchanges["playout_lateness_ns"].to_list() == [0, 0, 4 * MS, 0]
    assert dataset.trials["stalls"].to_list() == [1]


def test_a_run_of_late_and_lost_messages_is_one_stall_of_one_player(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = [got(0, 5), got(1, 90), got(2, None), got(3, 5), got(4, None)]
    second = [
        got(0, 100, client=1),
        got(1, 105, client=1),
        got(2, 50, client=1),
        got(3, 120, client=1),
    ]
    # Rows come in the order in which messages ended, for any receiver.
    rows = [row for pair in zip(first, [*second, got(4, 100, client=1)], strict=True) for row in pair]
    dataset = measured(tmp_path, STREAM, rows, monkeypatch)
    assert dataset.trials["stalls"].to_list() == [3]


def test_a_player_without_any_message_has_stalled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [got(index, None, client=client, outcome="failed") for index in range(3) for client in range(2)]
    dataset = measured(tmp_path, STREAM, rows, monkeypatch)
    assert dataset.exchanges["playout_lateness_ns"].to_list() == [None] * 6
    assert dataset.trials["stalls"].to_list() == [2]
