"""A page of the user's own, served and loaded by programs that are not Wirelab's: the whole line of the workload `page`
but for the built-in endpoints.
"""

from __future__ import annotations

import json

import polars as pl
import pytest

from .conftest import Bench

CLIENT = """
import http.client, json, sys, time

parameters = json.load(open(sys.argv[1]))
server, output = parameters["server"], parameters["output"]
resources = json.load(open(parameters["page"]["manifest"]))["resources"]


def fetch(load, number, found_by, known):
    begun = time.monotonic_ns()
    connection = http.client.HTTPConnection(server["address"], server["port"], timeout=20)
    connection.connect()
    connected = time.monotonic_ns()
    connection.request("GET", resources[number]["path"])
    answer = connection.getresponse()
    first = time.monotonic_ns()
    body = answer.read()
    connection.close()
    return {
        "exchange": load, "resource": number, "path": resources[number]["path"], "found_by": found_by,
        "discovered_ns": known, "connection": number, "connect_start_ns": begun, "tcp_connect_ns": connected,
        "request_start_ns": connected, "first_response_byte_ns": first, "end_ns": time.monotonic_ns(),
        "outcome": "completed", "status": answer.status, "body_received_bytes": len(body) + WRONG,
    }


with open(output + "/exchanges.jsonl", "w") as loads, open(output + "/resources.jsonl", "w") as rows:
    for load in range(parameters["workload"]["loads"]):
        start = time.monotonic_ns()
        mine = [fetch(load, 0, "navigation", start)]
        mine += [fetch(load, number, "body", mine[0]["end_ns"]) for number in range(1, len(resources))]
        row = {
            "index": load, "start_ns": start, "end_ns": mine[-1]["end_ns"], "outcome": "completed",
            "first_response_byte_ns": mine[0]["first_response_byte_ns"],
            "first_final_byte_ns": mine[0]["first_response_byte_ns"], "connections": len(mine),
            "body_received_bytes": sum(each["body_received_bytes"] for each in mine),
        }
        loads.write(json.dumps(row) + "\\n")
        rows.writelines(json.dumps(each) + "\\n" for each in mine)
"""
IMPLEMENTATIONS = """
[mine]
title = "Python's server, and a client of one's own"
homepage = "https://docs.python.org/3/library/http.server.html"
install = "it comes with Python"
version_command = ["{{ python }}", "--version"]

[mine.roles.server]
protocols = ["http1"]
workloads = ["page"]
command = ["{{ python }}", "-m", "http.server", "{{ port }}", "--bind", "{{ address }}", "--directory", "{{ site }}"]
ready = "tcp-connect"

[mine.roles.client]
protocols = ["http1"]
workloads = ["page"]
command = ["{{ python }}", "{{ beside }}/client.py", "{{ parameters }}"]
"""
EXPERIMENT = """
title = "A page of one's own"
metric = "load-time"
[factors]
protocol = ["http1"]
[endpoints]
client = { implementation = "mine" }
server = { implementation = "mine" }
[link]
rtt = "10 ms"
[workload]
kind = "page"
page = { site = "site" }
loads = 2
[stop]
replicates = 1
"""
FILES = {
    "index.html": b"<!DOCTYPE html><title>Mine</title><link rel=stylesheet href='a%20b.css'><img src=c.png>",
    "a b.css": b"main{background:url(d.png)}",
    "c.png": b"c" * 5_000,
    "d.png": b"d" * 7_000,
}


def prepare(bench: Bench, wrong: int = 0) -> None:
    (bench.folder / "implementations.toml").write_text(IMPLEMENTATIONS)
    (bench.folder / "client.py").write_text(CLIENT.replace("WRONG", str(wrong)))
    bench.site(FILES)


@pytest.mark.namespaces
def test_a_page_is_served_loaded_measured_drawn_and_exported(bench: Bench) -> None:
    prepare(bench)
    bench.run_experiment(EXPERIMENT, "--no-probes")
    [load, other] = pl.read_parquet(bench.campaign / "exchanges.parquet").to_dicts()
    assert load["page_body_bytes"] == other["page_body_bytes"] == sum(map(len, FILES.values()))
    # Four connections, each of which takes its round trip before its request does.
    assert load["load_time_ns"] > 8 * 10_000_000
    rows = pl.read_parquet(bench.campaign / "resources.parquet")
    paths = ["/index.html", "/a%20b.css", "/c.png", "/d.png"]
    assert rows["path"].to_list() == paths * 2
    assert rows["kind"].to_list()[:4] == ["document", "stylesheet", "image", "image"]
    assert (bench.campaign / "report.html").read_text().count('id="waterfalls"') == 1
    status, out, words = bench.run("show", str(bench.campaign), "--har", "-")
    assert status == 0, words
    assert [entry["request"]["url"] for entry in json.loads(out)["log"]["entries"]] == [
        f"http://server.test:8080{path}" for path in paths
    ]
    bench.assert_nothing_left()


@pytest.mark.namespaces
def test_rows_outside_the_page_fail_the_trial(bench: Bench) -> None:
    prepare(bench, wrong=1)
    status, _, words = bench.run("run", str(bench.experiment(EXPERIMENT)), "--out", str(bench.campaign), "--no-probes")
    assert status == 1
    size = len(FILES["index.html"])
    assert f"client/resources.jsonl:1: /index.html has {size} bytes, not {size + 1}" in words
    bench.assert_nothing_left()
