"""The host client against a process that speaks its lines."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runner.fakes import addresses, make_plan, result
from wirelab.clock import host as clock_host
from wirelab.clock.host import AgentHost, HostGoneError, RefusedError
from wirelab.errors import RunError
from wirelab.runner.endpoints import Endpoints
from wirelab.schema import HostFacts, OpenLanes, TrialRequest, TrialResult

FACTS = HostFacts(
    kernel="6.1", cpu="a CPU", cpus=2, memory_bytes=1, rootless=True, link_scheduling="slice", settings={},
    links=addresses().links,
)  # fmt: skip
ANSWERS = {
    "opened": {"result": "opened", **FACTS.model_dump(mode="json")},
    "denied": {"result": "error", "message": "unshare: EPERM", "hint": "see the cure"},
    "trial": {"result": "trial", **result("t0-0000").model_dump(mode="json")},
    "refused": {"result": "error", "message": "no such lane", "hint": None},
}
SCRIPT = """#!/usr/bin/env python3
import json, sys
answers = json.loads({answers!r})
for line, answer in zip(sys.stdin, {script!r}):
    if answer == "die":
        sys.exit("it died")
    if answer == "nonsense":
        print("nonsense", flush=True)
        continue
    print(json.dumps({{"id": json.loads(line)["id"], **answers[answer]}}), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[list[AgentHost]]:
    opened: list[AgentHost] = []
    yield opened
    for host in opened:
        host.close()


def host(tmp_path: Path, hosts: list[AgentHost], *answers: str) -> AgentHost:
    agent = tmp_path / "agent"
    agent.write_text(SCRIPT.format(answers=json.dumps(ANSWERS), script=list(answers)))
    agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
    hosts.append(AgentHost(agent, tmp_path / "host.log"))
    return hosts[-1]


def request(tmp_path: Path) -> TrialRequest:
    plan = make_plan(1, 1)
    endpoints = Endpoints(Path("/agent"), {}, {}, addresses())
    return endpoints.request(plan.scenarios[0], plan.blocks[0].trials[0], 0, tmp_path / "trial")


def test_namespaces_open_and_a_trial_returns(tmp_path: Path, hosts: list[AgentHost]) -> None:
    subject = host(tmp_path, hosts, "opened", "trial")
    assert subject.open(OpenLanes(lanes=1)) == FACTS
    subject.start(request(tmp_path))
    over = subject.wait(10)
    assert isinstance(over, TrialResult)
    assert over.trial == "t0-0000"


def test_a_refused_trial_is_named(tmp_path: Path, hosts: list[AgentHost]) -> None:
    subject = host(tmp_path, hosts, "opened", "refused")
    subject.open(OpenLanes(lanes=1))
    subject.start(request(tmp_path))
    over = subject.wait(10)
    assert isinstance(over, RefusedError)
    assert (over.trial, over.message) == ("t0-0000", "no such lane")


def test_namespaces_that_cannot_be_made_are_refused_with_the_hosts_hint(tmp_path: Path, hosts: list[AgentHost]) -> None:
    with pytest.raises(RunError, match="unshare: EPERM") as raised:
        host(tmp_path, hosts, "denied").open(OpenLanes(lanes=1))
    assert raised.value.hint == "see the cure"


@pytest.mark.parametrize("end", ["die", "nonsense"])
def test_the_error_of_a_dead_host_has_its_last_output(tmp_path: Path, hosts: list[AgentHost], end: str) -> None:
    subject = host(tmp_path, hosts, "opened", end)
    subject.open(OpenLanes(lanes=1))
    subject.start(request(tmp_path))
    with pytest.raises(HostGoneError, match="it died" if end == "die" else "ended"):
        subject.wait(10)
    with pytest.raises(HostGoneError):
        subject.wait(10)


def test_a_reply_that_does_not_come_in_time_is_none(tmp_path: Path, hosts: list[AgentHost]) -> None:
    subject = host(tmp_path, hosts, "opened")
    subject.open(OpenLanes(lanes=1))
    assert subject.wait(0.01) is None


def test_ctrl_c_of_the_terminal_does_not_reach_the_host(tmp_path: Path, hosts: list[AgentHost]) -> None:
    subject = host(tmp_path, hosts, "opened")
    assert os.getpgid(subject.pid) != os.getpgid(0)


def test_closing_ends_the_process(tmp_path: Path, hosts: list[AgentHost]) -> None:
    subject = host(tmp_path, hosts, "opened")
    subject.open(OpenLanes(lanes=1))
    subject.close()
    with pytest.raises(ProcessLookupError):
        os.kill(subject.pid, signal.SIG_DFL)


def test_a_host_that_does_not_end_with_its_stdin_is_killed(
    tmp_path: Path, hosts: list[AgentHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock_host, "_CLOSE_TIMEOUT_S", 0.1)
    subject = host(tmp_path, hosts, "opened", "opened")
    subject.open(OpenLanes(lanes=1))
    os.kill(subject.pid, signal.SIGSTOP)
    subject.close()
    with pytest.raises(ProcessLookupError):
        os.kill(subject.pid, signal.SIG_DFL)
