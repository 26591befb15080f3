"""Programs that do not become ready, on a host that answers in no time."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.runner.fakes import Behaviour, Ears, FakeHost, addresses, link_report, make_plan, result
from wirelab.experiment.programs.implementations import Implementation, Roles, ServerEntry, Words
from wirelab.runner.campaign import open_campaign
from wirelab.runner.endpoints import Endpoints
from wirelab.runner.progress import Summary
from wirelab.runner.run import Runner
from wirelab.runner.start import run_campaign
from wirelab.runner.unready import printed, program_of, ready_words
from wirelab.schema import EndpointResult, Role, TrialRequest, TrialResult, TrialStatus
from wirelab.schema.campaign import EntryStatus, JournalEntry, read_journal
from wirelab.schema.plan import Implementations, Plan

WAITED = "server was not ready after 20s (waited for TCP port 8080 to accept)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "results" / "fake"


def server(command: str = "mine {{ address }} {{ port }}", ready: str = "tcp-connect") -> ServerEntry:
    words = tuple(Words(add=(word,)) for word in command.replace("{{ ", "{{").replace(" }}", "}}").split())
    return ServerEntry.model_validate(
        {"protocols": ("http1",), "command": [{"add": word.add} for word in words], "ready": ready}
    )


def mine(entry: ServerEntry) -> Implementation:
    return Implementation(
        title="Mine", homepage="https://example.org", install="", version_command=("true",), program="true",
        roles=Roles(server=entry),
    )  # fmt: skip


def plan_of(*servers: str, blocks: int = 3) -> Plan:
    plan = make_plan(scenarios=len(servers), blocks=blocks)
    scenarios = tuple(
        scenario.model_copy(update={"implementation": Implementations(client="builtin", server=name)})
        for scenario, name in zip(plan.scenarios, servers, strict=True)
    )
    return plan.model_copy(update={"scenarios": scenarios})


def ended(name: str, *, started: bool = True) -> EndpointResult:
    return EndpointResult(
        name=name, exit_code=0 if started else None, cpu_user_ns=0, cpu_system_ns=0, peak_memory_bytes=0, stderr_tail=""
    )


def not_ready(request: TrialRequest, error: str = WAITED) -> TrialResult:
    """A trial whose server printed something, and did not become ready."""
    directory = request.endpoints[0].directory
    (directory / "stderr.txt").write_text("Listening on \x1b[1m127.0.0.1:9\n", encoding="utf-8")
    (directory / "stdout.txt").write_text("", encoding="utf-8")
    endpoints = (ended("server"), ended("client", started=False))
    failed = result(request.trial, TrialStatus.FAILED)
    return failed.model_copy(update={"error": error, "endpoints": endpoints})


def is_ready(request: TrialRequest) -> TrialResult:
    return result(request.trial).model_copy(update={"endpoints": (ended("server"), ended("client"))})


def only_builtin(request: TrialRequest, _: int) -> TrialResult:
    return not_ready(request) if request.trial.startswith(("t0", "t1")) else is_ready(request)


def run(plan: Plan, folder: Path, behaviour: Behaviour, *, jobs: int = 1) -> tuple[Summary, FakeHost, Ears]:
    host, ears = FakeHost(behaviour), Ears()
    endpoints = Endpoints(Path("/agent"), {"mine": mine(server())}, {}, addresses())
    with open_campaign(folder, plan, "digest", fresh=False, retry_failed=False) as campaign:
        summary = run_campaign(Runner(campaign, host, endpoints, ears), plan, jobs, None)
    return summary, host, ears


def last(folder: Path) -> dict[str, JournalEntry]:
    return {entry.trial: entry for entry in read_journal(folder / "journal.jsonl")[0]}


def test_a_server_that_is_never_ready_is_started_once_and_other_scenarios_run(folder: Path) -> None:
    summary, host, _ = run(plan_of("mine", "mine", "builtin"), folder, only_builtin)
    assert [request.trial[:2] for request in host.started].count("t2") == 3
    assert len(host.started) == 4
    assert (summary.total, summary.run, summary.failed, summary.not_run) == (9, 9, 1, 5)
    statuses = [entry.status for entry in last(folder).values()]
    assert statuses.count(EntryStatus.NOT_RUN) == 5
    assert statuses.count(EntryStatus.DONE) == 3
    [failed] = [entry for entry in last(folder).values() if entry.status is EntryStatus.FAILED]
    reasons = {entry.error for entry in last(folder).values() if entry.status is EntryStatus.NOT_RUN}
    assert reasons == {f"server mine did not become ready in trial {failed.trial}"}


def test_a_server_with_less_of_a_cpu_is_another_program() -> None:
    [scenario] = plan_of("mine").scenarios
    slow = scenario.model_copy(update={"cpu": {"server": 0.01}})
    assert program_of(slow, Role.SERVER) != program_of(scenario, Role.SERVER)
    assert program_of(slow, Role.CLIENT) == program_of(scenario, Role.CLIENT)


def killed_by(number: signal.Signals) -> Behaviour:
    """The first trial's server is killed before it is ready; every other one becomes ready."""

    first: list[str] = []

    def behaviour(request: TrialRequest, _: int) -> TrialResult:
        first.append(request.trial)
        if request.trial != first[0]:
            return is_ready(request)
        failed = not_ready(request, f"server was killed by {number.name}")
        server = failed.endpoints[0].model_copy(update={"exit_code": None, "signal": number.value})
        return failed.model_copy(update={"endpoints": (server, failed.endpoints[1])})

    return behaviour


def test_a_server_that_somebody_kills_before_it_is_ready_fails_only_its_trial(folder: Path) -> None:
    summary, host, _ = run(plan_of("mine"), folder, killed_by(signal.SIGKILL))
    assert (len(host.started), summary.failed, summary.not_run) == (3, 1, 0)


def test_a_server_that_crashes_before_it_is_ready_is_started_once(folder: Path) -> None:
    summary, host, _ = run(plan_of("mine"), folder, killed_by(signal.SIGSEGV))
    assert (len(host.started), summary.failed, summary.not_run) == (1, 1, 2)


def test_a_server_that_waits_elsewhere_is_ended_by_us_and_started_once(folder: Path) -> None:
    def waits(request: TrialRequest, _: int) -> TrialResult:
        late = not_ready(request)
        server = late.endpoints[0].model_copy(update={"exit_code": None, "signal": signal.SIGTERM.value})
        return late.model_copy(update={"endpoints": (server, late.endpoints[1])})

    summary, host, _ = run(plan_of("mine"), folder, waits)
    assert (len(host.started), summary.failed, summary.not_run) == (1, 1, 2)


def test_a_client_that_waits_for_its_link_is_started_in_each_trial(folder: Path) -> None:
    def waits(request: TrialRequest, _: int) -> TrialResult:
        client = ended("client", started=False).model_copy(update={"signal": signal.SIGTERM.value})
        over = result(request.trial, TrialStatus.FAILED)
        error = "client was not ready after 60s (waited for its event)"
        never = ended("publisher", started=False)
        return over.model_copy(update={"error": error, "endpoints": (ended("server"), client, never)})

    summary, host, _ = run(plan_of("mine"), folder, waits)
    assert (len(host.started), summary.failed, summary.not_run) == (3, 3, 0)


def test_a_server_that_goes_to_the_background_is_told_to_stay(folder: Path) -> None:
    ends = "server ended before it was ready"
    _, _, ears = run(plan_of("mine"), folder, lambda request, _: not_ready(request, ends))
    said = next(words for words in ears.said if "ended before" in words)
    assert said.endswith("hint: it must stay in the foreground")


def test_a_server_that_ends_says_its_last_line_once_and_gets_no_hint_on_ports(folder: Path) -> None:
    ends = "server exited with 2: Listening on \x1b[1m127.0.0.1:9"
    _, _, ears = run(plan_of("mine"), folder, lambda request, _: not_ready(request, ends))
    said = next(words for words in ears.said if "exited" in words)
    assert said.splitlines()[0] == "scenario 0: failed: server exited with 2"
    assert (said.count("127.0.0.1:9"), "hint" in said) == (1, False)


def test_a_run_of_nothing_else_ends(folder: Path) -> None:
    summary, host, _ = run(plan_of("mine", "mine"), folder, only_builtin)
    assert (len(host.started), summary.failed, summary.not_run) == (1, 1, 5)


def test_the_last_lines_of_its_output_are_said_with_what_it_must_do(folder: Path) -> None:
    _, _, ears = run(plan_of("mine"), folder, only_builtin)
    said = next(words for words in ears.said if "was not ready" in words)
    assert said.splitlines() == [
        f"scenario 0: failed: {WAITED}",
        "its stderr ends with:",
        "    Listening on �[1m127.0.0.1:9",
        "its stdout is empty",
        "hint: it must listen on the TCP port that it is given, on every address or on {{ address }}; 127.0.0.1 "
        "cannot be reached over a link",
    ]
    assert said.partition(": failed: ")[2] in {entry.error for entry in last(folder).values()}


def test_the_next_run_starts_what_was_not_started(folder: Path) -> None:
    plan = plan_of("mine", "mine")
    run(plan, folder, only_builtin)
    summary, host, _ = run(plan, folder, lambda request, _: is_ready(request))
    assert len(host.started) == 5
    assert (summary.run, summary.reused, summary.failed, summary.not_run) == (5, 1, 1, 0)
    assert {entry.attempt for entry in last(folder).values()} == {1}


def test_a_server_that_was_ready_before_is_started_again(folder: Path) -> None:
    behaviours = iter([is_ready, not_ready, is_ready])
    summary, host, _ = run(plan_of("mine"), folder, lambda request, _: next(behaviours)(request))
    assert (len(host.started), summary.failed, summary.not_run) == (3, 1, 0)


def test_a_server_that_ends_before_it_is_ready_is_started_once(folder: Path) -> None:
    ends = "server exited with 2: usage: mine PORT"
    summary, host, _ = run(plan_of("mine"), folder, lambda request, _: not_ready(request, ends))
    assert (len(host.started), summary.failed, summary.not_run) == (1, 1, 2)


def test_a_client_that_fails_is_tried_in_each_trial(folder: Path) -> None:
    def fails(request: TrialRequest, _: int) -> TrialResult:
        failed = result(request.trial, TrialStatus.FAILED)
        return failed.model_copy(update={"endpoints": (ended("server"), ended("client"))})

    summary, host, _ = run(plan_of("mine"), folder, fails)
    assert (len(host.started), summary.failed, summary.not_run) == (3, 3, 0)


@pytest.mark.parametrize(
    ("command", "ready", "ends"),
    [
        ("mine", "tcp-connect", "does not pass {{ port }}"),
        ("mine", "event", "does not pass {{ address }} and {{ port }}"),
        ("mine --port={{ port }}", "udp-bound", "cannot be reached over a link"),
        ("mine --bind={{ host }}", "event", "does not pass {{ port }}"),
        ("mine {{ parameters }}", "event", "once it listens on {{ address }} and {{ port }}"),
    ],
)
def test_an_entry_that_does_not_pass_address_and_port_is_said_so(command: str, ready: str, ends: str) -> None:
    words = ready_words(server(command, ready), "[mine] in implementations.toml")
    assert words.endswith(ends)
    assert ("stdout" in words) == (ready == "event")


def test_a_trial_that_was_not_ready_is_not_repeated_with_its_late_block(folder: Path) -> None:
    late = link_report(late=50)

    def behaves(request: TrialRequest, attempt: int) -> TrialResult:
        over = not_ready(request) if request.trial.startswith("t0") else is_ready(request)
        return over.model_copy(update={"link": late}) if request.trial.endswith("0000") and attempt == 1 else over

    summary, _, _ = run(plan_of("mine", "builtin"), folder, behaves, jobs=2)
    assert summary.discarded == 1
    statuses = [entry.status for entry in last(folder).values() if entry.trial.startswith("t0")]
    assert statuses.count(EntryStatus.FAILED) >= 1
    assert {*statuses} == {EntryStatus.FAILED, EntryStatus.NOT_RUN}


@pytest.mark.parametrize("event", ['{"event":"ready","ports":{}}', '{"event": "ready", "ports": {"main": 1}}'])
def test_the_event_by_which_a_program_is_ready_is_no_reason_why_its_exchanges_are_not_confirmed(
    tmp_path: Path, event: str
) -> None:
    (tmp_path / "stdout.txt").write_text(f"{event}\nno such topic\n")
    (tmp_path / "stderr.txt").write_text("")
    assert [*printed(tmp_path, events=False)] == ["its stderr is empty", "its stdout ends with:", "    no such topic"]
    assert f"    {event}" in [*printed(tmp_path)]
