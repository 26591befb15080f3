"""Loads of pages, and the resources of each."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.metrics.records import MS, START, Records, exchange, flow, resource
from wirelab.errors import RunError
from wirelab.metrics.dataset import EXCHANGES, TRIAL_TABLE, Dataset, build, measure, values_so_far
from wirelab.metrics.documented import tables
from wirelab.metrics.ledger import LEDGER
from wirelab.metrics.levels import PROTOCOL
from wirelab.metrics.registry import EXCHANGE_METRICS
from wirelab.metrics.resource_timings import PHASE_COLUMNS, RESOURCES
from wirelab.schema import RESOURCE_COLUMNS
from wirelab.schema.campaign import EntryStatus, page_manifest, read_plan
from wirelab.schema.exchange import extension
from wirelab.site.synthetic import images
from wirelab.stats.dataset import Dataset as Samples
from wirelab.stats.machine.parts import PART

SITE = images(2, 500).site
WORKLOAD = {
    "kind": "page", "loads": 2, "timeout_ns": 60_000 * MS,
    "page": {"name": "two", "sha256": SITE.digest, "resources": 3, "body_bytes": SITE.body_bytes},
}  # fmt: skip
Build = Callable[[Records], Dataset]


@pytest.fixture
def records(tmp_path: Path) -> Records:
    found = Records(tmp_path / "campaign", {"s": {"workload": WORKLOAD}, "other": {}})
    manifest = page_manifest(found.folder, SITE.digest)
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps(SITE.to_json()))
    return found


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Build:
    def finish(records: Records) -> Dataset:
        monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
        measure(records.folder)
        return build(records.folder)

    return finish


def load(index: int = 0, **given: Any) -> dict[str, Any]:
    body = {"body_sent_bytes": 0, "body_received_bytes": SITE.body_bytes, "connections": 3}
    return exchange(index, **{"end_ns": 90, **body, "pushed_bytes": 0, "wasted_pushed_bytes": 0, **given})


def table(records: Records) -> pl.DataFrame:
    return pl.read_parquet(records.folder / RESOURCES)


def phases(records: Records) -> list[float | None]:
    row = table(records).row(-1, named=True)
    found = [row[name] for name in PHASE_COLUMNS]
    assert sum(each for each in found if each is not None) == row["end_ns"] - row["discovered_ns"]
    return [None if each is None else each / MS for each in found]


def test_a_load_has_its_time_first_byte_connections_and_bytes(records: Records, measured: Build) -> None:
    records.trial("s", [load(pushed_bytes=500, wasted_pushed_bytes=200)])
    row = measured(records).exchanges.row(0, named=True)
    assert row["load_time_ns"] == row["end_to_end_delay_ns"] == 90 * MS
    assert row["time_to_first_byte_ns"] == 62 * MS
    names = ("page_connections", "page_body_bytes", "page_pushed_bytes", "page_wasted_bytes")
    assert [row[name] for name in names] == [3, SITE.body_bytes, 500, 200]


def test_a_timed_out_load_has_no_value_and_ranks_above_the_timeout(records: Records, measured: Build) -> None:
    records.trial("s", [load(0), load(1, outcome="timed-out")])
    assert measured(records).exchanges["load_time_ns"].to_list() == [90 * MS, None]
    samples = {each.metric.name: each.sample for each in Samples.read(records.folder).measured("s")}
    assert (samples["load-time"].n, samples["load-time"].censored) == (2, (1,))
    assert samples["page-connections"].n == 1


def test_the_first_byte_of_a_timed_out_load_is_known_if_it_arrived(records: Records, measured: Build) -> None:
    loads = [
        load(0),
        load(1, outcome="timed-out", first_response_byte_ns=70, first_final_byte_ns=72),
        load(2, outcome="timed-out", first_response_byte_ns=None, first_final_byte_ns=None),
        load(3, outcome="failed"),
    ]
    records.trial("s", loads)
    assert measured(records).exchanges["time_to_first_byte_ns"].to_list() == [62 * MS, 72 * MS, None, None]
    samples = {each.metric.name: each.sample for each in Samples.read(records.folder).measured("s")}
    first_byte = samples["time-to-first-byte"]
    assert (first_byte.values.tolist(), first_byte.censored) == (pytest.approx([0.062, 0.072]), (1,))


def test_other_workloads_have_no_load_time(records: Records, measured: Build) -> None:
    records.trial("other", [exchange(0, outcome="timed-out"), exchange(1)])
    row = measured(records).exchanges.row(1, named=True)
    assert (row["load_time_ns"], row["time_to_first_byte_ns"], row["page_body_bytes"]) == (None, None, None)
    assert not (records.folder / RESOURCES).exists()
    assert "load-time" not in {each.metric.name for each in Samples.read(records.folder).measured("other")}


def test_the_bytes_of_a_load_are_those_of_all_its_connections(records: Records, measured: Build) -> None:
    """Port 40,000 is the first load's document's, 40,001 the second's."""
    flows = [
        flow(40_000, first_ns=START),
        flow(50_000, first_ns=START + 50 * MS, bytes=[70, 50], retransmissions=[0, 2]),
        flow(40_001, first_ns=START + 100 * MS),
        flow(50_001, first_ns=START + 99 * MS, spurious=None),
    ]
    records.trial("s", [load(0), load(1)], flows)
    records.trial("other", [exchange(0)], [flow(40_000), flow(50_000)])
    rows = measured(records).exchanges
    assert rows["wire_up_bytes"].to_list() == [700 + 70 + 700, 700, 700]
    assert rows["retransmissions"].to_list() == [1 + 2 + 1, 1, 1]
    assert rows["lost_packets"].to_list() == [3, 1, 1]
    assert rows["spurious_retransmissions"].to_list() == [0, 0, 0]
    assert rows["round_trips"].to_list() == [None, None, 4]


def test_the_wire_bytes_of_a_load_are_unknown_without_its_documents_port(records: Records, measured: Build) -> None:
    records.trial("s", [load(0, local_port=None)], [flow(50_000, first_ns=START)])
    assert measured(records).exchanges["wire_up_bytes"].to_list() == [None]


def test_columns_of_resources_are_the_documented_ones_in_order(records: Records, measured: Build) -> None:
    records.trial("s", [load()], resources=[resource()])
    measured(records)
    keys = ["trial", "scenario", "block", "replicate", "lane"]
    added = ["kind", "media_type", "parent", "blocking", *PHASE_COLUMNS]
    assert table(records).columns == [*keys, *RESOURCE_COLUMNS, *added]
    described = {each.file: [column.name for column in each.columns] for each in tables()}
    for name in (RESOURCES, EXCHANGES, TRIAL_TABLE):
        written = pl.read_parquet(records.folder / name).columns
        # No other workload's columns are in a campaign of pages, nor a merged one's; the levels are its experiment's.
        levels = {path for each in read_plan(records.folder).scenarios for path in each.levels}
        assert [column for column in written if column == PROTOCOL or column not in levels] == [
            column for column in described[name] if column not in {*extension("pubsub"), PART}
        ]


def test_resources_are_reported_with_what_the_manifest_says(records: Records, measured: Build) -> None:
    image = resource(resource=2, path="/2.png", found_by="body")
    icon = resource(resource=None, path="/favicon.ico")
    trial = records.trial("s", [load()], resources=[resource(), image, icon])
    measured(records)
    reported = table(records).select("trial", "kind", "media_type", "parent", "blocking").rows()
    assert reported == [
        (trial, "document", "text/html", None, True),
        (trial, "image", "image/png", 0, False),
        (trial, None, None, None, None),
    ]


def test_resources_of_trials_that_do_not_count_are_left_out(records: Records, measured: Build) -> None:
    counts = records.trial("s", [load()], resources=[resource()])
    records.trial("s", [load()], resources=[resource()], status=EntryStatus.FAILED, error="no")
    measured(records)
    assert table(records)["trial"].to_list() == [counts]


@pytest.mark.parametrize(
    ("given", "queued", "connect", "handshake", "wait", "transfer"),
    [
        ({}, 2, 20, 21, 21, 6),
        ({"handshake_ns": None}, 1 + 22, 20, None, 21, 6),
        ({"tcp_connect_ns": None}, 2, None, 41, 21, 6),
        ({"discovered_ns": 30, "connect_start_ns": None, "tcp_connect_ns": None, "handshake_ns": None}, 13, None, None,
         21, 6),
        ({"discovered_ns": 30}, 1, 0, 12, 21, 6),
        ({"first_response_byte_ns": None, "outcome": "timed-out"}, 2, 20, 21, 27, None),
        ({"discovered_ns": 50, "connect_start_ns": None, "tcp_connect_ns": None, "handshake_ns": None,
          "request_start_ns": None, "pushed": True}, 0, None, None, 14, 6),
        ({"connect_start_ns": None, "tcp_connect_ns": None, "handshake_ns": None, "request_start_ns": None,
          "first_response_byte_ns": None, "outcome": "failed"}, 70, None, None, None, None),
    ],
    ids=["tls", "clear", "quic", "reused", "begun-for-another", "given-up", "pushed", "never-asked"],
)  # fmt: skip
def test_phases_of_a_resource_add_up(  # noqa: PLR0917
    records: Records, measured: Build, given: dict[str, Any], queued: int, connect: int | None, handshake: int | None,
    wait: int | None, transfer: int | None,
) -> None:  # fmt: skip
    records.trial("s", [load()], resources=[resource(**given)])
    measured(records)
    assert phases(records) == [queued, connect, handshake, wait, transfer]


def test_loads_are_read_while_a_campaign_runs(records: Records, measured: Build) -> None:
    records.trial("s", [load(0), load(1, outcome="timed-out")])
    measured(records)
    plan = read_plan(records.folder)
    [metric] = [each for each in EXCHANGE_METRICS if each.name == "load-time"]
    assert values_so_far(records.folder, plan, "s", metric) == [[90 * MS, math.inf]]


def test_a_missing_manifest_is_named(records: Records, measured: Build) -> None:
    records.trial("s", [load()], resources=[resource()])
    page_manifest(records.folder, SITE.digest).unlink()
    with pytest.raises(RunError, match=r"manifest\.json: cannot be read: No such file"):
        measured(records)


def test_a_ledger_of_pages_counts_their_bodies_as_payload(records: Records, measured: Build) -> None:
    records._scenarios[0]["capture"] = True
    trial = records.trial("s", [load(0), load(1)])
    spent = dict.fromkeys(
        ("ip", "transport", "connection", "acknowledgements", "retransmitted", "handshake", "protection"), 1
    )
    way = {**spent, "application": 9, "sealed": 0, "other": 0, "packets": 1, "total": 16}
    records.ledgers[trial] = [way, way]
    measured(records)
    assert pl.read_parquet(records.folder / LEDGER)["payload"].to_list() == [0, 2 * SITE.body_bytes]
