"""Definitions of delay, on exchanges with known instants."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tests.metrics.records import MS, exchange
from wirelab.metrics import phases
from wirelab.metrics.exchange_rows import EXCHANGE_TYPES
from wirelab.metrics.registry import EXCHANGE_METRICS


def value(metric: str, *, protocol: str = "h2", upload: int = 30, expect: bool = False, **given: Any) -> float | None:
    """The metric of one exchange, in ms."""
    row = {**exchange(**given), "protocol": protocol, "upload_bytes": upload, "expect_continue": expect}
    schema = {**EXCHANGE_TYPES, "protocol": pl.String, "upload_bytes": pl.Int64, "expect_continue": pl.Boolean}
    expression = next(m.value for m in EXCHANGE_METRICS if m.name == metric)
    found = pl.DataFrame([row], schema=schema).select(value=expression)["value"].to_list()[0]
    return None if found is None else found / MS


def test_end_to_end_delay_ends_with_the_last_byte_and_excludes_the_name_lookup() -> None:
    assert value("end-to-end-delay") == 63
    assert value("end-to-end-delay", name_lookup_ns=5) == 58


def test_response_time_ends_with_the_first_byte_of_the_final_response() -> None:
    assert value("response-time", first_response_byte_ns=50, first_final_byte_ns=62) == 62


@pytest.mark.parametrize("outcome", ["failed", "timed-out", "unsupported"])
@pytest.mark.parametrize("metric", ["end-to-end-delay", "response-time", "response-time-curl", "phase-wait", "goodput"])
def test_an_incomplete_exchange_has_no_delay(metric: str, outcome: str) -> None:
    assert value(metric, outcome=outcome) is None


@pytest.mark.parametrize(
    ("protocol", "upload", "expect", "ms"),
    [
        ("http1", 30, False, 55),
        ("https1", 65_536, False, 55),
        ("https1", 65_537, False, 41),
        ("http1", 30, True, 41),
        ("h2", 30, False, 41),
        ("h2c", 30, False, 41),
        ("h3", 30, False, 41),
        ("h2", 0, False, 55),
        ("http1", 0, False, 55),
        ("raw-tcp", 30, False, None),
    ],
)
def test_response_time_as_curl_has_it_depends_on_the_protocol(
    protocol: str, upload: int, expect: bool, ms: int | None
) -> None:
    instants = {"first_body_sent_ns": 41, "first_response_byte_ns": 55, "first_final_byte_ns": 62}
    assert value("response-time-curl", protocol=protocol, upload=upload, expect=expect, **instants) == ms


def test_the_figure_that_curl_prints_is_used_unchanged() -> None:
    assert value("response-time-curl", protocol="http1", curl_starttransfer_ns=33 * MS, name_lookup_ns=3) == 30


@pytest.mark.parametrize("metric", ["end-to-end-delay", "response-time"])
def test_an_open_loop_counts_from_the_intended_start(metric: str) -> None:
    closed = value(metric)
    assert closed is not None
    start = exchange()["start_ns"]
    assert value(metric, intended_start_ns=start - 500 * MS) == closed + 500
    assert value(metric, intended_start_ns=start - 500 * MS, name_lookup_ns=5) == closed + 495
    assert value(metric, intended_start_ns=start + MS) == closed, "a client that is early has not waited"
    assert value("response-time-curl", protocol="http1", intended_start_ns=start - 500 * MS) == 62, "as curl counts"


def test_a_client_that_does_not_say_when_it_meant_to_start_is_taken_by_its_start() -> None:
    row = {**exchange(), "protocol": "h2", "upload_bytes": 30, "expect_continue": False, "intended_start_ns": None}
    schema = {**EXCHANGE_TYPES, "protocol": pl.String, "upload_bytes": pl.Int64, "expect_continue": pl.Boolean}
    expression = next(m.value for m in EXCHANGE_METRICS if m.name == "end-to-end-delay")
    assert pl.DataFrame([row], schema=schema).select(value=expression)["value"].to_list() == [63 * MS]


def test_start_delay_counts_from_the_intended_start_for_any_outcome() -> None:
    intended = exchange()["start_ns"] - 7 * MS
    assert value("start-delay", intended_start_ns=intended, outcome="timed-out") == 7


PHASES = [metric.name for metric in phases.METRICS]


def test_phases_that_happened_add_up_to_the_time_from_start_to_end() -> None:
    for given in (
        {"name_lookup_ns": 4},
        {"tcp_connect_ns": None},
        {"handshake_ns": None},
        {"tcp_connect_ns": None, "handshake_ns": None},
    ):
        assert sum(value(phase, **given) or 0 for phase in PHASES) == 63


def test_the_wait_for_the_start_is_a_phase_so_that_they_add_up_to_the_delay() -> None:
    intended = exchange()["start_ns"] - 500 * MS
    assert value("phase-wait-for-start", intended_start_ns=intended) == 500
    delay = value("end-to-end-delay", intended_start_ns=intended)
    assert sum(value(phase, intended_start_ns=intended) or 0 for phase in PHASES) == delay == 563
    assert value("phase-wait-for-start") is None


def test_a_phase_that_did_not_happen_is_null_not_zero() -> None:
    assert value("phase-connect", tcp_connect_ns=None) is None
    assert value("phase-handshake", handshake_ns=None) is None
    assert value("phase-name-lookup") is None


def test_goodput_is_body_bits_over_the_end_to_end_delay() -> None:
    bits_per_second = value("goodput", body_sent_bytes=1000, body_received_bytes=250, end_ns=100)
    assert bits_per_second is not None
    assert bits_per_second * MS == pytest.approx(100_000)
