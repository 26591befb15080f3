"""What nghttp's endpoint makes of its HTTP Archives, which have the shape that nghttp 1.52 gives them."""

from __future__ import annotations

import importlib
import json
import sys
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

CLIENTS = Path(str(resources.files("wirelab.data").joinpath("clients")))
MS = 1_000_000
START_NS = 1_000 * MS
OFFSET_NS = START_NS - 5_000 * MS
"""From the archive's clock to the rows'; the program was started when the former was at 5 s."""
PAGE = [{"path": "/index.html", "body_bytes": 100}, {"path": "/1.jpg", "body_bytes": 2_000}]


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the script next to others were run, and without leaving compiled files there."""
    monkeypatch.syspath_prepend(str(CLIENTS))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


def entry(path: str, at_ms: int, took_ms: float, size: int, **more: Any) -> dict[str, Any]:
    date = datetime.fromtimestamp((5_000 + at_ms) / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    timings = {"dns": 0.0, "connect": 0.0, "blocked": 0.0, "send": 0.0, "wait": 1.0, "receive": took_ms - 1.0}
    return {
        "startedDateTime": date, "time": took_ms, "request": {"url": f"http://127.0.0.1:80{path}"},
        "response": {"status": 200, "content": {"size": size}}, "timings": timings, **more,
    }  # fmt: skip


DOCUMENT = entry(
    "/index.html", 2, 5.5, 100, timings={"dns": 0.25, "connect": 0.5, "wait": 1.0, "receive": 2.0, "send": 0.0}
)
IMAGE = entry("/1.jpg", 8, 20.125, 2_000)


def reported(*entries: dict[str, Any], **more: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    script = importlib.import_module("nghttp_page")
    words = more.pop("words", json.dumps({"log": {"entries": entries}}))
    load = script.Load(START_NS, START_NS + 40 * MS, words, more.pop("why", None))
    load.given_up = more.pop("given_up", False)
    row, rows = script.rows_of(load, 3, PAGE, OFFSET_NS)
    return row, rows


def test_a_load_begins_with_its_process_and_ends_with_the_last_byte_of_the_page() -> None:
    row, rows = reported(DOCUMENT, IMAGE)
    assert (row["index"], row["outcome"], row["error"], row["connections"]) == (3, "completed", None, 1)
    assert (row["start_ns"], row["end_ns"]) == (START_NS, START_NS + 29_125_000)
    assert row["body_received_bytes"] == 2_100
    assert [each["resource"] for each in rows] == [0, 1]


def test_times_of_a_request_count_from_its_date_and_the_connection_is_the_first_ones() -> None:
    _, [document, image] = reported(IMAGE, DOCUMENT)
    assert [document["path"], image["path"]] == ["/index.html", "/1.jpg"]
    at = {key: (document[key] - START_NS) / MS for key in document if key.endswith("_ns") and document[key] is not None}
    assert at == {
        "discovered_ns": 2, "connect_start_ns": 2, "tcp_connect_ns": 2.75, "request_start_ns": 4.5,
        "first_response_byte_ns": 5.5, "end_ns": 7.5,
    }  # fmt: skip
    assert (image["connect_start_ns"], image["tcp_connect_ns"], image["connection_reused"]) == (None, None, True)


def test_over_tls_the_end_of_the_connection_is_that_of_the_handshake() -> None:
    secure = {**DOCUMENT, "request": {"url": "https://127.0.0.1/index.html"}}
    _, [document, _] = reported(secure, IMAGE)
    assert (document["tcp_connect_ns"], document["handshake_ns"]) == (None, START_NS + 2_750_000)


def test_a_date_cut_to_the_millisecond_lies_not_before_the_process() -> None:
    early = {**DOCUMENT, "startedDateTime": entry("/", -1, 1, 1)["startedDateTime"]}
    _, [document, _] = reported(early, IMAGE)
    assert document["discovered_ns"] == START_NS


def test_a_load_ends_as_late_as_its_cut_dates_allow_and_not_after_the_process() -> None:
    row, _ = reported(DOCUMENT, {**IMAGE, "time": 31.5})
    assert row["end_ns"] == START_NS + 40 * MS


@pytest.mark.parametrize(
    ("entries", "error"),
    [
        ((DOCUMENT,), "not asked for: /1.jpg"),
        ((DOCUMENT, entry("/1.jpg", 8, 2, 1_999)), "/1.jpg: 1999 of 2000 bytes"),
        ((DOCUMENT, {**IMAGE, "response": {"status": 404, "content": {"size": 9}}}), "/1.jpg: status 404"),
    ],
)
def test_a_load_that_lacks_a_resource_fails_by_its_path(entries: tuple[dict[str, Any], ...], error: str) -> None:
    row, _ = reported(*entries)
    assert (row["outcome"], row["error"], row["end_ns"]) == ("failed", error, START_NS + 40 * MS)


def test_a_resource_that_was_asked_for_twice_counts_once() -> None:
    row, rows = reported(DOCUMENT, IMAGE, entry("/1.jpg", 9, 3, 2_000))
    assert row["outcome"] == "completed"
    assert [each["resource"] for each in rows] == [0, 1, None]


def test_a_load_that_timed_out_or_wrote_no_archive_has_no_request_rows() -> None:
    assert reported(given_up=True)[0]["outcome"] == "timed-out"
    for more, words in (({"why": "nghttp ended with 1: no route"}, "no route"), ({"words": "{}"}, "no HTTP Archive")):
        row, rows = reported(**more)
        assert (row["outcome"], rows) == ("failed", [])
        assert words in row["error"]
