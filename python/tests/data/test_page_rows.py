"""What the browser's endpoint makes of DevTools events, as Chromium 156 sent them (`devtools/*.json`)."""

from __future__ import annotations

import importlib
import json
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from wirelab.errors import Where
from wirelab.runner.resource_rows import wrong_resources
from wirelab.schema import PageExchange
from wirelab.schema.exchange import Outcome
from wirelab.site import Site

CLIENTS = Path(str(resources.files("wirelab.data").joinpath("clients")))
RECORDED = Path(__file__).parent / "devtools"
ORIGIN = "https://server.test:8443"
MANIFEST = json.loads((RECORDED / "manifest.json").read_text())["resources"]
PHASES = ("connect_start_ns", "tcp_connect_ns", "handshake_ns", "request_start_ns", "first_response_byte_ns", "end_ns")
LATER = 10**18
Row = dict[str, Any]


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a script next to them were run, and without leaving compiled files there."""
    monkeypatch.syspath_prepend(str(CLIENTS))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


def recorded(name: str) -> list[Row]:
    text = (RECORDED / f"{name}.json").read_text().replace("ORIGIN", ORIGIN)
    found: list[Row] = json.loads(text)
    return found


def of_load(
    events: list[Row], protocol: str = "h2", given_up_ns: int | None = None, tls: str | None = None
) -> tuple[Row, dict[str, Row]]:
    """The row of a load, and those of its requests by path."""
    load = importlib.import_module("page_events").Load(ORIGIN)
    rows = importlib.import_module("page_rows")
    for event in events:
        load.take(event)
    exchange, found = rows.rows_of(load, rows.Page(MANIFEST, protocol, tls), 7, 1, given_up_ns)
    return exchange, {row["path"]: row for row in found}


def at(events: list[Row], method: str) -> int:
    """The instant of the first event of a kind."""
    return round(next(each for each in events if each["method"] == method)["params"]["timestamp"] * 1e9)


@pytest.mark.parametrize(
    ("name", "protocol"), [("h2", "h2"), ("http1", "http/1.1"), ("https1", "http/1.1"), ("h3", "h3"), ("preload", "h2")]
)
def test_a_load_lasts_from_the_navigations_start_to_the_load_event(name: str, protocol: str) -> None:
    events = recorded(name)
    exchange, rows = of_load(events, protocol)
    assert (exchange["outcome"], exchange["error"], exchange["index"]) == ("completed", None, 7)
    assert exchange["start_ns"] == at(events, "Network.requestWillBeSent")
    assert exchange["end_ns"] == at(events, "Page.loadEventFired")
    assert exchange["body_received_bytes"] == sum(each["body_bytes"] for each in MANIFEST)
    assert [rows[each["path"]]["body_received_bytes"] for each in MANIFEST] == [each["body_bytes"] for each in MANIFEST]
    assert exchange["first_response_byte_ns"] == rows["/index.html"]["first_response_byte_ns"]
    assert exchange["first_final_byte_ns"] == exchange["first_response_byte_ns"]
    assert [row["resource"] for row in rows.values()] == [0, 1, 2]


@pytest.mark.parametrize("name", ["h2", "http1", "https1", "h3", "preload", "early-hints", "not-found", "open"])
def test_the_events_of_each_request_are_in_order(name: str) -> None:
    _, rows = of_load(recorded(name), given_up_ns=LATER if name == "open" else None)
    for row in rows.values():
        known = [row[phase] for phase in ("discovered_ns", *PHASES) if row[phase] is not None]
        if row["connect_start_ns"] is None or row["connect_start_ns"] >= row["discovered_ns"]:
            assert known == sorted(known), row["path"]


def test_a_load_is_one_exchange() -> None:
    exchange, _ = of_load(recorded("h2"))
    read = PageExchange.model_validate(exchange)
    assert (read.outcome, read.status, read.client, read.connections) == (Outcome.COMPLETED, 200, 0, 1)
    # It takes no pushes.
    assert (read.pushed_bytes, read.wasted_pushed_bytes) == (None, None)


def test_over_http_1_each_connection_has_a_number_and_its_first_request_opened_it() -> None:
    exchange, rows = of_load(recorded("http1"), "http/1.1")
    assert exchange["connections"] == 2
    assert [(row["connection"], row["connection_reused"]) for row in rows.values()] == [
        (0, False), (0, True), (1, False),
    ]  # fmt: skip
    opened = rows["/b.png"]
    assert opened["tcp_connect_ns"] > opened["connect_start_ns"]
    assert opened["handshake_ns"] is None
    # It was there when the navigation came to it.
    assert rows["/index.html"]["connect_start_ns"] is None


def test_over_tls_the_handshake_comes_behind_the_connection() -> None:
    _, rows = of_load(recorded("https1"), "http/1.1", tls="TLS 1.3")
    opened = next(row for row in rows.values() if row["handshake_ns"] is not None)
    assert opened["connect_start_ns"] <= opened["tcp_connect_ns"] < opened["handshake_ns"] <= opened["request_start_ns"]


def test_over_quic_there_is_no_connection_but_the_handshake() -> None:
    events = recorded("h3")
    exchange, rows = of_load(events, "h3")
    assert exchange["connections"] == 1
    # Chromium says of one that it had begun ahead that it took no time.
    assert [rows["/index.html"][phase] for phase in PHASES[:3]] == [None, None, None]
    document = next(each for each in events if each["method"] == "Network.responseReceived")
    timing = document["params"]["response"]["timing"]
    timing.update(connectStart=0.0, sslStart=0.0, connectEnd=2.5, sslEnd=2.5)
    _, rows = of_load(events, "h3")
    start_ns = round(timing["requestTime"] * 1e9)
    assert [rows["/index.html"][phase] for phase in PHASES[:3]] == [start_ns, None, start_ns + 2_500_000]


def test_priorities_are_those_of_the_field_as_sent() -> None:
    _, rows = of_load(recorded("h2"))
    reported = {path: (row["urgency"], row["incremental"]) for path, row in rows.items()}
    assert reported["/index.html"] == (0, True)
    assert reported["/a.css"] == (0, False)
    _, rows = of_load(recorded("http1"), "http/1.1")
    assert {row["urgency"] for row in rows.values()} == {None}


@pytest.mark.parametrize(
    ("text", "meaning"),
    [(None, (None, None)), ("i", (3, True)), ("u=5", (5, False)), ("u=1, i", (1, True)), ("i=?0, u=2", (2, False))],
)
def test_missing_parts_of_a_priority_have_their_default(
    text: str | None, meaning: tuple[int | None, bool | None]
) -> None:
    assert importlib.import_module("page_rows").priority_of(text) == meaning


def test_a_resource_named_in_a_link_field_is_discovered_by_it() -> None:
    _, rows = of_load(recorded("preload"))
    assert [row["found_by"] for row in rows.values()] == ["navigation", "hint", "hint"]
    _, rows = of_load(recorded("h2"))
    assert [row["found_by"] for row in rows.values()] == ["navigation", "body", "body"]


def test_a_resource_in_early_hints_is_discovered_with_them_and_has_no_phases() -> None:
    exchange, rows = of_load(recorded("early-hints"))
    assert exchange["outcome"] == "completed"
    assert exchange["connections"] == 1
    for path in ("/a.css", "/b.png"):
        assert rows[path]["found_by"] == "hint"
        assert rows[path]["discovered_ns"] == rows["/index.html"]["first_response_byte_ns"]
        assert [rows[path][phase] for phase in PHASES[:-1]] == [None] * 5
        assert rows[path]["connection"] is None


def test_after_early_hints_the_final_response_begins_later_than_the_first_byte() -> None:
    events = recorded("early-hints")
    [hinted] = [each for each in events if each["method"] == "Network.responseReceivedEarlyHints"]
    exchange, _ = of_load(events)
    assert exchange["first_final_byte_ns"] - exchange["first_response_byte_ns"] == 226_000
    # Events of two processes come in no order.
    others = [each for each in events if each is not hinted]
    assert of_load([hinted, *others])[0] == of_load([*others, hinted])[0] == exchange


def test_a_resource_that_does_not_block_the_load_event_still_ends_the_load() -> None:
    events = recorded("h2")
    image = sent(events, "/b.png")
    ends = [each for each in events if each["params"].get("requestId") == image]
    [end] = [each for each in ends if each["method"] == "Network.loadingFinished"]
    end["params"]["timestamp"] = (at(events, "Page.loadEventFired") + 5 * 10**8) / 1e9
    load = importlib.import_module("page_events").Load(ORIGIN)
    page = importlib.import_module("page_rows").Page(MANIFEST, "h2")
    for event in events:
        if event is not end:
            load.take(event)
    assert load.loaded_ns is not None
    assert not page.has_ended(load)
    load.take(end)
    assert page.has_ended(load)
    exchange, rows = of_load(events)
    assert exchange["outcome"] == "completed"
    assert exchange["end_ns"] == rows["/b.png"]["end_ns"] == pytest.approx(at(events, "Page.loadEventFired") + 5e8)


def test_a_second_request_for_a_resource_is_marked_as_unused(tmp_path: Path) -> None:
    events = recorded("h2")
    css = [each for each in events if each["params"].get("requestId") == sent(events, "/a.css")]
    again = json.loads(json.dumps(css).replace(sent(events, "/a.css"), "again"))
    load = importlib.import_module("page_events").Load(ORIGIN)
    for event in [*events[:-1], *again, events[-1]]:
        load.take(event)
    rows = importlib.import_module("page_rows")
    exchange, found = rows.rows_of(load, rows.Page(MANIFEST, "h2"), 0, 1, None)
    assert exchange["outcome"] == "completed"
    assert sorted((row["path"], row["resource"] is None) for row in found) == [
        ("/a.css", False), ("/a.css", True), ("/b.png", False), ("/index.html", False),
    ]  # fmt: skip
    (tmp_path / "exchanges.jsonl").write_text(json.dumps(exchange) + "\n")
    (tmp_path / "resources.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    manifest = RECORDED / "manifest.json"
    assert wrong_resources(tmp_path, Site.from_json(manifest.read_bytes(), Where(str(manifest)))) is None


def test_a_timeout_names_open_requests_and_a_failure_failed_ones() -> None:
    exchange, rows = of_load(recorded("open"), "http/1.1", LATER)
    assert (exchange["outcome"], exchange["error"], exchange["end_ns"]) == ("timed-out", "open: /b.png", LATER)
    assert (rows["/b.png"]["outcome"], rows["/b.png"]["body_received_bytes"]) == ("timed-out", 10)
    asked = [each for each in recorded("h2") if each["params"].get("request", {}).get("url") != f"{ORIGIN}/b.png"]
    exchange, _ = of_load(asked[:-1], given_up_ns=LATER)
    assert (exchange["outcome"], exchange["error"]) == ("timed-out", "not asked for: /b.png")
    exchange, rows = of_load(recorded("not-found"))
    assert (exchange["outcome"], exchange["error"]) == ("failed", "/b.png: status 404")
    assert rows["/b.png"]["status"] == 404


def test_at_most_five_paths_are_named() -> None:
    named = importlib.import_module("page_rows").named
    assert named(["/a", "/b"]) == "/a, /b"
    assert named([f"/{number}" for number in range(7)]) == "/0, /1, /2, /3, /4 and 2 more"


def test_a_load_over_another_protocol_fails_with_the_reason() -> None:
    exchange, rows = of_load(recorded("http1"), "h2")
    assert (exchange["outcome"], exchange["error"]) == ("failed", "/index.html came over http/1.1, not h2")
    assert rows["/index.html"]["outcome"] == "failed"
    exchange, _ = of_load(recorded("h2"), "h2", tls="TLS 1.2")
    assert exchange["error"] == "/index.html came over TLS 1.3, not TLS 1.2"


def test_a_missing_or_truncated_resource_fails_the_load() -> None:
    events = [each for each in recorded("h2") if each["params"].get("request", {}).get("url") != f"{ORIGIN}/b.png"]
    exchange, _ = of_load(events)
    assert (exchange["outcome"], exchange["error"]) == ("failed", "not asked for: /b.png")
    events = recorded("h2")
    data = next(each for each in events if each["params"].get("dataLength") == 75)
    data["params"]["dataLength"] = 70
    exchange, _ = of_load(events)
    assert (exchange["outcome"], exchange["error"]) == ("failed", "/b.png: 70 of 75 bytes")


def test_a_request_outside_the_manifest_is_marked_and_does_not_fail() -> None:
    events = recorded("h2")
    css = [each for each in events if each["params"].get("requestId") == sent(events, "/a.css")]
    another = json.loads(json.dumps(css).replace(sent(events, "/a.css"), "other").replace("/a.css", "/other.css"))
    exchange, rows = of_load([*events[:-1], *another, events[-1]])
    assert exchange["outcome"] == "completed"
    assert rows["/other.css"]["resource"] is None
    assert rows["/a.css"]["resource"] == 1


def test_a_request_blocked_by_the_script_is_not_counted() -> None:
    icon = {
        "requestId": "9", "loaderId": "l", "timestamp": 1.0, "type": "Other", "initiator": {"type": "other"},
        "request": {"url": f"{ORIGIN}/favicon.ico"},
    }  # fmt: skip
    failed = {"requestId": "9", "timestamp": 2.0, "errorText": "net::ERR_BLOCKED", "blockedReason": "inspector"}
    events = [
        *recorded("h2"),
        {"method": "Network.requestWillBeSent", "params": icon},
        {"method": "Network.loadingFailed", "params": failed},
    ]
    _, rows = of_load(events)
    assert list(rows) == ["/index.html", "/a.css", "/b.png"]


def test_a_compressed_body_counts_with_its_size_on_the_wire() -> None:
    events = recorded("h2")
    answered = [each for each in events if each["method"] == "Network.responseReceived"]
    fields = next(each for each in answered if each["params"]["response"]["url"].endswith("a.css"))
    fields["params"]["response"]["headers"] = {"Content-Encoding": "br", "Content-Length": "9"}
    exchange, rows = of_load(events)
    assert (exchange["outcome"], rows["/a.css"]["body_received_bytes"]) == ("completed", 9)


def test_a_page_that_crashes_fails() -> None:
    exchange, _ = of_load([recorded("h2")[0], {"method": "Inspector.targetCrashed", "params": {}}])
    assert (exchange["outcome"], exchange["error"]) == ("failed", "the page crashed")


def sent(events: list[Row], path: str) -> str:
    """The name of the request for a path."""
    asked = [each["params"] for each in events if each["method"] == "Network.requestWillBeSent"]
    return str(next(each for each in asked if each["request"]["url"].endswith(path))["requestId"])
