"""What check, plan and run tell before anything is started."""

from __future__ import annotations

import re
import shlex
from math import ceil
from pathlib import Path

import pytest

from tests.cli.test_main import run
from wirelab.experiment.library import experiment_file
from wirelab.plan import expected_ns
from wirelab.schema.plan import Plan

VERBS = pytest.mark.parametrize("verb", ["check", "plan"])
SMALL = ("--set", "protocol=h2", "--link", "ethernet-100m")


@VERBS
def test_references_of_a_page_to_other_hosts_are_reported(tmp_path: Path, verb: str) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "index.html").write_text("<base href=https://a.example/><img src=b.png><video src=c.mp4></video>")
    code, _, err = run(verb, "page", "--site", str(shop), *SMALL)
    assert (code, err) == (
        0,
        "page shop has references that are not loaded: 1 on another host, by its URL or a <base> "
        "(https://a.example/b.png); 1 for a player or plug-in (https://a.example/c.mp4)\n",
    )


@VERBS
def test_a_page_without_references_to_other_hosts_has_no_note(verb: str) -> None:
    assert run(verb, "page", *SMALL)[2] == ""


@VERBS
def test_levels_outside_the_grid_of_the_claims_are_reported(tmp_path: Path, verb: str) -> None:
    assert run("new", str(tmp_path / "mine.toml"), "--paper")[0] == 0
    file = tmp_path / "mine.toml"
    assert run(verb, str(file))[2] == ""
    varied = file.read_text().replace('["60 ms"]', '["60 ms", "70 ms"]')
    file.write_text(varied.replace("[choices]", '[choices]\n"link.jitter" = ["normal 1 ms", "normal 2 ms"]'))
    said = "outside the grid of mine.claims.toml, so verdicts there are shown and not counted\n"
    assert run(verb, str(file))[2] == f"link.rtt 70 ms: {said}link.jitter normal 2 ms: {said}"


@VERBS
def test_a_timeout_below_the_expected_load_time_is_reported_with_both(verb: str) -> None:
    code, _, err = run(verb, "page", "--set", "protocol=http1,h2", "--link", "nb-iot", "--set", "workload.timeout=20s")
    assert code == 0
    assert err == (
        "2 of 2 scenarios may time out (http1; h2): a load is expected to take up to 27 s, and workload.timeout is "
        "20 s\n"
    )
    assert run(verb, "page", "--set", "protocol=http1,h2", "--link", "nb-iot")[2] == ""


@VERBS
def test_a_client_that_its_nat_forgets_for_good_is_reported_with_what_helps(verb: str) -> None:
    kept = ("--set", "protocol=mqtts", "--set", "protocols.mqtts.after-timeout=keep")
    code, _, err = run(verb, "nat-rebind", *kept)
    assert code == 0
    assert re.fullmatch(
        r"1 of 2 scenarios may lose their server until the trial ends \(mqtts[^;]*\): the NAT forgets a client after "
        r"1.5 s, messages come up to 3 s apart, and nothing keeps the mapping or opens another connection; a "
        r"keep-alive below 1.5 s or after-timeout = \"reconnect\" does\n",
        err,
    ), err
    assert run(verb, "nat-rebind")[2] == ""


@VERBS
def test_what_an_idle_start_does_not_cover_is_named(verb: str) -> None:
    idle = [f"workload.{each}" for each in ("kind=telemetry", "arrival=idle-start", "interval=10min")]
    sets = ["protocol=mqtts,h3,coap", *idle, "workload.connection=persistent", "link=lossy"]
    code, _, err = run(verb, "quickstart", *(word for each in sets for word in ("--set", each)))
    assert code == 0
    assert [line for line in err.splitlines() if "idle start" in line] == [
        "not covered by an idle start: keep-alive of mqtts (1 min), quic-idle-timeout of h3 (30 s): they run out "
        'during the gap of 10 min. Use --clock virtual with arrival = "periodic"'
    ]
    sets[-2] = "workload.connection=new"
    assert "idle start" not in run(verb, "quickstart", *(word for each in sets for word in ("--set", each)))[2]


def _sets(*words: str) -> list[str]:
    return [each for word in words for each in ("--set", word)]


@VERBS
def test_a_closed_loop_over_a_link_that_sleeps_and_forgets_is_reported(verb: str) -> None:
    line = (
        "exchanges follow each other: after the first, no radio falls asleep (nb-iot: after 10 s) and no NAT forgets a "
        "client (nb-iot: after 2 min, UDP). For messages minutes apart: --set workload.interval=10min --clock virtual"
    )
    words = ("quickstart", "--link", "nb-iot", "--set", "protocol=coap")
    assert line in run(verb, *words)[2].splitlines()
    assert "follow each other" not in run(verb, *words, *_sets("workload.interval=10min"), "--clock", "virtual")[2]
    assert "follow each other" not in run(verb, "quickstart")[2]


@VERBS
def test_a_first_retransmission_before_the_answer_is_reported_with_its_setting(verb: str) -> None:
    words = ("quickstart", "--link", "nb-iot-psm", "--set", "protocol=coap,http1", "--clock", "virtual")
    err = run(verb, *words, "--set", "workload.interval=10min")[2]
    assert err.splitlines() == [
        "coap on nb-iot-psm: ack-timeout (2 s) is shorter than waking, a round trip and the radio's sleep before the "
        "answer (4.95 s): messages may be sent twice. --set protocols.coap.ack-timeout=10s",
        "http1 on nb-iot-psm: TCP's SYN is retransmitted after 1 s, sooner than waking, a round trip and the radio's "
        "sleep before the answer (4.95 s); no setting changes that",
    ]
    longer = _sets("workload.interval=10min", "protocol=coap", "protocols.coap.ack-timeout=10s")
    assert "ack-timeout" not in run(verb, *words, *longer)[2]


@VERBS
def test_hours_of_real_time_are_reported_with_those_of_the_virtual_clock(verb: str) -> None:
    words = ("quickstart", "--link", "clean", *_sets("protocol=coap", "workload.interval=1h"))
    [line] = run(verb, *words)[2].splitlines()
    assert re.fullmatch(r"this takes 20 h of real time; --clock virtual takes about [0-9.]+ s", line), line
    assert run(verb, *words, "--clock", "virtual")[2] == ""
    assert "real time" not in run(verb, *words, "--set", "workload.arrival=idle-start")[2]
    assert "real time" not in run(verb, *words, "--set", "workload.interval=2min")[2]
    [line] = run(verb, *words, *_sets("endpoints.client.cpu=50%"))[2].splitlines()
    assert line == "this takes 20 h of real time; --clock virtual has neither limits of CPU time nor idle starts"


@VERBS
def test_a_protocol_that_a_link_cannot_carry_is_unsupported_with_the_reason(verb: str) -> None:
    words = ("--set", "protocol=coap,https1", "--link", "lorawan-eu868-dr0", "--set", "workload.timeout=12h")
    code, out, err = run(verb, "quickstart", *words)
    assert code == 0
    assert (
        "1 of 2 scenarios would be unsupported (https1): lorawan-eu868-dr0 carries 2.5 bit/s: a flight of opening "
        "https1 (590 B up, 860 B down) takes 22.9 min at least, and TCP gives up after 15.4 min"
    ) in err.splitlines()
    assert "1 scenario" in out


NOT_RIGHT = (
    "follow each other",
    "not covered",
    "of real time",
    "may time out",
    "may lose",
    "unsupported",
    "would fail",
)
NO_SESSION = "no session that could be resumed"
"""Right of experiments that compare connections: their grids have protocols without sessions."""


def _examples() -> list[str]:
    """Commands of the root's help, of each verb's, and of the README."""
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    texts = [run("--help")[1].replace("\\\n", " "), *(run(verb, "--help")[1] for verb in VERBS_OF_HELP)]
    found = [line for text in texts for line in re.findall(r"wirelab (?:run|plan|check) [a-z][^\n]*", text)]
    found += re.findall(r"\./wirelab ((?:run|plan|check) [a-z][^`\n]*)", readme)
    return sorted({" ".join(each.removeprefix("wirelab ").split()) for each in found})


VERBS_OF_HELP = ("run", "plan", "check")


def test_every_example_in_help_and_readme_is_right_for_its_link() -> None:
    examples = _examples()
    assert any("nb-iot" in each for each in examples)
    for example in examples:
        _, *words = shlex.split(example)
        if words[0].endswith(".toml"):
            continue
        out = [word for index, word in enumerate(words) if "--out" not in {word, words[index - 1]}]
        code, _, err = run("plan", *out)
        assert code == 0, (example, err)
        lines = [line for line in err.splitlines() if not line.endswith(NO_SESSION)]
        assert not [line for line in lines if any(each in line for each in NOT_RIGHT)], example


@VERBS
def test_unsupported_scenarios_have_no_trials_and_a_plan_without_any_is_refused(verb: str) -> None:
    both = ("--set", "client.implementation=builtin,curl", "--set", "protocol=http1", "--link", "ethernet-100m")
    code, out, err = run(verb, "page", *both)
    assert (code, err) == (
        0, "1 of 2 scenarios would be unsupported (http1, curl): curl does not do page\n"
    )  # fmt: skip
    assert "1 scenario" in out
    assert "8 trials" in out
    assert "http1, curl" not in out
    code, out, err = run(verb, "page", "--set", "client.implementation=curl", *both[2:])
    assert (code, out) == (2, "")
    assert err.splitlines()[1:] == [
        "error: nothing to run: every scenario is unsupported",
        "hint: choose other programs, or none",
    ]


@VERBS
def test_a_plan_without_anything_to_run_has_the_hint_of_each_reason(verb: str) -> None:
    resumed = ("quickstart", *_sets("protocol=coap", "workload.connection=resumed"))
    code, out, err = run(verb, *resumed)
    assert (code, out) == (2, "")
    assert err.splitlines()[-2:] == [
        "error: nothing to run: every scenario is unsupported",
        'hint: workload.connection = "new", or a protocol with sessions',
    ]
    slow = ("quickstart", "--link", "lorawan-eu868-dr0", *_sets("workload.timeout=12h"))
    assert run(verb, *slow, "--set", "protocol=https1")[2].splitlines()[-1] == (
        "hint: choose another link, or another protocol"
    )
    both = run(verb, *slow, *_sets("protocol=coap,https1", "workload.connection=resumed"))[2].splitlines()[-1]
    assert both == (
        'hint: workload.connection = "new", or a protocol with sessions; choose another link, or another protocol'
    )


def test_a_quick_run_with_too_few_values_for_its_percentile_is_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "tail.toml"
    file.write_text('statistic = "p95"\n' + experiment_file("quickstart").read_text())
    words = ("plan", str(file))
    assert "nothing will be ranked" not in run(*words)[2]
    err = run(*words, "--budget", "1s")[2]
    assert "nothing will be ranked: the p95 needs 100 values of each scenario, and one has at most " in err


def test_a_budget_below_the_smallest_quick_run_is_said_with_what_it_takes() -> None:
    err = run("plan", "quickstart", "--budget", "10ms")[2]
    assert re.fullmatch(r"even the smallest quick run of quickstart takes [0-9.]+ s, over 10 ms; it runs .*\n", err), (
        err
    )
    assert run("plan", "quickstart", "--budget", "30s")[2] == ""


@VERBS
def test_a_download_that_takes_longer_than_its_timeout_is_reported(verb: str) -> None:
    words = ("quickstart", "--set", "workload.download=3MB", "--set", "protocol=h2", "--link", "nb-iot")
    assert "1 of 1 scenarios may time out (h2): an exchange is expected to take " in run(verb, *words)[2]
    # A few exchanges meet a long burst; that is no reason to expect it of all.
    assert run(verb, "quickstart", "--link", "milosevic2021-burst")[2] == ""


@pytest.mark.parametrize("verb", ["plan", "run"])
def test_a_budget_far_below_the_smallest_quick_run_is_refused_with_the_virtual_clock(verb: str, tmp_path: Path) -> None:
    words = (verb, "quickstart", "--link", "clean", *_sets("protocol=coap"), "--budget", "10s")
    words += ("--out", str(tmp_path / "out")) if verb == "run" else ()
    code, out, err = run(*words, "--set", "workload.interval=12h")
    assert (code, out) == (2, "")
    assert re.fullmatch(
        r"error: even the smallest quick run of [a-z0-9-]+ takes [0-9.]+ (h|d), over 10 s\n"
        r"hint: --clock virtual without --budget takes about [0-9.]+ s\n",
        err,
    ), err
    assert not (tmp_path / "out").exists()
    limited = run(*words, *_sets("workload.interval=12h", "endpoints.client.cpu=50%"))[2]
    assert re.search(r"hint: a budget of [0-9.]+ (h|d)\n", limited), limited


def test_the_virtual_clock_refuses_no_budget() -> None:
    words = ("quickstart", "--link", "clean", *_sets("protocol=coap", "workload.interval=12h"))
    code, _, err = run("plan", *words, "--budget", "10s", "--clock", "virtual")
    assert code == 0
    assert err.startswith("even the smallest quick run of ")


def test_unsupported_scenarios_use_none_of_the_budget() -> None:
    words = ("plan", "page", "--set", "protocol=http1", "--link", "ethernet-100m", "--jobs", "1")
    one = Plan.model_validate_json(run(*words, "--json")[1])
    budget = ("--budget", f"{ceil(expected_ns(one, 1) / 1e6)} ms")
    both = ("--set", "client.implementation=builtin,curl")
    _, out, err = run(*words, *both, *budget)
    assert "would be unsupported" in err
    assert "QUICK RUN" not in out
    half = ("--budget", f"{ceil(expected_ns(one, 1) / 2e6)} ms")
    _, out, err = run(*words, *both, *half)
    assert "QUICK RUN" in out
    assert "even the smallest" not in err
    assert "QUICK RUN" in run(*words, "--set", "protocol=http1,h2", *budget)[1]


def test_run_refuses_with_the_same_message_and_makes_no_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("page", "--set", "client.implementation=curl", "--set", "protocol=http1", "--link", "ethernet-100m")
    assert run("run", *words) == run("plan", *words)
    assert list(tmp_path.iterdir()) == []
