"""Page loads by nghttp, on loopback."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.interop.conftest import REQUIRED
from tests.interop.endpoints import TIMEOUT_S
from tests.interop.page_peers import NAME, Peers, defaults, rows

from wirelab.experiment.programs.implementations import ClientEntry
from wirelab.runner.implementations import load, missing
from wirelab.runner.resource_rows import wrong_resources
from wirelab.site import Page, fischer2021, h2window2017
from wirelab.site.synthetic import images


@pytest.fixture(params=[h2window2017.site, h2window2017.equal, fischer2021.page], ids=["site", "equal", "fischer2021"])
def peers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Peers]:
    peers = Peers(tmp_path, request.param(), tmp_path)
    yield peers
    peers.kill()


def load_by_nghttp(peers: Peers, port: int, timeout_s: float = TIMEOUT_S, **more: Any) -> Path:
    """Two loads as the entry says; the folder of the rows."""
    program = load(None)["nghttp"]
    entry = program.roles.client
    assert isinstance(entry, ClientEntry)
    folder = peers.folder / "client"
    folder.mkdir()
    settings = defaults("h2c") | more
    parameters = peers.parameters("client", "h2c", port, folder, settings, loads=2, timeout_s=timeout_s)
    places = {"host": "127.0.0.1", "port": port, "name": NAME, "parameters": str(parameters)}
    variables = {**entry.variables("h2c", settings, peers.loads(2)), **places}
    command = program.command([*entry.loading, *entry.arguments], variables)
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def require(*names: str) -> None:
    """Skip without these programs, unless everything is required."""
    absent = [why for name in names if (why := missing(load(None)[name])) is not None]
    if absent:
        (pytest.fail if REQUIRED else pytest.skip)("; ".join(absent))


@pytest.mark.parametrize("server", ["nghttpd", "nginx"])
def test_nghttp_requests_every_object_of_a_page_once_with_its_times(peers: Peers, server: str) -> None:
    require("nghttp", server)
    with peers.server(server, "h2c") as port:
        folder = load_by_nghttp(peers, port)
    loads, requests = rows(folder / "exchanges.jsonl"), rows(folder / "resources.jsonl")
    assert [(row["outcome"], row["error"]) for row in loads] == [("completed", None)] * 2
    assert wrong_resources(folder, peers.page.site) is None
    for each in loads:
        found = [row for row in requests if row["exchange"] == each["index"]]
        assert sorted(row["resource"] for row in found) == list(range(len(peers.page.site.resources)))
        assert each["body_received_bytes"] == peers.page.site.body_bytes
        assert each["start_ns"] < each["tcp_connect_ns"] <= each["request_start_ns"] < each["end_ns"]
    assert loads[0]["end_ns"] < loads[1]["start_ns"]


def test_a_load_by_nghttp_that_takes_too_long_times_out(tmp_path: Path) -> None:
    require("nghttp", "nghttpd")
    peers = Peers(tmp_path, images(1, 60_000_000), tmp_path)
    try:
        with peers.server("nghttpd", "h2c") as port:
            folder = load_by_nghttp(peers, port, timeout_s=0.02)
    finally:
        peers.kill()
    assert {row["outcome"] for row in rows(folder / "exchanges.jsonl")} == {"timed-out"}


def test_a_page_that_nghttp_loads_incompletely_fails_with_the_missing_path(tmp_path: Path) -> None:
    require("nghttp", "nghttpd")
    peers = Peers(tmp_path, _with_a_font(), tmp_path)
    try:
        with peers.server("nghttpd", "h2c") as port:
            folder = load_by_nghttp(peers, port)
    finally:
        peers.kill()
    loads = rows(folder / "exchanges.jsonl")
    assert {(row["outcome"], row["error"]) for row in loads} == {("failed", "not asked for: /font.woff2")}
    assert wrong_resources(folder, peers.page.site) is None


def _with_a_font() -> Page:
    from wirelab.site.discovery import discover_in

    return discover_in(
        {
            "/index.html": b'<!DOCTYPE html><html><head><link rel="stylesheet" href="style.css"></head></html>',
            "/style.css": b"@font-face{font-family:a;src:url(font.woff2)}",
            "/font.woff2": b"font",
        }
    )
