import json
import re
from pathlib import Path

import pytest

from tests.cli.test_main import run
from tests.described import BASE
from wirelab.schema import Clock
from wirelab.schema.plan import Plan


def test_a_plan_shows_scenarios_trials_and_time(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(BASE)
    code, out, err = run("plan", str(file), "--jobs", "1")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "mine: Test",
        "2 scenarios x 3 replicates: 6 trials, 60 exchanges",
        "about 15.6 s",
        "1 trial at a time: as asked",
        "",
        "scenario  link  exchanges  about, each exchange",
        "http1     wire         30                 41 ms",
        "h2        wire         30                 61 ms",
    ]


def test_a_plan_shows_the_points_of_all_choices_together_and_each_interpretation(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    lan = '[interpretations.lan]\n"link.rtt" = "4 ms"\n"workload.connection" = "persistent"\n'
    base = (
        '[interpretations.base]\n[interpretations.http1-alone]\n"protocols.http1.workload.connection" = "persistent"\n'
    )
    file.write_text(f'{BASE}[choices]\n"link.rtt" = ["2 ms", "4 ms"]\n"link.loss" = ["1 %"]\n{lan}{base}')
    code, out, _ = run("plan", str(file), "--set", "vary-choices=together", "--jobs", "1")
    lines = out.splitlines()
    assert code == 0
    start = lines.index("every combination of the choices: 8 points of the grid")
    assert lines[start + 1 : start + 4] == [
        "interpretation lan: link.rtt 4 ms, connection persistent; 2 scenarios",
        "interpretation base: as the factors; 2 scenarios",
        "interpretation http1-alone: http1 workload.connection persistent; 2 scenarios",
    ]


def test_virtual_and_wall_time_and_the_disk_are_printed_without_a_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "empty"))
    sets = ("protocol=coap", "link=clean", "workload.interval=1h", "workload.exchanges=720", "stop.replicates=2")
    words = ("quickstart", *(word for each in sets for word in ("--set", each)), "--clock", "virtual", "--jobs", "2")
    code, out, err = run("plan", *words)
    assert (code, err) == (0, "")
    assert re.search(r"^virtual time 60 d, about [0-9.]+ s of yours on 2 idle CPUs, [0-9.]+ MB$", out, re.MULTILINE), (
        out
    )
    assert "one at a time" not in out
    assert run("check", *words[:-2])[0] == 0
    assert Plan.model_validate_json(run("plan", *words, "--json")[1]).clock is Clock.VIRTUAL


def test_json_is_the_plan_file() -> None:
    code, out, err = run("plan", "quickstart", "--json")
    assert (code, err) == (0, "")
    plan = Plan.model_validate(json.loads(out))
    assert (plan.experiment.name, len(plan.scenarios)) == ("quickstart", 8)


def test_a_budget_gives_a_quick_run_and_says_so() -> None:
    code, out, _ = run("plan", "milosevic2021", "--budget", "2min", "--jobs", "16")
    assert code == 0
    assert "18 scenarios" in out
    assert "QUICK RUN for 2 min" in out


def test_a_budget_above_the_experiments_own_says_that_it_has_no_effect() -> None:
    longer = run("plan", "quickstart", "--budget", "10h")
    assert longer[0] == 0
    assert longer[2] == "--budget 10 h is longer than stop.budget: no block starts after 1.25 min\n"
    assert run("plan", "quickstart", "--budget", "1min")[2] == ""


def test_set_changes_the_plan() -> None:
    assert "16 scenarios" in run("plan", "quickstart", "--set", "link.rtt=2ms,20ms")[1]


def test_a_plan_shows_the_size_of_each_page() -> None:
    out = run("plan", "page", "--set", "workload.page=fischer2021,text-44kb", "--set", "workload.loads=1")[1]
    assert "page fischer2021: 17 resources, 394 kB, 1 load a trial\npage text-44kb: 1 resource, 44 kB, 1 load" in out
    assert "and 4 more pages\n" in run("plan", "page", "--set", f"workload.page.objects={','.join('123456789')},10")[1]


def test_scenarios_with_equal_looking_levels_are_named_with_their_factors() -> None:
    varied = ("link.rtt=0 ms,100 ms", "programs.chromium.devtools-latency=100 ms,0 ms", "workload=page", "protocol=h2")
    out = run("plan", "fischer2021-devtools", *(word for each in varied for word in ("--set", each)))[1]
    names = [line.partition("  ")[0] for line in out.splitlines() if line.startswith("h2")]
    assert names == [
        f"h2, programs.chromium.devtools-latency {held} ms, link.rtt {rtt} ms" for held in (100, 0) for rtt in (0, 100)
    ]


def test_without_a_number_of_jobs_the_plan_says_how_many_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wirelab.runner.cpus.count", lambda: 2)
    monkeypatch.setattr("wirelab.runner.cpus.real_time", lambda: True)
    assert run("plan", "milosevic2021")[1].splitlines()[3] == "16 trials at a time: 8 for each of 2 CPUs"
    assert "8 scenarios, 12 trials at a time: a trial needs" in run("describe", "experiment", "quickstart")[1]
