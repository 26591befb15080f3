"""Scenarios that were offered more than was served, and what limits them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.asked import ask, facts_of_plan
from tests.metrics.test_offered import ORIGIN, message, one_place
from tests.synthetic import write_campaign
from wirelab.claims.grade import Grades
from wirelab.metrics.tables import write_table
from wirelab.schema import LinkSpec
from wirelab.schema.estimates import AnalysedScenario, Estimates, OfferedRecord
from wirelab.stats.analyze import analyze
from wirelab.stats.dataset import Dataset
from wirelab.stats.machine.offered import overload_words, overloads

MS = 10**6
TRIALS = 3
FIXED = {"arrival": {"process": "fixed", "rate_hz": 50.0}, "exchanges": 50}
IDLE = {
    **{f"{role}_cpu_ns": 30 * MS for role in ("client", "server")},
    **{f"{role}_cpu_idle_ns": 10 * MS for role in ("client", "server")},
    **{f"{role}_run_delay_ns": MS for role in ("client", "server")},
}
Rows = list[dict[str, Any]]


def campaign(
    folder: Path,
    *rows: Rows,
    workload: dict[str, Any] | None = None,
    trials: int = TRIALS,
    scenario: dict[str, Any] | None = None,
    **columns: int | None,
) -> Path:
    """A campaign of a protocol for each of `rows`, whose trials all have these messages; its trials' other columns."""
    protocols = ("http1", "h2", "h3")[: len(rows)]
    write_campaign(folder, protocols=protocols, links=("lossless",), uploads=("30 B",), trials=trials, exchanges=20)
    document = json.loads((folder / "plan.json").read_text())
    for each in document["scenarios"]:
        each.update(scenario or {})
        each["workload"] |= {**FIXED, **(workload or {})}
        if each["workload"]["kind"] == "pubsub":
            names = ("kind", "message_bytes", "messages", "subscribers", "timeout_ns", "arrival")
            each["workload"] = {name: each["workload"][name] for name in names}
    document["link_facts"] = facts_of_plan(document, ask)
    (folder / "plan.json").write_text(json.dumps(document))
    table = pl.read_parquet(folder / "exchanges.parquet")
    kept = ["trial", "scenario", "block", "replicate", "lane"]
    whose = dict(zip([each["key"] for each in document["scenarios"]], rows, strict=True))
    made = [
        {**trial, **row, "end_to_end_delay_ns": row["end_ns"] - row["intended_start_ns"]}
        for trial in table.select(kept).unique(maintain_order=True).to_dicts()
        for row in whose[trial["scenario"]]
    ]
    pl.DataFrame(made, schema={**table.schema, "copies": pl.Int64}).pipe(write_table, folder / "exchanges.parquet")
    path = folder / "trials.parquet"
    spans = {key: max(row["end_ns"] for row in mine) - ORIGIN for key, mine in whose.items()}
    values = {**IDLE, **columns}
    given = [pl.lit(value, dtype=pl.Int64).alias(name) for name, value in values.items()]
    span = pl.col("scenario").replace_strict(spans, return_dtype=pl.Int64).alias("exchanges_ns")
    pl.read_parquet(path).with_columns(span, *given).pipe(write_table, path)
    return folder


def analysed(folder: Path, *rows: Rows, **given: Any) -> Estimates:
    return analyze(campaign(folder, *rows, **given))


def scenarios(folder: Path, *rows: Rows, **given: Any) -> list[AnalysedScenario]:
    return analysed(folder, *rows, **given)["scenarios"]


def offered(folder: Path, rows: Rows, **given: Any) -> OfferedRecord:
    [one] = scenarios(folder, rows, **given)
    return one["offered"]


FULL = one_place(50, 20, 102)
"""50 messages a second, one at a time."""
INSIDE = [message(i, 20 * i, 20 * i, 102 * (i + 1)) for i in range(50)]
"""The same, of a client that has places enough."""


def test_a_server_at_its_limit_is_named_with_both_rates(tmp_path: Path) -> None:
    # It computes for 4.9 s of the 5.1 s.
    found = offered(tmp_path, INSIDE, workload={"concurrency": 50}, server_cpu_ns=4_910 * MS)
    assert (found["keeps_up"], found["limit"], found["flag"]) == (False, "server", "good")
    assert overload_words(found) == "50 /s offered, 9.8 /s served (the server used 96% of a CPU)"
    assert found["ends"]["server"]["cpu"] == pytest.approx(4.9 / 5.1)


def test_a_long_delay_is_not_an_overload(tmp_path: Path) -> None:
    rows = [message(i, 200 * i, 200 * i, 200 * i + 2_000) for i in range(20)]
    found = offered(tmp_path, rows)
    assert (found["keeps_up"], found["limit"], found["why"]) == (True, "none", "")
    assert found["offered_hz"] == found["served_hz"] == pytest.approx(5)
    assert "growth" not in found


def test_a_late_generator_makes_the_cell_unusable(tmp_path: Path) -> None:
    rows = [message(i, 20 * i, 100 * i, 100 * i + 10, place_ns=ORIGIN) for i in range(20)]
    found = offered(tmp_path, rows)
    assert (found["limit"], found["flag"]) == ("client", "unusable")
    assert found["why"] == "the client began messages late with a free place, 100% of the growth"
    assert found["cure"] is not None
    assert "--jobs" in found["cure"]


def test_a_full_set_of_places_is_distinguished_from_a_busy_server(tmp_path: Path) -> None:
    idle = offered(tmp_path / "idle", FULL)
    assert (idle["limit"], idle["flag"], idle["cure"]) == ("places", "good", "raise workload.concurrency to 6")
    assert overload_words(idle) == "50 /s offered, 9.8 /s served (at most 1 message at a time, each takes 102 ms)"
    busy = offered(tmp_path / "busy", FULL, server_cpu_ns=5_000 * MS)
    assert busy["limit"] == "server"
    several = offered(tmp_path / "several", FULL, workload={"concurrency": 4, "clients": 2})
    assert several["why"].startswith("at most 4 messages at a time of each client, each takes ")


def test_a_busy_client_makes_the_cell_unusable_unless_its_host_is_slow_on_purpose(tmp_path: Path) -> None:
    found = offered(tmp_path / "busy", FULL, client_cpu_ns=5_000 * MS)
    assert (found["limit"], found["flag"], found["why"]) == ("client", "unusable", "the client used 98% of a CPU")
    slow = offered(tmp_path / "slow", FULL, client_cpu_ns=500 * MS, scenario={"cpu": {"client": 0.1}})
    assert (slow["limit"], slow["flag"], slow["cure"]) == ("client", "good", None)


@pytest.mark.parametrize(("starved", "other"), [("client", "server"), ("server", "client")])
def test_an_endpoint_without_a_cpu_makes_the_cell_unusable(starved: str, other: str, tmp_path: Path) -> None:
    found = offered(tmp_path, FULL, **{f"{starved}_run_delay_ns": 3_000 * MS, f"{other}_run_delay_ns": 1_000 * MS})
    assert (found["limit"], found["flag"]) == (starved, "unusable")
    assert found["why"].startswith(f"the {starved} waited for a CPU: endpoints waited ")


def test_messages_that_wait_for_each_other_are_the_protocols_limit(tmp_path: Path) -> None:
    connection = {"policy": "persistent", "connections": 1}
    found = offered(tmp_path, INSIDE, workload={"concurrency": 50, "connection": connection})
    assert found["limit"] == "protocol"
    assert found["why"] == "messages wait for each other on 1 persistent connection, and the server used 0% of a CPU"
    assert found["growth"] == {"places": pytest.approx(0), "late": pytest.approx(0), "inside": pytest.approx(1)}


@pytest.mark.parametrize("concurrency", [1, 10])
def test_more_places_do_not_help_a_connection_that_carries_one_message_at_a_time(
    concurrency: int, tmp_path: Path
) -> None:
    work = {"concurrency": concurrency, "connection": {"policy": "persistent", "connections": 1}}
    http, coap = (
        offered(tmp_path / name, FULL, workload=work, scenario=scenario)
        for name, scenario in {
            "http1": {"protocol": "http1"},
            "coap": {"protocol": "coap", "settings": {"nstart": 1}},
        }.items()
    )
    assert http["limit"] == coap["limit"] == "protocol"
    assert overload_words(http) == (
        "50 /s offered, 9.8 /s served (at most 1 message at a time on 1 persistent connection)"
    )
    places = ", and raise workload.concurrency to 6" * (concurrency == 1)
    assert http["cure"] == f"more connections: workload.connection = {{ persistent = 6 }}{places}"
    assert coap["cure"] == f"raise protocols.coap.nstart to 6{places}"
    wide = offered(tmp_path / "wide", FULL, workload=work, scenario={"protocol": "coap", "settings": {"nstart": 20}})
    assert wide["limit"] == "places"


@pytest.mark.parametrize(("connections", "took_ms", "enough"), [(1, 40, 3), (1, 100, 6), (2, 100, 11), (3, 100, 16)])
def test_so_many_connections_are_proposed_that_they_serve_what_is_offered_and_some_more(
    connections: int, took_ms: int, enough: int, tmp_path: Path
) -> None:
    """One that takes 40 ms serves 25 of 50 messages a second, and two would serve exactly what is offered."""
    policy = {"policy": "persistent", "connections": connections}
    rows = one_place(50, 20, took_ms)
    found = offered(tmp_path, rows, workload={"concurrency": 50, "connection": policy}, scenario={"protocol": "http1"})
    assert found["cure"] == f"more connections: workload.connection = {{ persistent = {enough} }}"


def test_the_nstart_of_each_connection_is_raised(tmp_path: Path) -> None:
    work = {"concurrency": 4, "connection": {"policy": "persistent", "connections": 2}}
    found = offered(tmp_path, FULL, workload=work, scenario={"protocol": "coap", "settings": {"nstart": 2}})
    assert found["cure"] == "raise protocols.coap.nstart to 11, and raise workload.concurrency to 22"


def test_a_link_at_its_rate_is_the_limit(tmp_path: Path) -> None:
    rate = {"kind": "rate", "rate_bps": 100_000, "queue": {"discipline": "drop-tail", "bytes": 10**6}}
    link = LinkSpec.model_validate({"uplink": [rate], "downlink": []}).to_json()
    # 100 kbit/s for 5.1 s are 63,750 bytes.
    found = offered(tmp_path, INSIDE, scenario={"link": link}, up_received=100, up_received_bytes=62_000)
    assert (found["limit"], found["why"]) == ("link", "the uplink got 97% of what its rate carries")


def test_a_limit_that_nothing_shows_is_not_known(tmp_path: Path) -> None:
    half = offered(tmp_path / "half", INSIDE, workload={"concurrency": 50}, server_cpu_ns=3_500 * MS)
    assert (half["limit"], half["why"]) == ("not known", "what limits it is not known: the server used 68% of a CPU")
    silent = offered(tmp_path / "silent", [{**row, "place_ns": None} for row in FULL])
    assert silent["limit"] == "not known"
    assert silent["why"].endswith(": the client does not say when a place was free")


def test_under_the_virtual_clock_no_endpoint_limits(tmp_path: Path) -> None:
    cpu: dict[str, Any] = dict.fromkeys(IDLE)
    found = offered(tmp_path, INSIDE, scenario={"clock": "virtual"}, workload={"concurrency": 50}, **cpu)
    assert (found["limit"], found["ends"]["server"]) == ("protocol", {"cpu": None, "waited": None})
    assert found["why"].endswith("and the server computes in no time")


def test_messages_that_are_published_late_are_the_servers_limit(tmp_path: Path) -> None:
    workload = {"kind": "pubsub", "message_bytes": 30, "messages": 50, "subscribers": 1, "timeout_ns": 10**10}
    rows = [message(i, 20 * i, 100 * i, 100 * i + 10, place_ns=None, copies=1) for i in range(50)]
    found = offered(tmp_path, rows, workload=workload)
    assert (found["limit"], found["why"]) == ("server", "messages were published late")


def test_one_trial_is_judged_by_its_own_interval_and_two_by_each(tmp_path: Path) -> None:
    one = offered(tmp_path / "one", FULL, trials=1)
    assert (one["keeps_up"], one["slope"]["n"]) == (False, 50)
    assert "within one trial" in one["slope"]["method"]
    assert not offered(tmp_path / "two", FULL, trials=2)["keeps_up"]


@pytest.mark.parametrize("arrival", [{"process": "closed"}, {"process": "idle-start", "interval_ns": 600 * 10**9}])
def test_a_closed_loop_and_an_idle_start_offer_nothing(arrival: dict[str, Any], tmp_path: Path) -> None:
    [found] = scenarios(tmp_path, FULL, workload={"arrival": arrival})
    assert "offered" not in found


def test_rates_are_in_a_unit_for_people(tmp_path: Path) -> None:
    hourly = [message(i, 600_000 * i, 600_000 * i, 600_000 * i + 3_000) for i in range(20)]
    assert overload_words(offered(tmp_path, hourly)) == "6 /h offered, 6 /h served"


def test_nothing_is_compared_with_an_overloaded_scenario(tmp_path: Path) -> None:
    quick = [message(i, 20 * i, 20 * i, 20 * i + 40) for i in range(50)]
    slower = [message(i, 20 * i, 20 * i, 20 * i + 60) for i in range(50)]
    found = analysed(tmp_path, FULL, quick, slower)
    slow, *others = found["scenarios"]
    assert {side for each in found["comparisons"] for side in (each["a"], each["b"])} == {s["key"] for s in others}
    assert list(overloads(found["scenarios"])) == [slow["key"]]
    assert any(note.startswith("More was offered than was served in 1 of 3 scenarios: ") for note in found["notes"])
    grades = Grades.of(Dataset.read(tmp_path), found)
    why = grades.overload(slow["key"], "end-to-end-delay")
    assert why == f"more was offered than was served: {overload_words(slow['offered'])}"
    assert grades.overload(slow["key"], "wire-up-bytes") is None, "bytes do not grow"
    assert grades.overload(others[0]["key"], "end-to-end-delay") is None
