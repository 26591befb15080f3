"""Loads of pages as HTTP Archives."""

from __future__ import annotations

import json
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from tests import pages
from tests.metrics.records import MS, SINCE_BOOT, Records, exchange
from tests.metrics.test_packet_diagram import PACKET
from tests.snapshots import assert_golden
from wirelab.cli import main
from wirelab.metrics.dataset import measure

SCHEMA = json.loads((Path(__file__).parent / "har-1.2.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    records = pages.write(Path("results") / "mine")
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish("load-time").resolve()))
    measure(records.folder)
    return records.folder


def show(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["show", *arguments], prog_name="wirelab")


def archive(*arguments: str) -> Any:
    done = show(*arguments, "--har", "-")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    return found["log"]


def seconds(date: str) -> float:
    return datetime.fromisoformat(date).timestamp()


def test_the_schema_refuses_what_the_format_does_not_know() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    least = {"log": {"version": "1.2", "creator": {"name": "a", "version": "1"}, "entries": []}}
    jsonschema.validate(least, SCHEMA)
    for wrong in ({"entries": None}, {"version": "1.1"}, {"found": 1}, {"pages": [{}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"log": least["log"] | wrong}, SCHEMA)


def test_a_campaign_gives_its_typical_load_and_a_trial_all_of_its_own(campaign: Path) -> None:
    one = archive("mine", "--protocol", "h2")
    assert (len(one["pages"]), len(one["entries"])) == (1, len(pages.PAGE.site.resources))
    every = archive("mine", "trial-1")
    assert [each["id"] for each in every["pages"]] == ["trial-1/0", "trial-1/1", "trial-1/2"]
    assert len(every["entries"]) == 3 * len(pages.PAGE.site.resources)
    assert [each["id"] for each in archive("mine", "trial-1", "--exchange", "2")["pages"]] == ["trial-1/2"]


def test_a_load_begins_by_the_clock_on_the_wall_and_ends_with_onload(campaign: Path) -> None:
    [page] = archive("mine", "trial-1", "--exchange", "1")["pages"]
    assert seconds(page["startedDateTime"]) == pytest.approx((SINCE_BOOT + pages.START + pages.BETWEEN) / 1e9)
    assert page["pageTimings"] == {"onContentLoad": -1, "onLoad": pytest.approx(162.0)}
    assert page["title"] == "eight over h2"


def test_times_of_an_entry_add_up_without_counting_tls_twice(campaign: Path) -> None:
    for trial in ("trial-0", "trial-1"):
        for entry in archive("mine", trial)["entries"]:
            counted = [entry["timings"][name] for name in ("blocked", "dns", "connect", "send", "wait", "receive")]
            assert entry["time"] == pytest.approx(sum(each for each in counted if each >= 0))
    document = archive("mine", "trial-1")["entries"][0]["timings"]
    assert document == {
        "blocked": 0.5, "dns": -1, "connect": 79.5, "ssl": 40.0, "send": 0, "wait": 40.0, "receive": 1.0
    }  # fmt: skip
    assert archive("mine", "trial-0")["entries"][0]["timings"]["ssl"] == -1


def test_entries_follow_one_another_and_name_their_connection(campaign: Path) -> None:
    entries = archive("mine", "trial-0")["entries"]
    assert all(one["startedDateTime"] <= other["startedDateTime"] for one, other in pairwise(entries))
    assert len({entry["connection"] for entry in entries}) == 3 * 6
    assert {entry["request"]["httpVersion"] for entry in entries} == {"HTTP/1.1"}
    assert entries[0]["request"]["url"] == "http://server.test:8080/index.html"
    assert entries[1]["_initiator"] == {"url": "http://server.test:8080/index.html"}
    assert entries[1]["response"]["content"] == {"size": 2_000, "mimeType": "image/png"}


def test_a_load_that_was_given_up_has_no_onload_and_says_why(campaign: Path) -> None:
    found = archive("mine", "trial-5", "--exchange", "2")
    [page] = found["pages"]
    assert page["pageTimings"]["onLoad"] == -1
    assert page["comment"] == "timed-out: not complete: /8.png"
    last = found["entries"][-1]
    assert (last["_outcome"], last["comment"], last["response"]["status"]) == ("timed-out", "given up", 0)


def test_pushes_queries_and_what_no_manifest_has_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    records = pages.write(Path("results") / "mine")
    load, rows = pages.make_load("h2", 0)
    rows[1] |= {"found_by": "push", "pushed": True, "request_start_ns": None, "urgency": None, "incremental": None}
    stranger = {**rows[2], "resource": None, "path": "/x?a=1&b=", "connection": None}
    elsewhere = {**stranger, "path": "https://other.test/y.js"}
    trial = records.trial(pages.key("h2"), [load], resources=[*rows, stranger, elsewhere])
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish("load-time").resolve()))
    measure(records.folder)
    entries = archive("mine", trial)["entries"]
    pushed = next(entry for entry in entries if entry["request"]["url"].endswith("/1.png"))
    assert (pushed["_was_pushed"], pushed["_found_by"], pushed["timings"]["blocked"]) == (1, "push", 0)
    other = next(entry for entry in entries if "?" in entry["request"]["url"])
    assert other["request"]["queryString"] == [{"name": "a", "value": "1"}, {"name": "b", "value": ""}]
    assert other["response"]["content"]["mimeType"] == ""
    assert "connection" not in other
    assert entries[0]["request"]["url"].endswith("/index.html")
    assert "https://other.test/y.js" in {entry["request"]["url"] for entry in entries}
    assert not {"_initiator"} & (entries[0].keys() | other.keys())


def test_an_archive_reads_as_agreed(campaign: Path) -> None:
    log = archive("mine", "trial-1", "--exchange", "0")
    log["creator"]["version"] = "VERSION"
    assert_golden("load.har", json.dumps({"log": {**log, "entries": log["entries"][:2]}}, indent=1) + "\n")


def test_a_file_is_written_and_counted(campaign: Path, tmp_path: Path) -> None:
    done = show("mine", "trial-1", "--har", "load.har")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"3 loads, {3 * len(pages.PAGE.site.resources)} resources: load.har\n"
    jsonschema.validate(json.loads((tmp_path / "load.har").read_text(encoding="utf-8")), SCHEMA)
    done = show("mine", "trial-1", "--har", "nowhere/load.har")
    assert done.exit_code == 2
    assert "nowhere/load.har: cannot be written: No such file or directory" in done.stderr


def test_a_packet_diagram_of_a_load_has_the_packets_of_all_its_connections(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packets = [
        PACKET | {"client_port": 40_000 + each, "arrival_ns": pages.START + each * pages.BETWEEN + 5 * MS}
        for each in range(3)
    ]
    packets.append(PACKET | {"client_port": 50_000, "arrival_ns": pages.START + 90 * MS})
    monkeypatch.setattr("wirelab.metrics.packets._of_trial", lambda _: packets)
    assert show("mine", "trial-0", "--exchange", "0").stdout.count("│SYN") == 2
    assert show("mine", "trial-0").stdout.count("│SYN") == 4


def test_a_trial_without_a_load_has_no_archive_and_is_named(campaign: Path) -> None:
    for trial in ("no-such-trial", "trial-0.discarded-1"):
        done = show("mine", trial, "--har", "-")
        assert (done.exit_code, done.stdout) == (2, "")
        assert f"no trial '{trial}' in results/mine" in done.stderr


def test_what_is_no_page_has_no_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    records = Records(Path("results") / "other", {"a" * 64: {"name": "h2"}})
    records.trial("a" * 64, [exchange(0, end_ns=70)])
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish().resolve()))
    measure(records.folder)
    done = show("other", "--har", "-")
    assert done.exit_code == 2
    assert "trial-0 loads no page, and an archive is of pages (request-response)" in done.stderr
