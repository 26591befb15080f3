"""`wirelab analyze` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import wirelab.data
from tests.metrics.records import START, Records, exchange, flow
from tests.synthetic import write_campaign
from wirelab.cli import main
from wirelab.schema.campaign import read_plan
from wirelab_energy import load_device

CLAIMS = Path(str(wirelab.data.__file__)).parent / "experiments" / "milosevic2021.claims.toml"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("c")
    return write_campaign(folder, uploads=("30 B",), trials=3, exchanges=5, claims=str(CLAIMS))


def test_medians_verdicts_and_the_next_command_are_printed(campaign: Path) -> None:
    result = CliRunner().invoke(main, ["analyze", str(campaign)])
    assert result.exit_code == 0
    assert "median [95 %]" in result.stdout
    assert "\nM14 " in result.stdout
    assert "14 claims" in result.stdout
    assert f"wirelab report {campaign}" in result.stderr


def test_another_statistic_ranks_in_the_table_the_estimates_and_the_report(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, uploads=("30 B",), trials=6, exchanges=20)
    for by in ("p90", "mean"):
        result = CliRunner().invoke(main, ["analyze", str(folder), "--by", by])
        assert result.exit_code == 0, result.output
        assert f"{by} [95 %]" in result.stdout
        estimates = json.loads((folder / "estimates.json").read_text())
        assert estimates["statistic"] == by
        assert all(("ratio_of_percentiles" in each) == (by == "p90") for each in _headline(estimates))
    assert CliRunner().invoke(main, ["report", str(folder), "--by", "p90"]).exit_code == 0
    page = (folder / "report.html").read_text()
    assert "90th percentile" in page
    assert CliRunner().invoke(main, ["report", str(folder)]).exit_code == 0
    assert json.loads((folder / "estimates.json").read_text())["statistic"] == "p90"
    assert read_plan(folder).experiment.statistic == "median"


def _headline(estimates: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in estimates["comparisons"] if each["metric"] == estimates["metric"]]


def test_a_percentile_of_too_few_values_does_not_rank(campaign: Path) -> None:
    result = CliRunner().invoke(main, ["analyze", str(campaign), "--by", "p99"])
    assert result.exit_code == 2
    assert "the p99 needs 1,000 values of each scenario, and one has at most 15" in result.stderr
    assert "hint: an inner percentile such as p75, or the median" in result.stderr


def test_json_is_the_only_output_on_stdout(campaign: Path) -> None:
    result = CliRunner().invoke(main, ["analyze", str(campaign), "--json"])
    printed = json.loads(result.stdout)
    assert printed["estimates"] == json.loads((campaign / "estimates.json").read_text())
    assert printed["verdicts"] == json.loads((campaign / "verdicts.json").read_text())


def test_verdicts_are_removed_if_the_experiment_has_no_claims(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, protocols=("h2",), links=("lossless",), uploads=("30 B",), trials=2, exchanges=3)
    (folder / "verdicts.json").write_text("{}")
    result = CliRunner().invoke(main, ["analyze", str(folder)])
    assert result.exit_code == 0
    assert not (folder / "verdicts.json").exists()


@pytest.mark.parametrize("verb", ["measure", "analyze", "report", "show"])
def test_every_verb_suggests_run_for_a_campaign_without_trials(tmp_path: Path, verb: str) -> None:
    folder = write_campaign(tmp_path / "c", protocols=("h2",), links=("lossless",), trials=1, exchanges=1)
    for name in ("exchanges.parquet", "trials.parquet"):
        (folder / name).unlink()
    result = CliRunner().invoke(main, [verb, str(folder)])
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == f"hint: wirelab run synthetic --out {folder}"


def test_a_folder_without_a_campaign_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["analyze", str(tmp_path / "none")])
    assert result.exit_code == 2
    assert "no campaign" in result.stderr


def test_analyze_adds_a_radio_that_stays_until_the_next_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = Records(tmp_path / "c", {"s": {"name": "s", "levels": {}, "link_name": "clean", "points": [{}]}})
    for _ in range(2):
        name = records.trial("s", [exchange(0)], [flow(40_000)])
        packet = {"at_ns": START, "uplink": True, "size_bytes": 100, "client_port": 40_000}
        records.radio[name] = [packet]
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    words = ["analyze", str(records.folder), "--radio", "nrf9160-nbiot", "--set", "inactivity=1s", "--json"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    estimates = json.loads(result.stdout)["estimates"]
    assert estimates["energy"]["radios"][0]["radio"]["inputs"]["inactivity"] == "1s"
    assert estimates["scenarios"][0]["metrics"]["radio-energy"]["n"] == 2
    again = CliRunner().invoke(main, ["analyze", str(records.folder), "--json"])
    assert json.loads(again.stdout)["estimates"]["energy"] == estimates["energy"]
    CliRunner().invoke(main, ["measure", str(records.folder)])
    last = CliRunner().invoke(main, ["analyze", str(records.folder), "--json"])
    assert "energy" not in json.loads(last.stdout)["estimates"]


def test_a_campaign_on_the_device_has_processor_energy_if_cpu_time_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = ("reported", "unreported")
    workload = {
        "kind": "request-response", "upload_bytes": 30, "arrival": {"process": "periodic", "interval_ns": 900 * 10**9},
    }  # fmt: skip
    plain = {"levels": {}, "link_name": "l", "points": [{}], "workload": workload}
    records = Records(tmp_path / "c", {key: {"name": key, **plain} for key in keys})
    for key, ready_ns in zip(keys, (1_000_000, None), strict=True):
        name = records.trial(key, [exchange(0)], [flow(40_000)], ready_ns=ready_ns)
        records.radio[name] = [{"at_ns": START, "uplink": True, "size_bytes": 100, "client_port": 40_000}]
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    words = ["analyze", str(records.folder), "--radio", "powerpi-ethernet", "--interval", "15min", "--json"]
    words += ["--battery", "2400 mAh", "--voltage", "5 V", "--measured-on-device"]
    alone = CliRunner().invoke(main, words)
    assert (alone.exit_code, alone.stdout) == (2, "")
    assert alone.stderr.startswith("--measured-on-device: CPU time takes the power of a device, and none is named")
    result = CliRunner().invoke(main, [*words, "--device", "raspberry-pi-3"])
    assert result.exit_code == 0, result.output
    estimates = json.loads(result.stdout)["estimates"]
    reported, unreported = ({**scenario["energy"], **scenario["metrics"]} for scenario in estimates["scenarios"])
    cpu_j = load_device("raspberry-pi-3").cpu_joules(3e-3)
    assert reported["states"]["processor"] == pytest.approx(
        {"seconds": 3e-3, "low": cpu_j.low, "typical": cpu_j.typical, "high": cpu_j.high}
    )
    assert reported["message_j"]["high"] == pytest.approx(reported["radio_j"]["high"] + cpu_j.high)
    assert reported["message-energy"]["mean"]["point"] == pytest.approx(
        reported["radio-energy"]["mean"]["point"] + cpu_j.typical
    )
    assert reported["day_states"]["processor"]["typical"] == pytest.approx(96 * cpu_j.typical)
    assert reported["battery_days"]["typical"] == pytest.approx(2.4 * 5 * 3600 / reported["day_j"]["typical"])
    assert (unreported["message_j"], unreported["day_j"], unreported["battery_days"]) == (None, None, None)
    assert "processor" not in unreported["states"]
    assert unreported["radio_j"] == reported["radio_j"]
    assert (reported["with_cpu_time"], reported["days"]) == ({"exchanges": 1, "trials": 1}, 1)
    assert (unreported["with_cpu_time"], unreported["days"]) == ({"exchanges": 0, "trials": 0}, 0)
    assert estimates["notes"][-1] == (
        "Energy is not measured but modelled, of the packets that flowed and of the client's CPU time: "
        "powerpi-ethernet (unvalidated), raspberry-pi-3 (unvalidated)."
    )


@pytest.mark.parametrize(
    ("arrival", "expected"),
    [
        ({"process": "closed"}, "back to back: no message has a gap behind it"),
        ({"process": "periodic", "interval_ns": 600 * 10**9}, "one message every 10 min"),
    ],
)
def test_an_interval_that_did_not_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arrival: dict[str, Any], expected: str
) -> None:
    workload = {"kind": "request-response", "upload_bytes": 30, "arrival": arrival}
    records = Records(tmp_path / "c", {"s": {"name": "s", "workload": workload}})
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    result = CliRunner().invoke(
        main, ["analyze", str(records.folder), "--radio", "nrf9160-nbiot", "--interval", "15min"]
    )
    assert (result.exit_code, result.stdout) == (2, "")
    hint = "hint: run it again with --set workload.interval=15min"
    assert result.stderr == f"--interval: 15 min, but the campaign ran {expected}\n{hint}\n"


def test_options_of_a_radio_without_one_are_refused(campaign: Path) -> None:
    result = CliRunner().invoke(main, ["analyze", str(campaign), "--measured-on-device"])
    assert (result.exit_code, result.stdout) == (2, "")
    result = CliRunner().invoke(main, ["analyze", str(campaign), "--interval", "15min"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: these options need a radio, and none is given")
