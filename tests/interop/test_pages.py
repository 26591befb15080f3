"""Page loads by a real browser from real servers, each on loopback."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from PIL import Image
from tests.interop.conftest import REQUIRED, built_agent
from tests.interop.covering import covering, nightly
from tests.interop.endpoints import TIMEOUT_S
from tests.interop.page_peers import NAME, Peers, defaults, processes_in

from wirelab.experiment.programs.implementations import RoleEntry
from wirelab.runner.implementations import find_program, load, missing
from wirelab.schema import registered
from wirelab.site import fischer2021
from wirelab.site.folder import read_folder

SERVERS = ("nginx", "apache", "caddy", "nghttpd", "node")
BROWSER = load(None)["chromium"]


def does(entry: RoleEntry | None, protocol: str, hints: str) -> bool:
    """Whether an entry's role loads or serves pages of a protocol so."""
    facts = {"protocol": protocol, "workload": "page", **defaults(protocol), "hints": hints}
    if entry is None or protocol not in entry.protocols or "page" not in entry.workloads:
        return False
    return all(each.unmet(facts) is None for each in entry.requires)


def values(protocol: str) -> tuple[str, ...]:
    """Values of the setting `hints`."""
    described = registered().protocol(protocol)
    assert described is not None
    setting = described.setting("hints")
    assert setting is not None
    return tuple(setting.values.choices)  # type: ignore[union-attr]


def varied(client: RoleEntry | None) -> list[tuple[str, str, str]]:
    """Every protocol of each server without hints, and every hint over one protocol."""
    return [
        (server, protocol, hints) for server, protocol, hints in pairs(client) if hints == "none" or protocol == "h2"
    ]


def pairs(client: RoleEntry | None, *only: str) -> list[tuple[str, str, str]]:
    """Server, protocol and hints of every pair with a client."""
    return [
        (server, protocol, hints)
        for server in SERVERS
        for protocol in ("http1", "https1", "h2c", "h2", "h3")
        for hints in values(protocol)
        if (not only or hints in only)
        and does(load(None)[server].roles.server, protocol, hints)
        and (client is None or does(client, protocol, hints))
    ]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Folders by key type, made when first asked for."""

    class Made(dict[str, Path]):
        def __missing__(self, kind: str) -> Path:
            folder = tmp_path_factory.mktemp(kind) / "pem"
            if (agent := built_agent()) is None:
                pytest.skip("no wirelab-agent is built")
            options = ["--key", kind, "--name", NAME, "--address", "127.0.0.1", "--out", str(folder)]
            subprocess.run([agent, "certificates", *options], check=True, timeout=TIMEOUT_S)
            self[kind] = folder
            return folder

    yield Made()


@pytest.fixture
def peers(tmp_path: Path, certificates: dict[str, Path]) -> Iterator[Peers]:
    peers = Peers(tmp_path, fischer2021.page(), certificates["ecdsa-p256"])
    yield peers
    peers.kill()


def require(*names: str) -> None:
    """Skip without these programs, unless everything is required."""
    absent = [why for name in names if (why := missing(load(None)[name])) is not None]
    if absent:
        (pytest.fail if REQUIRED else pytest.skip)("; ".join(absent))


@pytest.mark.chromium
@pytest.mark.parametrize(("server", "protocol", "hints"), covering(varied(BROWSER.roles.client), (0,), (1, 2)))
def test_a_browser_loads_the_papers_page(peers: Peers, server: str, protocol: str, hints: str) -> None:
    require("chromium", server)
    site = peers.page.site
    with peers.server(server, protocol, hints=hints) as port:
        loads, requests = peers.browse(protocol, port, loads=2, hints=hints)
    assert [(row["outcome"], row["error"]) for row in loads] == [("completed", None)] * 2
    for each in loads:
        found = [row for row in requests if row["exchange"] == each["index"]]
        assert {row["path"]: row["body_received_bytes"] for row in found} == {
            resource.path: resource.body_bytes for resource in site.resources
        }
        assert sorted(row["resource"] for row in found) == list(range(len(site.resources)))
        assert {row["status"] for row in found} == {200}
        assert each["body_received_bytes"] == site.body_bytes
        # A browser opens at most six to a host, and another only while all earlier ones are busy: on a loaded machine
        # the files may be found so late that two are enough.
        assert each["connections"] in (range(2, 7) if protocol in {"http1", "https1"} else {1})
        assert each["start_ns"] < each["first_response_byte_ns"] <= each["first_final_byte_ns"] < each["end_ns"]
        by = {row["found_by"] for row in found if row["resource"]}
        if hints == "early-hints":
            # Without a delay on the way, the body is there before the browser has acted on a 103, or not.
            assert by <= {"hint", "body"}
            assert each["first_response_byte_ns"] <= each["first_final_byte_ns"]
        else:
            assert by == {"body" if hints == "none" else "hint"}
            assert each["first_response_byte_ns"] == each["first_final_byte_ns"]
        assert all(each["start_ns"] <= row["discovered_ns"] <= row["end_ns"] <= each["end_ns"] for row in found)
    assert loads[0]["end_ns"] < loads[1]["start_ns"]


@pytest.mark.parametrize(
    ("server", "protocol", "hints"), covering(pairs(None, "push", "early-hints", "preload"), (0,), (1, 2))
)
def test_a_server_sends_hints_for_the_page(peers: Peers, server: str, protocol: str, hints: str) -> None:
    require(server)
    if protocol == "h3" or find_program("nghttp" if protocol in {"h2c", "h2"} else "curl") is None:
        pytest.skip("no client that says what it was sent")
    document, *others = (resource.path for resource in peers.page.site.resources)
    with peers.server(server, protocol, hints=hints) as port:
        said = spoken(protocol, f"127.0.0.1:{port}{document}")
    linked = re.findall(r"<([^>]+)>; rel=preload; as=\w+", said)
    assert linked == ([] if hints == "push" else others)
    assert said.count(":status: 103") == (hints == "early-hints")
    promised = re.findall(r"PUSH_PROMISE", said)
    assert len(promised) == (len(others) if hints == "push" else 0)
    assert all(said.count(f":path: {path}\n") == 1 for path in others if hints == "push")


def spoken(protocol: str, place: str) -> str:
    """Everything that a server says when asked for a document."""
    if protocol in {"http1", "https1"}:
        scheme = "https" if protocol == "https1" else "http"
        command = ["curl", "--disable", "--silent", "--insecure", "--http1.1", "--include", f"{scheme}://{place}"]
    else:
        scheme = "https" if protocol == "h2" else "http"
        # Wide windows: nghttp ends before a document for which pushes leave no room.
        command = ["nghttp", "--verbose", "--null-out", "--no-dep", "-w24", "-W24", f"{scheme}://{place}"]
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=True)
    return done.stdout.decode(errors="replace")


@pytest.mark.chromium
@pytest.mark.parametrize(
    ("kind", "protocol", "tls"),
    [
        *covering(
            [
                (kind, *protocol)
                for protocol in (("https1", "1.2"), ("h2", "1.3"), ("h3", None))
                for kind in ("rsa-2048", "ecdsa-p384")
            ],
            (0,),
            (1,),
        ),
        # Such a key takes many seconds to make.
        nightly("rsa-4096", "https1", "1.2"),
        nightly("rsa-4096", "h3", None),
    ],
)
def test_a_browser_takes_certificates_of_either_kind(
    tmp_path: Path, certificates: dict[str, Path], kind: str, protocol: str, tls: str | None
) -> None:
    server = "caddy" if protocol == "h3" else "nginx"
    require("chromium", server)
    settings = {"certificate-key": kind, **({"tls": tls} if tls else {})}
    peers = Peers(tmp_path, fischer2021.page(), certificates[kind])
    try:
        with peers.server(server, protocol, **settings) as port:
            [exchange], _ = peers.browse(protocol, port, **settings)
    finally:
        peers.kill()
    assert (exchange["outcome"], exchange["error"]) == ("completed", None)


@pytest.mark.chromium
def test_the_latency_of_devtools_holds_every_response_back(peers: Peers) -> None:
    require("chromium", "nginx")
    latency_ms = 300
    with peers.server("nginx", "h2") as port:
        [exchange], _ = peers.browse("h2", port, devtools_latency=latency_ms)
    assert (exchange["outcome"], exchange["error"]) == ("completed", None)
    # The document and what it names come one behind the other.
    assert exchange["end_ns"] - exchange["start_ns"] > 2 * latency_ms * 1e6


@pytest.mark.chromium
def test_a_server_of_another_protocol_fails_the_load_with_the_reason(peers: Peers) -> None:
    require("chromium", "nginx")
    with peers.server("nginx", "https1") as port:
        [exchange], _ = peers.browse("h2", port)
    assert (exchange["outcome"], exchange["error"]) == ("failed", "/index.html came over http/1.1, not h2")


@pytest.mark.chromium
@pytest.mark.parametrize("count", [10, nightly(100)])
def test_many_loads_leave_no_process_no_profile_and_nothing_temporary(
    peers: Peers, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    require("chromium", "node")
    temporary = tempfile.mkdtemp()  # a test's own folder has too long a path for a socket
    monkeypatch.setenv("TMPDIR", temporary)
    with peers.server("node", "h2") as port:
        process, folder = peers.start_browser("h2", port, loads=count)
        process.communicate(timeout=5 * TIMEOUT_S)
    assert process.returncode == 0
    left = {"parameters.json", "stderr.txt", "exchanges.jsonl", "resources.jsonl"}
    assert {path.name for path in folder.iterdir()} == left
    assert processes_in(folder) == {}
    Path(temporary).rmdir()
    exchanges = [json.loads(line) for line in (folder / "exchanges.jsonl").read_text().splitlines()]
    assert [(row["index"], row["outcome"]) for row in exchanges] == [(index, "completed") for index in range(count)]


class Asked(BaseHTTPRequestHandler):
    """Serves a folder, notes what it is asked for, and holds back what `open_paths` names, but for a few bytes."""

    protocol_version = "HTTP/1.1"
    site: Path
    paths: list[str]
    open_paths: frozenset[str] = frozenset()

    def do_GET(self) -> None:
        self.paths.append(self.path)
        file = self.site / self.path.lstrip("/")
        body = file.read_bytes() if file.is_file() else b""
        self.send_response(200 if file.is_file() else 404)
        types = {".html": "text/html", ".css": "text/css", ".png": "image/png", ".jpg": "image/jpeg"}
        self.send_header("Content-Type", types.get(file.suffix, "text/plain"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        held = self.path in self.open_paths
        self.wfile.write(body[:10] if held else body)
        self.wfile.flush()
        while held and not self.wfile.closed:
            time.sleep(0.1)
            self.connection.send(b"")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def listening(peers: Peers) -> Iterator[type[Asked]]:
    """A server of ours that says what it was asked for, at `listening.port`."""
    handler = type("Handler", (Asked,), {"site": peers.site, "paths": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        handler.port = server.server_address[1]  # type: ignore[attr-defined]
        Thread(target=server.serve_forever, daemon=True).start()
        yield handler
        server.shutdown()


@pytest.mark.chromium
def test_a_browser_requests_only_the_page(peers: Peers, listening: Any) -> None:
    require("chromium")
    peers.browse("http1", listening.port, loads=3)
    assert sorted(listening.paths) == sorted(3 * [each.path for each in peers.page.site.resources])


@pytest.mark.chromium
def test_a_page_that_never_ends_times_out_naming_open_requests(peers: Peers, listening: Any) -> None:
    require("chromium")
    listening.open_paths = frozenset({"/3.jpg", "/5.jpg"})
    [exchange], requests = peers.browse("http1", listening.port, timeout_s=4)
    assert (exchange["outcome"], exchange["error"]) == ("timed-out", "open: /3.jpg, /5.jpg")
    assert {row["path"] for row in requests if row["outcome"] == "timed-out"} == {"/3.jpg", "/5.jpg"}
    assert exchange["end_ns"] >= max(row["end_ns"] for row in requests if row["outcome"] == "completed")


@pytest.mark.chromium
def test_resources_that_do_not_block_the_load_event_are_waited_for_too(
    tmp_path: Path, certificates: dict[str, Path], listening: Any
) -> None:
    require("chromium")
    source = tmp_path / "source"
    source.mkdir()
    (source / "index.html").write_text("<!DOCTYPE html><link rel=preload as=fetch href=late.json crossorigin><p>Late")
    (source / "late.json").write_text('{"late": "twenty or so bytes"}')
    peers = Peers(tmp_path / "late", read_folder(source), certificates["ecdsa-p256"])
    listening.site, listening.open_paths = peers.site, frozenset({"/late.json"})
    try:
        [exchange], _ = peers.browse("http1", listening.port, timeout_s=4)
    finally:
        peers.kill()
    assert (exchange["outcome"], exchange["error"]) == ("timed-out", "open: /late.json")


@pytest.mark.chromium
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_no_browser_process_outlives_its_endpoint(peers: Peers, listening: Any, how: signal.Signals) -> None:
    require("chromium")
    listening.open_paths = frozenset({"/3.jpg"})
    process, folder = peers.start_browser("http1", listening.port)
    until = time.monotonic() + TIMEOUT_S
    while "/3.jpg" not in listening.paths and time.monotonic() < until:
        time.sleep(0.05)
    assert len(processes_in(folder)) > 3
    os.kill(process.pid, how)
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == (0 if how == signal.SIGTERM else -how)
    while (processes_in(folder) or (folder / "profile").exists()) and time.monotonic() < until:
        time.sleep(0.05)
    assert processes_in(folder) == {}
    assert not (folder / "profile").exists()
    assert (folder / "exchanges.jsonl").exists() == (how == signal.SIGTERM)


@pytest.mark.chromium
@pytest.mark.parametrize("server", SERVERS)
def test_a_servers_own_file_serves_any_path(tmp_path: Path, certificates: dict[str, Path], server: str) -> None:
    require("chromium", server)
    protocol, hints = "h2", "none" if server == "nghttpd" else "preload"
    source = tmp_path / "source"
    source.mkdir()
    names = ("a b.png", "50%.png", "é.png", "(1).png", "it's.png")
    for name in names:
        Image.new("RGB", (20, 20)).save(source / name)
    tags = "".join(f'<img src="{name.replace("%", "%25")}">' for name in names)
    (source / "index.html").write_text(f"<!DOCTYPE html><meta charset=utf-8>{tags}", encoding="utf-8")
    peers = Peers(tmp_path, read_folder(source), certificates["ecdsa-p256"])
    try:
        with peers.server(server, protocol, hints=hints) as port:
            [exchange], requests = peers.browse(protocol, port, hints=hints)
    finally:
        peers.kill()
        shutil.rmtree(source)
    assert (exchange["outcome"], exchange["error"]) == ("completed", None)
    assert len(requests) == len(names) + 1


@pytest.mark.chromium
@pytest.mark.parametrize(
    ("changed", "code"),
    [({"protocol": "mqtt"}, 3), ({"role": "server"}, 3), ({"settings": {"hints": "push"}}, 3), ({"output": None}, 2)],
)
def test_unsupported_work_of_a_browser_exits_with_3(peers: Peers, changed: dict[str, Any], code: int) -> None:
    process, folder = peers.start_browser("h2", 1)
    process.kill()
    process.communicate(timeout=TIMEOUT_S)
    path = folder / "parameters.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    done = subprocess.run(process.args, capture_output=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == code
    assert done.stderr
