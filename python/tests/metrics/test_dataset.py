"""Raw records to the two tables."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.metrics.conftest import Build
from tests.metrics.records import IN_TURN, MS, START, Records, exchange, flow
from wirelab.errors import WirelabError
from wirelab.metrics import dataset as parts
from wirelab.metrics.dataset import build, measure, values_so_far
from wirelab.metrics.registry import EXCHANGE_METRICS
from wirelab.schema import EXTENDED, exchange_columns, extension
from wirelab.schema.campaign import EntryStatus, read_plan
from wirelab.stats.dataset import Dataset as Samples


def test_columns_are_the_documented_ones_in_order(records: Records, built: Build) -> None:
    records.trial("s", [exchange()], [flow(40_000)])
    dataset = built(records)
    keys = ["trial", "scenario", "block", "replicate", "lane"]
    metrics = [metric.column for metric in EXCHANGE_METRICS]
    columns = exchange_columns(["request-response"])
    assert dataset.exchanges.columns == [*keys, *columns, "download_bytes", "disturbed", *metrics]


PUBSUB = {"kind": "pubsub", "message_bytes": 30, "messages": 1}


@pytest.mark.parametrize(
    ("workloads", "present"),
    [
        ([{}], {"curl_starttransfer_ns", "program_end_ns", "place_ns", "attempts"}),
        ([PUBSUB], {"copies"}),
        ([PUBSUB, {}], {"copies", "curl_starttransfer_ns", "program_end_ns", "place_ns", "attempts"}),
    ],
)
def test_the_dataset_has_the_extensions_of_its_workloads_and_no_other(
    workloads: list[dict[str, Any]], present: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenarios = {str(number): {"workload": each} if each else {} for number, each in enumerate(workloads)}
    records = Records(tmp_path / "campaign", scenarios)
    for number, each in enumerate(workloads):
        records.trial(str(number), [exchange(**({"copies": 1} if each else {}))])
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    measured, dataset = measure(records.folder), build(records.folder)
    every = {name for kind in EXTENDED for name in extension(kind)}
    assert every & set(dataset.exchanges.columns) == present
    assert dataset.exchanges["delivery_delay_ns"].count() == len([each for each in workloads if each])
    assert dataset.exchanges["page_connections"].null_count() == len(dataset.exchanges)
    assert len(Samples.read(records.folder).exchanges.collect()) == measured.exchanges == len(workloads)


def test_a_campaign_without_a_finished_trial_says_so(records: Records, built: Build) -> None:
    with pytest.raises(WirelabError, match="no trial has finished"):
        built(records)


def test_measure_writes_both_tables(records: Records, built: Build) -> None:
    records.trial("s", [exchange()], [flow(40_000)])
    built(records)
    measure(records.folder)
    assert pl.read_parquet(records.folder / "exchanges.parquet")["end_to_end_delay_ns"].to_list() == [63 * MS]
    assert len(pl.read_parquet(records.folder / "trials.parquet")) == 1


def test_the_values_for_the_stopping_rule_are_by_trial_with_timeouts_as_infinite(
    records: Records, built: Build
) -> None:
    records.trial("s", [exchange(0), exchange(1, outcome="timed-out"), exchange(2, outcome="failed")])
    records.trial("s", [exchange(0, end_ns=100)])
    records.trial("s", [exchange()], status=EntryStatus.FAILED)
    built(records)
    plan = read_plan(records.folder)
    delay = next(metric for metric in EXCHANGE_METRICS if metric.name == "end-to-end-delay")
    assert values_so_far(records.folder, plan, "s", delay) == [[63 * MS, float("inf")], [100 * MS]]


@pytest.mark.parametrize("name", ["end-to-end-delay-largest", "phase-connect"])
def test_a_time_out_that_is_not_of_the_metric_is_not_infinite_for_the_stopping_rule(
    tmp_path: Path, built: Build, name: str
) -> None:
    records = Records(tmp_path / "campaign", {"s": {"workload": IN_TURN}})
    records.trial("s", [exchange(0), exchange(1, outcome="timed-out")])
    built(records)
    measure(records.folder)
    [metric] = [each for each in EXCHANGE_METRICS if each.name == name]
    [values] = values_so_far(records.folder, read_plan(records.folder), "s", metric)
    measured = {one.metric.name: one for one in Samples.read(records.folder).measured("s")}
    assert len(values) == 1
    assert values == [pytest.approx(1e9 * measured[name].sample.values[0])]
    assert measured[name].sample.censored == (0,)


RADIO = {"radio": "enc28j60-ethernet"}


@pytest.mark.parametrize("energy", [None, RADIO], ids=["no radio", "a radio"])
def test_slices_give_the_tables_that_the_whole_gives(
    energy: dict[str, Any] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trial at a time, or with a radio a scenario, whose day is that of its trials together."""
    records = Records(tmp_path / "campaign", {"s": {}, "t": {}})
    for index, scenario in enumerate(("s", "t", "s", "t")):
        name = records.trial(scenario, [exchange(0), exchange(1)], [flow(40_000, bytes=[700 + index, 300])])
        records.radio[name] = [
            {"at_ns": START + at * MS, "uplink": True, "size_bytes": 100, "client_port": 40_000} for at in (0, 30)
        ]
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish(energy=energy)))
    whole = build(records.folder)
    monkeypatch.setattr(parts, "SLICE_ROWS", 1)
    made: list[str] = []
    write = parts.parts_written

    def written(every: Iterable[pl.DataFrame], path: Path) -> AbstractContextManager[None]:
        held = list(every)
        made.extend("".join(part["scenario"]) for part in held)
        return write(held, path)

    monkeypatch.setattr(parts, "parts_written", written)
    measure(records.folder)
    assert made == (["ssss", "tttt"] if energy else ["ss", "ss", "tt", "tt"])
    for ours, theirs in zip(build(records.folder), whole, strict=True):
        assert ours.equals(theirs)
    assert whole.exchanges["scenario"].to_list() == ["s"] * 4 + ["t"] * 4
    assert whole.trials["scenario"].to_list() == ["s", "t", "s", "t"]


def test_a_trial_that_cannot_be_read_leaves_the_tables_as_they_were(
    records: Records, built: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        records.trial("s", [exchange()])
    built(records)
    measure(records.folder)
    before = (records.folder / "exchanges.parquet").read_bytes()
    monkeypatch.setattr(parts, "SLICE_ROWS", 1)
    read = parts.recorded_exchanges

    def torn(campaign: Path, trials: list[str]) -> pl.DataFrame:
        if trials == ["trial-1"]:
            raise WirelabError("torn since")
        return read(campaign, trials)

    monkeypatch.setattr(parts, "recorded_exchanges", torn)
    with pytest.raises(WirelabError, match=r"^error: torn since$"):
        measure(records.folder)
    assert (records.folder / "exchanges.parquet").read_bytes() == before
    assert not list(records.folder.glob("*.new"))


def test_exchanges_take_their_place_with_the_trials(
    records: Records, built: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New exchanges next to old trials would be counted wrongly."""
    records.trial("s", [exchange()])
    built(records)
    measure(records.folder)
    before = [(records.folder / name).read_bytes() for name in ("exchanges.parquet", "trials.parquet")]
    records.trial("s", [exchange()])
    records.finish()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(parts, "measure_settings", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure(records.folder)
    assert [(records.folder / name).read_bytes() for name in ("exchanges.parquet", "trials.parquet")] == before
