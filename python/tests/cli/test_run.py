"""`wirelab run` on a host that answers in no time: the whole line, without a namespace."""

from __future__ import annotations

import json
import os
import signal
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.metrics.records import exchange
from tests.runner.fakes import FakeHost, addresses, result
from wirelab.agent import find_agent
from wirelab.cli import main
from wirelab.clock.kernel import VARIABLE
from wirelab.errors import RunError
from wirelab.experiment.library import templates
from wirelab.schema import HostFacts, OpenLanes, TrialRequest, TrialResult, TrialStatus

EXPERIMENT = """
title = "Fake"
[factors]
protocol = ["raw-tcp", "http1"]
link = ["clean"]
[links]
clean = { rtt = "20 ms" }
[workload]
kind = "request-response"
exchanges = 40
upload = "30 B"
[stop]
replicates = [5, 9]
interval = "10 % of median"
"""
AGENT = """#!/usr/bin/env python3
import json, os, sys
if sys.argv[1] == "link-facts":
    os.execv("REAL", sys.argv)
if sys.argv[1] == "--version":
    print("wirelab-agent 0.0.0")
for log in sys.argv[4:] if sys.argv[1:3] == ["dissect", "--flows"] else []:
    flow = {"log": log, "transport": "tcp", "client_port": 40000, "packets": [6, 4], "bytes": [300, 200],
            "dropped": [0, 0], "retransmissions": [0, 0]}
    print(json.dumps(flow))
"""


class Lab(FakeHost):
    """Its clients write exchanges: raw-tcp always alike, http1 erratic, so that one alone meets the stopping rule."""

    def __init__(self, *_: Any) -> None:
        super().__init__(self._play)
        self.lanes = 0

    def open(self, lanes: OpenLanes) -> HostFacts:
        self.lanes = lanes.lanes
        return HostFacts(
            kernel="6", cpu="c", cpus=2, memory_bytes=1, rootless=True, link_scheduling="slice", settings={},
            links=addresses().links,
        )  # fmt: skip

    def _play(self, request: TrialRequest, _: int) -> TrialResult:
        number = int(request.trial[-1])
        spread = 1 if request.trial.startswith("raw-tcp") else 10 * 3**number
        client = Path(request.endpoints[1].directory)
        many = json.loads((client / "parameters.json").read_text())["workload"]["exchanges"]
        rows = [exchange(i, local_port=40_000, end_ns=63 + (i * spread) % (7 * spread)) for i in range(many)]
        (client / "exchanges.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert request.packet_log is not None
        request.packet_log.touch()
        return result(request.trial).model_copy(update={"end_ns": 10**12})


@pytest.fixture
def labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Lab]:
    agent = tmp_path / "wirelab-agent"
    agent.write_text(AGENT.replace("REAL", str(find_agent())))
    agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "fake.toml").write_text(EXPERIMENT)
    monkeypatch.setenv("WIRELAB_AGENT", str(agent))
    monkeypatch.chdir(tmp_path)
    made: list[Lab] = []

    def make(*arguments: Any) -> Lab:
        made.append(Lab(*arguments))
        return made[-1]

    monkeypatch.setattr("wirelab.runner.start.AgentHost", make)
    return made


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["run", "--no-probes", *arguments], prog_name="wirelab")


def statuses(folder: Path) -> list[str]:
    return [json.loads(line)["trial"] for line in (folder / "journal.jsonl").read_text().splitlines()]


def test_a_full_run_ends_with_a_table_and_the_reports_path(labs: list[Lab], tmp_path: Path) -> None:
    done = run("fake.toml")
    assert done.exit_code == 0, done.stderr
    assert done.stderr.startswith("2 scenarios, up to 18 trials, about ")
    assert "raw-tcp" in done.stdout
    assert "0 failed" in done.stderr
    assert "Report  results/fake/report.html\n" in done.stdout
    assert "Next    wirelab show results/fake --protocol raw-tcp --slowest\n" in done.stdout
    for name in ("campaign.json", "exchanges.parquet", "estimates.json", "report.html"):
        assert (tmp_path / "results" / "fake" / name).is_file()
    assert labs[0].closed


def test_scenarios_that_cannot_run_are_reported_first_and_the_rest_runs(
    labs: list[Lab], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wirelab.runner.implementations.find_program", lambda _: None)
    done = run("fake.toml", "--set", "protocols.http1.client.implementation=curl")
    reported = "1 of 2 scenarios would fail (http1): curl is not installed; apt install curl\n"
    assert done.stderr.startswith(f"{reported}2 scenarios, ")
    assert any(trial.startswith("raw-tcp") for trial in statuses(tmp_path / "results" / "fake"))


def test_the_stopping_rule_ends_only_finished_scenarios(labs: list[Lab], tmp_path: Path) -> None:
    run("fake.toml")
    ran = [trial.split("-")[0] for trial in statuses(tmp_path / "results" / "fake")]
    assert (ran.count("raw"), ran.count("http1")) == (5, 9)


def test_a_budget_that_ended_a_run_early_is_reported_next_to_the_numbers(labs: list[Lab], tmp_path: Path) -> None:
    file = tmp_path / "fake.toml"
    file.write_text(EXPERIMENT.replace("[5, 9]", "[3, 9]") + 'budget = "1 ms"\n')
    done = run("fake.toml", "--set", "protocol=http1")
    assert done.exit_code == 0, done.stderr
    reported = "The budget of 1 ms ended after block 3 of 9: intervals of 1 of 1 scenario are wider than asked"
    assert reported in done.stdout
    [facts] = json.loads((tmp_path / "results" / "fake" / "campaign.json").read_text())["runs"]
    assert (facts["cut_after_blocks"], facts["cut_scenarios"]) == (3, 1)


def test_a_run_that_cannot_start_leaves_nothing(
    labs: list[Lab], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> HostFacts:
        raise RunError("this kernel has no netem", hint="modprobe sch_netem")

    monkeypatch.setattr(Lab, "open", refuse)
    before = sorted(tmp_path.iterdir())
    done = run("fake.toml")
    assert (done.exit_code, done.stderr.splitlines()[-2:]) == (
        1, ["error: this kernel has no netem", "hint: modprobe sch_netem"],
    )  # fmt: skip
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "results").mkdir()
    run("fake.toml")
    assert list((tmp_path / "results").iterdir()) == []


@pytest.mark.parametrize("out", ["fake.toml/x", "fake.toml/x/y", "/proc/wirelab-campaign"])
def test_an_output_folder_that_cannot_be_made_is_refused_first(out: str, labs: list[Lab], tmp_path: Path) -> None:
    done = run("fake.toml", "--out", out)
    assert (done.exit_code, done.stdout, labs) == (2, "", [])
    refused, hint = done.stderr.splitlines()
    assert refused.startswith(f"{out}: cannot be made: ")
    assert hint == "hint: name another folder with --out"


def test_an_earlier_campaign_stays_if_the_next_run_cannot_start(
    labs: list[Lab], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> HostFacts:
        raise RunError("no lanes")

    run("fake.toml", "--set", "protocol=raw-tcp")
    journal = (tmp_path / "results" / "fake" / "journal.jsonl").read_text()
    monkeypatch.setattr(Lab, "open", refuse)
    for option in ([], ["--fresh"]):
        assert run("fake.toml", "--set", "protocol=raw-tcp", *option).exit_code == 1
        assert [path.name for path in (tmp_path / "results").iterdir()] == ["fake"]
        assert (tmp_path / "results" / "fake" / "journal.jsonl").read_text() == journal


def test_json_is_the_estimates_and_nothing_else(labs: list[Lab]) -> None:
    done = run("fake.toml", "--json", "--set", "protocol=raw-tcp")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["metric"] == "end-to-end-delay"


def test_the_same_command_twice_runs_nothing_new(labs: list[Lab]) -> None:
    run("fake.toml", "--set", "protocol=raw-tcp")
    done = run("fake.toml", "--set", "protocol=raw-tcp")
    assert labs[1].started == []
    assert "5 reused" in done.stderr


def own_protocol(folder: Path) -> None:
    for name, text in templates("protocol").items():
        (folder / name.replace("NAME", "mine")).write_text(text.replace("NAME", "mine"))


def test_a_changed_users_program_is_measured_again_and_the_others_are_reused(labs: list[Lab], tmp_path: Path) -> None:
    own_protocol(tmp_path)
    command = ("experiment.toml", "--set", "protocol=raw-tcp,mine", "--set", "link=clean")
    assert run(*command).exit_code == 0
    assert "changed since" not in run(*command).stderr
    assert labs[1].started == []
    with (tmp_path / "mine_client.py").open("a") as script:
        script.write("# another\n")
    done = run(*command)
    assert "mine-py has changed since the last run" in done.stderr
    assert "5 earlier trials of it do not count" in done.stderr
    assert "5 reused" in done.stderr
    assert {request.trial.split("-")[0] for request in labs[2].started} == {"mine"}
    assert "changed since" not in run(*command).stderr


def test_a_protocol_with_only_failed_trials_fails_the_run_and_can_be_retried(
    labs: list[Lab], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_protocol(tmp_path)
    play = Lab._play

    def without_rows_of_mine(self: Lab, request: TrialRequest, number: int) -> TrialResult:
        done = play(self, request, number)
        if request.trial.startswith("mine"):
            (Path(request.endpoints[1].directory) / "exchanges.jsonl").unlink()
        return done

    monkeypatch.setattr(Lab, "_play", without_rows_of_mine)
    command = ("experiment.toml", "--set", "protocol=http1,mine", "--set", "link=clean")
    done = run(*command)
    assert done.exit_code == 1, done.stderr
    assert (
        "No trial of mine (mine-py) succeeded, so it has no results.\n  Failed: the client wrote no rows" in done.stdout
    )
    for again in (done, run(*command)):
        assert "5 of 10 trials failed; the same command with --retry-failed repeats them" in again.stderr
    monkeypatch.setattr(Lab, "_play", play)
    done = run(*command, "--retry-failed")
    assert done.exit_code == 0, done.stderr
    assert "No trial of" not in done.stdout
    assert "--retry-failed" not in done.stderr


def test_a_program_with_a_changed_version_is_reported(labs: list[Lab], tmp_path: Path) -> None:
    own_protocol(tmp_path)
    entry, version = tmp_path / "implementations.toml", tmp_path / "version"
    command = '["cat", "{{ beside }}/version"]'
    entry.write_text(
        entry.read_text().replace('["{{ python }}", "--version"]', command.replace("{{ beside }}", str(tmp_path)))
    )
    version.write_text("mine 1\n")
    run("experiment.toml", "--set", "protocol=mine")
    version.write_text("mine 2\n")
    done = run("experiment.toml", "--set", "protocol=mine")
    assert "mine-py is now mine 2; earlier trials of this campaign are of mine 1" in done.stderr
    assert "10 reused" in done.stderr


def test_the_options_out_jobs_and_seed_apply(labs: list[Lab], tmp_path: Path) -> None:
    run("fake.toml", "--out", "mine", "--jobs", "3", "--seed", "99", "--set", "protocol=raw-tcp")
    assert labs[0].lanes == 3
    assert json.loads((tmp_path / "mine" / "plan.json").read_text())["seed"] == 99
    assert not (tmp_path / "results").exists()
    refused = run("fake.toml", "--out", "mine", "--set", "protocol=raw-tcp")
    assert refused.exit_code == 2
    assert "mine is a campaign with seed 99, not 1" in refused.stderr


def test_the_command_of_a_campaign_is_recorded_without_the_users_home(
    labs: list[Lab], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["wirelab", "run", f"{tmp_path}/fake.toml"])
    run("fake.toml", "--set", "protocol=raw-tcp")
    facts = json.loads((tmp_path / "results" / "fake" / "campaign.json").read_text())
    assert facts["agent"]["version"] == "wirelab-agent 0.0.0"
    assert facts["host"]["link_scheduling"] == "slice"
    assert facts["command"] == ["wirelab", "run", "~/fake.toml"]
    assert facts["runs"][0]["run"] == 5
    assert facts["runs"][0]["ended"] is not None


CLAIMS = """
paper = "example"
[metrics]
delay = ["end-to-end-delay"]
[grid]
protocol = ["raw-tcp", "http1"]
link = ["clean"]
[[claim]]
id = "C1"
text = "TCP alone is faster"
[[claim.part]]
form = "order"
metric = "delay"
where = { link = "clean" }
ascending = [{ protocol = "raw-tcp" }, { protocol = "http1" }]
"""


def test_a_campaign_is_judged_on_another_machine_by_its_copy_of_the_claims(labs: list[Lab], tmp_path: Path) -> None:
    file = tmp_path / "fake.toml"
    file.write_text('claims = "fake.claims.toml"' + EXPERIMENT)
    (tmp_path / "fake.claims.toml").write_text(CLAIMS)
    done = run("fake.toml")
    assert done.exit_code == 0, done.stderr
    assert "Of 1 published claim" in done.stdout
    verdicts = json.loads((tmp_path / "results" / "fake" / "verdicts.json").read_text())
    moved = (tmp_path / "results" / "fake").rename(tmp_path / "moved")
    (tmp_path / "fake.claims.toml").unlink()
    (moved / "verdicts.json").unlink()
    assert CliRunner().invoke(main, ["analyze", str(moved)]).exit_code == 0
    assert json.loads((moved / "verdicts.json").read_text()) == verdicts
    assert str(tmp_path) not in (moved / "plan.json").read_text()


def test_claims_that_were_changed_after_the_first_run_are_reported(labs: list[Lab], tmp_path: Path) -> None:
    (tmp_path / "fake.toml").write_text('claims = "fake.claims.toml"' + EXPERIMENT)
    (tmp_path / "fake.claims.toml").write_text(CLAIMS)
    assert "claims were changed" not in run("fake.toml").stderr
    assert "claims were changed" not in run("fake.toml").stderr
    (tmp_path / "fake.claims.toml").write_text(CLAIMS + "# and more\n")
    assert "the claims were changed after this campaign started" in run("fake.toml").stderr
    digests = [r["claims_sha256"] for r in json.loads((tmp_path / "results/fake/campaign.json").read_text())["runs"]]
    assert digests[0] == digests[1] != digests[2]


def test_nothing_starts_for_wrong_claims(labs: list[Lab], tmp_path: Path) -> None:
    (tmp_path / "fake.toml").write_text('claims = "fake.claims.toml"' + EXPERIMENT)
    (tmp_path / "fake.claims.toml").write_text(CLAIMS.replace('form = "order"', 'form = "oder"'))
    done = run("fake.toml")
    assert done.exit_code == 2
    assert "fake.claims.toml:12:1" in done.stderr
    assert labs == []


def test_a_campaign_runs_its_own_copy_of_the_agent(labs: list[Lab], tmp_path: Path) -> None:
    assert run("fake.toml", "--set", "protocol=raw-tcp").exit_code == 0
    own = tmp_path / "results" / "fake" / "wirelab-agent"
    assert {Path(process.command[0]) for request in labs[0].started for process in request.endpoints} == {own}
    assert not own.exists()


def test_a_quick_run_does_not_touch_the_full_campaign(labs: list[Lab], tmp_path: Path) -> None:
    run("fake.toml", "--set", "protocol=raw-tcp")
    plan = (tmp_path / "results" / "fake" / "plan.json").read_text()
    done = run("fake.toml", "--set", "protocol=raw-tcp", "--budget", "1ms")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "results" / "fake" / "plan.json").read_text() == plan
    preview = json.loads((tmp_path / "results" / "fake-preview" / "plan.json").read_text())
    assert preview["experiment"]["preview"]["budget_ns"] == 10**6


def test_termination_ends_a_run_as_ctrl_c_does(labs: list[Lab], monkeypatch: pytest.MonkeyPatch) -> None:
    def terminated(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Lab, "_play", terminated)
    before = signal.getsignal(signal.SIGTERM)
    done = run("fake.toml", "--set", "protocol=raw-tcp", "--jobs", "2")
    assert done.exit_code == 130
    assert "stopped after 0 of 9 trials" in done.stderr
    assert signal.getsignal(signal.SIGTERM) is before
    assert labs[0].closed


def test_a_run_without_any_finished_trial_fails(labs: list[Lab], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lab, "_play", lambda _, request, __: result(request.trial, TrialStatus.FAILED))
    done = run("fake.toml", "--set", "protocol=raw-tcp")
    assert done.exit_code == 1
    assert "raw-tcp: failed: because" in done.stderr


def test_some_failed_trials_are_counted_and_do_not_fail_the_run(
    labs: list[Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    play = Lab._play

    def fail_the_first(self: Lab, request: TrialRequest, number: int) -> TrialResult:
        done = play(self, request, number)
        return result(request.trial, TrialStatus.FAILED) if request.trial.endswith("-0000") else done

    monkeypatch.setattr(Lab, "_play", fail_the_first)
    done = run("fake.toml", "--set", "protocol=raw-tcp")
    assert done.exit_code == 0, done.stderr
    assert " trials failed; the same command with --retry-failed repeats them" in done.stderr


def test_a_missing_kernel_is_reported_before_anything_is_planned(
    labs: list[Lab], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr("wirelab.plan.make_plan", None)
    done = run("fake.toml", "--clock", "virtual")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: the virtual clock needs its kernel, which is not built yet\nhint: ")
    assert "clock build" in done.stderr
    assert labs == []
    assert not (tmp_path / "results").exists()


def test_nothing_starts_for_a_wrong_file(labs: list[Lab], tmp_path: Path) -> None:
    (tmp_path / "fake.toml").write_text(EXPERIMENT.replace("20 ms", "20"))
    done = run("fake.toml")
    assert done.exit_code == 2
    assert "fake.toml:7" in done.stderr
    assert labs == []
    assert not (tmp_path / "results").exists()
