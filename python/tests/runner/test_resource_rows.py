"""Rows of the resources of a page's loads, of a client that is not ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wirelab.runner.resource_rows import wrong_resources
from wirelab.site.synthetic import images

SITE = images(1, 500).site
DOCUMENT, IMAGE = SITE.resources
LOAD = {"index": 0, "start_ns": 100, "end_ns": 190, "outcome": "completed"}
ROWS: tuple[dict[str, Any], ...] = (
    {
        "exchange": 0, "resource": 0, "path": "/index.html", "found_by": "navigation", "discovered_ns": 100,
        "connection": 0, "connect_start_ns": 101, "tcp_connect_ns": 110, "request_start_ns": 111,
        "first_response_byte_ns": 120, "end_ns": 130, "outcome": "completed", "status": 200,
        "body_received_bytes": DOCUMENT.body_bytes,
    },
    {
        "exchange": 0, "resource": 1, "path": "/1.png", "found_by": "body", "discovered_ns": 125, "connection": 0,
        "connection_reused": True, "request_start_ns": 131, "first_response_byte_ns": 150, "end_ns": 190,
        "outcome": "completed", "status": 200, "body_received_bytes": 500,
    },
)  # fmt: skip


def reported(folder: Path, *rows: dict[str, Any], load: dict[str, Any] | None = None) -> str | None:
    output = folder / "client"
    output.mkdir()
    (output / "exchanges.jsonl").write_text(json.dumps(load or LOAD) + "\n")
    (output / "resources.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return wrong_resources(output, SITE)


def test_rows_that_follow_the_contract_are_accepted(tmp_path: Path) -> None:
    stranger = {**ROWS[1], "resource": None, "path": "/favicon.ico", "body_received_bytes": 3, "end_ns": 195}
    retried = {**ROWS[1], "outcome": "failed", "error": "reset", "body_received_bytes": 7}
    wasted = {**ROWS[1], "found_by": "push", "pushed": True, "request_start_ns": None}
    assert reported(tmp_path, ROWS[0], retried, ROWS[1], wasted, stranger) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"exchange": 1}, "there is no load 1 of client 0"),
        ({"client": 1}, "there is no load 0 of client 1"),
        ({"exchange": None}, "no exchange"),
        ({"found_by": None}, "no found_by"),
        ({"found_by": "guess"}, "found_by: Input should be 'navigation', 'body', 'hint' or 'push'"),
        ({"resource": 2}, "there is no resource 2: the manifest has 2"),
        ({"path": "/2.png"}, "resource 1 is /1.png, not /2.png"),
        ({"body_received_bytes": 499}, "/1.png has 500 bytes, not 499"),
        ({"end_ns": 140}, "end_ns is 10 ns before first_response_byte_ns"),
        ({"request_start_ns": 124}, "request_start_ns is 1 ns before discovered_ns"),
        ({"connect_start_ns": 126, "handshake_ns": 121}, "handshake_ns is 5 ns before connect_start_ns"),
        ({"discovered_ns": 99}, "discovered_ns is 1 ns before the load's start"),
        ({"end_ns": 191}, "end_ns is 1 ns after the load's end"),
    ],
)
def test_a_row_that_breaks_the_contract_is_named_with_its_value(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    why = reported(tmp_path, ROWS[0], {**ROWS[1], **change})
    assert why is not None
    assert why.startswith("client/resources.jsonl:2: ")
    assert words in why


def test_a_resource_is_complete_once(tmp_path: Path) -> None:
    why = reported(tmp_path, *ROWS, ROWS[1])
    assert why == "client/resources.jsonl:3: /1.png of load 0 is a duplicate of client/resources.jsonl:2"


def test_a_complete_load_has_every_resource_of_the_page(tmp_path: Path) -> None:
    why = reported(tmp_path, ROWS[0])
    assert why == "load 0 is completed, and client/resources has no completed row of /1.png"


def test_a_timed_out_load_may_lack_resources(tmp_path: Path) -> None:
    assert reported(tmp_path, ROWS[0], load={**LOAD, "outcome": "timed-out"}) is None
