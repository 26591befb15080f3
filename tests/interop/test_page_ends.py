"""Pages by the command line where something is not as it should be, and one where everything is."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from wirelab.runner.implementations import find_program

from .conftest import ROOT, Bench

HAR = json.loads((ROOT / "python" / "tests" / "metrics" / "har-1.2.schema.json").read_text(encoding="utf-8"))
QUICKLY = ("--set", "stop.replicates=1", "--set", "workload.loads=2", "--no-probes")
FILES = {
    "index.html": b"<!DOCTYPE html><title>Mine</title><link rel=stylesheet href=a.css><img src=b.png><img src=c.png>",
    "a.css": b"main{background:url(d.png)}",
    "b.png": b"b" * 5_000,
    "c.png": b"c" * 60_000,
    "d.png": b"d" * 7_000,
}
SERVER = """
import sys, threading, time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def copyfile(self, source, sink):
        held = self.path == "/c.png"
        sink.write(source.read(100 if held else -1))
        sink.flush()
        if held:
            threading.Event().wait()


class Server(ThreadingHTTPServer):
    daemon_threads, block_on_close = True, False


address, port, folder = sys.argv[1:]
Server((address, int(port)), lambda *given: Handler(*given, directory=folder)).serve_forever()
"""
IMPLEMENTATIONS = """
[holds-back]
title = "A server that never ends c.png"
homepage = "https://docs.python.org/3/library/http.server.html"
install = "it comes with Python"
version_command = ["{{ python }}", "--version"]

[holds-back.roles.server]
protocols = ["http1"]
workloads = ["page"]
command = ["{{ python }}", "{{ beside }}/server.py", "{{ address }}", "{{ port }}", "{{ site }}"]
ready = "tcp-connect"
"""
EXPERIMENT = """
title = "A page that never ends"
metric = "load-time"
[factors]
protocol = ["http1"]
[endpoints]
server = { implementation = "holds-back" }
[link]
rtt = "10 ms"
[workload]
kind = "page"
page = { site = "site" }
loads = 2
timeout = "2 s"
[stop]
replicates = 1
"""


@pytest.fixture
def site(bench: Bench) -> Path:
    return bench.site(FILES)


@pytest.mark.namespaces
def test_a_folder_is_loaded_over_every_protocol_and_each_gives_an_archive(bench: Bench, site: Path) -> None:
    options = ("--site", str(site), "--link", "4g-medium", *QUICKLY, "--out", str(bench.campaign))
    status, out, words = bench.run("run", "page", *options)
    assert status == 0, f"{out}\n{words}"
    loads = pl.read_parquet(bench.campaign / "exchanges.parquet")
    assert loads["outcome"].to_list() == ["completed"] * 8
    assert set(loads["page_body_bytes"]) == {sum(map(len, FILES.values()))}
    for trial in bench.statuses():
        status, out, words = bench.run("show", str(bench.campaign), trial, "--har", "-")
        assert status == 0, words
        archive = json.loads(out)
        jsonschema.validate(archive, HAR)
        assert len(archive["log"]["pages"]) == 2
        assert len(archive["log"]["entries"]) == 2 * len(FILES)
    bench.assert_nothing_left()


@pytest.mark.namespaces
def test_a_page_that_never_ends_times_out_with_its_open_requests(bench: Bench, site: Path) -> None:
    (bench.folder / "implementations.toml").write_text(IMPLEMENTATIONS)
    (bench.folder / "server.py").write_text(SERVER)
    bench.run_experiment(EXPERIMENT, "--no-probes")
    loads = pl.read_parquet(bench.campaign / "exchanges.parquet")
    assert loads["outcome"].to_list() == ["timed-out"] * 2
    assert loads["error"].to_list() == ["open: /c.png"] * 2
    assert loads["load_time_ns"].to_list() == [None] * 2
    rows = pl.read_parquet(bench.campaign / "resources.parquet")
    ends = dict(zip(rows["path"], rows["outcome"], strict=True))
    assert ends == {path: "completed" for path in ends if path != "/c.png"} | {"/c.png": "timed-out"}
    assert set(ends) == {f"/{name}" for name in FILES}
    assert "timed out" in (bench.campaign / "report.html").read_text(encoding="utf-8")
    assert site.is_dir()
    bench.assert_nothing_left()


@pytest.mark.namespaces
def test_without_the_browser_its_scenarios_fail_with_the_install_command_and_the_rest_runs(
    bench: Bench, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(_programs_but("chromium", bench.folder / "bin")))
    if find_program("chromium") is not None:
        pytest.skip("it is in a system folder")
    options = ("--site", str(site), "--link", "ethernet-100m", *QUICKLY, "--out", str(bench.campaign))
    both = ("--set", "protocol=h2", "--set", "client.implementation=builtin,chromium")
    status, out, words = bench.run("run", "page", *both, *options)
    assert status == 1, f"{out}\n{words}"
    entries = [json.loads(line) for line in (bench.campaign / "journal.jsonl").read_text().splitlines()]
    # The last entry of a trial counts: a block whose link was late on a busy machine was discarded.
    last = {entry["trial"]: entry for entry in entries}.values()
    errors = {entry["status"]: entry["error"] for entry in last}
    assert set(errors) == {"done", "failed"}
    assert errors["failed"] == "chromium is not installed; apt-get install chromium"
    assert "chromium is not installed; apt-get install chromium" in words
    report = (bench.campaign / "report.html").read_text(encoding="utf-8")
    assert "apt-get install chromium" in report


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ("<!DOCTYPE html>\n<img src=gone.png>", "index.html:2: no such file (gone.png)"),
        ("<!DOCTYPE html>\n<img src=../b.png>", "index.html:2: leaves the folder (../b.png)"),
        ("<!DOCTYPE html>\n<img src=%2e%2e/b.png>", "index.html:2: leaves the folder (%2e%2e/b.png)"),
    ],
)
@pytest.mark.parametrize("verb", ["check", "plan", "run"])
def test_a_missing_file_of_a_folder_is_named_before_anything_runs(
    bench: Bench, site: Path, verb: str, document: str, complaint: str
) -> None:
    (site / "index.html").write_text(document)
    status, out, words = bench.run(verb, "page", "--site", str(site))
    assert (status, out) == (2, "")
    assert complaint in words
    assert "hint: " in words


def _programs_but(name: str, folder: Path) -> Path:
    """A folder that has every program on PATH but one."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            if program.name != name and not (folder / program.name).exists() and shutil.which(program):
                (folder / program.name).symlink_to(program)
    return folder
