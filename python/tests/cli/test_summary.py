"""A campaign's answer for the terminal."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from tests.documents import whole_estimates, whole_plan
from tests.report import campaigns
from tests.synthetic import write_campaign
from wirelab.cli import summary
from wirelab.metrics.tables import write_table
from wirelab.report.campaign import load
from wirelab.report.grade import graded, reasons
from wirelab.stats.analyze import analyze


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two protocols, of which h2 never answers in time."""
    folder = tmp_path_factory.mktemp("c")
    write_campaign(folder, protocols=("h2", "h3"), links=("random",), uploads=("30 B",), trials=5, exchanges=6)
    scenarios = json.loads((folder / "plan.json").read_text())["scenarios"]
    is_late = pl.col("scenario") == next(s["key"] for s in scenarios if s["protocol"] == "h2")
    names = ("end_to_end_delay_ns", "response_time_ns", "response_time_curl_ns")
    pl.read_parquet(folder / "exchanges.parquet").with_columns(
        pl.when(is_late).then(pl.lit("timed-out")).otherwise("outcome").alias("outcome"),
        *(pl.when(~is_late).then(pl.col(name)).alias(name) for name in names),
    ).pipe(write_table, folder / "exchanges.parquet")
    analyze(folder)
    return folder


def test_the_lowest_delay_comes_first_and_a_protocol_without_answers_last(campaign: Path) -> None:
    table, why = summary.tables(load(campaign, campaign))
    _, first, last = table.splitlines()
    assert first.startswith("h3")
    assert first.endswith("30/30")
    assert last.split()[:4] == ["h2", "above", "the", "timeout"]
    assert "p95" not in table
    assert "p95 needs 100 values or more" in why.splitlines()
    assert "– bytes on the wire of h2: no exchange completed" in why.splitlines()
    assert "– bytes on the wire of h3: not counted for this protocol" in why.splitlines()
    assert last.endswith("0/30")


def test_failed_trials_alone_are_the_reason_of_every_dash(campaign: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    shutil.copytree(campaign, folder)
    plan = json.loads((folder / "plan.json").read_text())
    for scenario in plan["scenarios"]:
        scenario["implementation"] = {"client": "curl", "server": "builtin"}
    (folder / "plan.json").write_text(json.dumps(plan))
    late = next(each["key"] for each in plan["scenarios"] if each["protocol"] == "h2")
    estimates = json.loads((folder / "estimates.json").read_text())
    [failed] = [each for each in estimates["scenarios"] if each["key"] == late]
    failed["metrics"] = {}
    failed["denominators"] |= {
        "exchanges": 0, "timed-out": 0, "failed_trials": 5, "exchanges_of_failed_trials": 30,
    }  # fmt: skip
    (folder / "estimates.json").write_text(json.dumps(estimates))
    table, why = summary.tables(load(folder, folder))
    assert table.splitlines()[-1].endswith("0/0, 30 in failed trials")
    reasons = [line for line in why.splitlines() if "h2" in line]
    assert reasons == [
        f"– {what} of h2: no trial of this scenario was analysed" for what in ("median", "bytes on the wire")
    ]


def test_without_the_percentile_that_ranks_the_summary_says_why(campaign: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    shutil.copytree(campaign, folder)
    estimates = json.loads((folder / "estimates.json").read_text())
    (folder / "estimates.json").write_text(json.dumps(estimates | {"statistic": "p95"}))
    _, why = summary.tables(load(folder, folder))
    assert "– p95 of h2, h3: it has 30 of the 100 values that it needs" in why.splitlines()


def test_with_one_protocol_each_scenario_is_a_row(tmp_path: Path) -> None:
    write_campaign(tmp_path, protocols=("h3",), links=("lossless", "random"), uploads=("30 B",), trials=5, exchanges=6)
    analyze(tmp_path)
    table, *_ = summary.tables(load(tmp_path, tmp_path))
    head, *rows = table.splitlines()
    assert head.startswith("h3 ")
    assert [row.split()[0] for row in rows] == ["lossless", "random"]


def test_a_protocol_in_one_scenario_only_does_not_split_the_table(tmp_path: Path) -> None:
    links = tuple(f"l{number:02}" for number in range(30))
    folder = campaigns.write(tmp_path, protocols=("h2", "h3"), links=links)
    plan = campaigns.read(folder, "plan.json")
    kept = [each for each in plan["scenarios"] if (each["protocol"] == "h3") == (each["link_name"] == "l20")]
    keys = {each["key"] for each in kept}
    plan["scenarios"] = kept
    for block in plan["blocks"]:
        block["trials"] = [trial for trial in block["trials"] if trial["scenario"] in keys]
    campaigns.store(folder, "plan.json", plan)
    tables = [table.splitlines() for table in summary.tables(load(folder, folder)) if "median" in table]
    heads, rows = [table[0].split()[0] for table in tables], [len(table) - 1 for table in tables]
    assert (heads, rows) == (["h2", "l20", "h2"], [20, 1, 9])


@pytest.mark.parametrize(
    ("metric", "column", "value", "words"),
    [
        ("wire-up-bytes", "wire_up_bytes", 1000.0, "1,002.5 B"),
        ("throughput", "throughput_bps", 2e6, "2,005 kbit/s"),
        ("retransmissions", "retransmissions", 2.0, "2.005 ["),
    ],
)
def test_a_headline_metric_that_is_not_a_time_has_its_own_unit(
    tmp_path: Path, metric: str, column: str, value: float, words: str
) -> None:
    write_campaign(tmp_path, protocols=("h2",), links=("random",), uploads=("30 B",), trials=5, exchanges=6)
    plan = json.loads((tmp_path / "plan.json").read_text())
    plan["experiment"]["metric"] = metric
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    rows = pl.read_parquet(tmp_path / "exchanges.parquet")
    values = (value * (1 + pl.col("index") * 0.001)).alias(column)
    rows.with_columns(values).pipe(write_table, tmp_path / "exchanges.parquet")
    analyze(tmp_path)
    table, *_ = summary.tables(load(tmp_path, tmp_path))
    assert words in table
    assert " ms" not in table


def test_a_netem_link_has_no_delay_error_in_the_summary(tmp_path: Path) -> None:
    write_campaign(tmp_path, protocols=("h2",), links=("random",), uploads=("30 B",), trials=5, exchanges=6)
    plan = json.loads((tmp_path / "plan.json").read_text())
    for scenario in plan["scenarios"]:
        scenario["link"]["backend"] = "netem"
    (tmp_path / "plan.json").write_text(json.dumps(whole_plan(plan)))
    analyze(tmp_path)
    estimates = json.loads((tmp_path / "estimates.json").read_text())
    [row, _] = estimates["links"]
    assert (row["backend"], row["flag"]) == ("netem", "good")
    assert (
        row["why"]
        == "loss is as configured, by netem's counters; its delays are for the probes to judge: it keeps no log"
    )
    assert row["measured"]["delay_error_s"] == {"p50": None, "p99": None, "max": None}
    assert row["measured"]["loss"]["point"] is not None
    assert estimates["replay"] is None
    assert (
        summary.link_line(load(tmp_path, tmp_path))
        == "link   run by netem, which keeps no log  quality good in 1 of 1 scenario"
    )


def test_the_worst_link_direction_is_shown_with_the_reports_quality(campaign: Path) -> None:
    line, *why = summary.link_line(load(campaign, campaign)).splitlines()
    assert line.startswith("link   configured 10 ms, measured 10.00")
    assert line.endswith(f"  quality {graded(load(campaign, campaign))}")
    assert why == [f"       {reason}" for reason in reasons(load(campaign, campaign).estimates)]


def test_cpu_contention_lowers_the_quality_with_a_fix(campaign: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(campaign, tmp_path / "starved")
    estimates = json.loads((folder / "estimates.json").read_text())
    first, second = estimates["scenarios"]
    first["endpoints"] = {"flag": "unusable", "share": 0.2, "why": "endpoints waited 6 ms", "cure": "wait"}
    second["endpoints"] = {"flag": "unusable", "share": 0.3, "why": "endpoints waited 7.5 ms", "cure": "rest"}
    (folder / "estimates.json").write_text(json.dumps(whole_estimates(estimates)))
    line, *why = summary.link_line(load(folder, folder)).splitlines()
    assert line.endswith("  quality good in 0 of 2 scenarios, else at worst unusable (the machine, not the link)")
    reported = "endpoints waited 7.5 ms; rest"
    assert why[0] == f"       unusable, the machine: {second['name']} and 1 other scenario: {reported}."
    assert sum("endpoints waited" in reason for reason in why) == 1


def test_reasons_beyond_the_first_few_are_counted(campaign: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(campaign, tmp_path / "many")
    estimates = json.loads((folder / "estimates.json").read_text())
    [link, _] = estimates["links"]
    estimates["links"] = [link | {"flag": "unusable", "why": f"reason {letter}"} for letter in "abcd"]
    (folder / "estimates.json").write_text(json.dumps(estimates))
    assert summary.link_line(load(folder, folder)).splitlines()[-1] == "       1 more reason is in the report"


def test_a_quick_run_is_not_conclusive_on_the_terminal_either(campaign: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(campaign, tmp_path / "preview")
    plan = json.loads((folder / "plan.json").read_text())
    plan["experiment"]["preview"] = {"budget_ns": 1, "replicates": [5, 2], "exchanges": [100, 5]}
    (folder / "plan.json").write_text(json.dumps(plan))
    assert summary.link_line(load(folder, folder)).splitlines()[0].endswith("  quick run, not conclusive")


def test_the_quality_counts_the_scenarios_that_are_good(campaign: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(campaign, tmp_path / "half")
    estimates = json.loads((folder / "estimates.json").read_text())
    first, _ = estimates["scenarios"]
    for row in estimates["links"]:
        row["flag"] = "good"
    first["endpoints"] = {"flag": "limited", "share": 0.2, "why": "endpoints waited 6 ms", "cure": "wait"}
    (folder / "estimates.json").write_text(json.dumps(whole_estimates(estimates)))
    line, *_ = summary.link_line(load(folder, folder)).splitlines()
    assert line.endswith("  quality good in 1 of 2 scenarios, else at worst limited (the machine, not the link)")


def test_a_scenario_without_results_has_no_quality_of_its_own(campaign: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(campaign, tmp_path / "half")
    estimates = json.loads((folder / "estimates.json").read_text())
    del estimates["scenarios"][0]
    for row in estimates["links"]:
        row["flag"] = "good"
    (folder / "estimates.json").write_text(json.dumps(whole_estimates(estimates)))
    assert graded(load(folder, folder)) == "good in 1 of 1 scenario"
    estimates["scenarios"].clear()
    (folder / "estimates.json").write_text(json.dumps(whole_estimates(estimates)))
    assert graded(load(folder, folder)) == "good"


def test_encrypted_and_unencrypted_protocols_have_tables_of_their_own(tmp_path: Path) -> None:
    folder = campaigns.write(tmp_path, protocols=("http1", "coap", "https1", "h2"), links=("clean",))
    tables = [table.splitlines() for table in summary.tables(load(folder, folder)) if "median" in table]
    assert [table[0].split("  ")[0] for table in tables] == ["clean, encrypted", "clean, unencrypted"]
    assert [[row.split()[0] for row in table[1:]] for table in tables] == [["https1", "h2"], ["http1", "coap"]]
    head = tables[0][0].split("  end-to-end delay: ")[1]
    assert head.split() == ["median", "[95", "%]", "p95", "bytes", "on", "the", "wire", "completed", "/", "attempted"]


def test_a_statistic_without_an_interval_has_the_reason_and_the_number_of_values(tmp_path: Path) -> None:
    folder = campaigns.write(tmp_path, protocols=("http1", "coap"), links=("clean",))
    estimates = campaigns.read(folder, "estimates.json")
    without = {"low": None, "high": None, "n": 5, "method": "no interval: too few values or trials"}
    for scenario in estimates["scenarios"]:
        scenario["metrics"]["end-to-end-delay"]["median"] |= without
    campaigns.store(folder, "estimates.json", estimates)
    *_, why = summary.tables(load(folder, folder))
    assert why == "no interval of the median of http1, coap: too few values or trials (n = 5)"


def test_without_an_exchange_nothing_can_be_shown_and_an_error_that_all_have_is_named(tmp_path: Path) -> None:
    campaigns.write(tmp_path)
    estimates = campaigns.read(tmp_path, "estimates.json")
    assert "show" in summary.next_commands(load(tmp_path, tmp_path), tmp_path)
    for scenario in estimates["scenarios"]:
        scenario["denominators"] |= {"exchanges": 0, "completed": 0, "failed": 0}
        scenario["metrics"] = {}
    campaigns.store(tmp_path, "estimates.json", estimates)
    rows = pl.read_parquet(tmp_path / "exchanges.parquet").with_columns(error=pl.lit("status 404"))
    write_table(rows, tmp_path / "exchanges.parquet")
    found = load(tmp_path, tmp_path)
    assert summary.next_commands(found, tmp_path) == f"Next    look at the records of the trials: {tmp_path / 'trials'}"
    assert "(status 404)" in "\n".join(summary.tables(found))
