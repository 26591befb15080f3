"""The host of the virtual clock, with an agent that plays the guest."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.runner.fakes import result
from wirelab.clock.guest import START_NS, Hypervisor
from wirelab.clock.host import RefusedError
from wirelab.clock.kernel import Kernel
from wirelab.clock.virtual import VirtualHost
from wirelab.errors import RunError
from wirelab.schema import Clock, EndpointProcess, LinkSpec, OpenLanes, TrialRequest, TrialResult

OPENED = {
    "result": "opened", "kernel": "7.2.12", "cpu": "UML", "cpus": 1, "memory_bytes": 1, "rootless": False,
    "link_scheduling": "fifo", "settings": {}, "links": [],
}  # fmt: skip
AGENT = """#!/usr/bin/env python3
import json, sys, time
from pathlib import Path

given = dict(word[2:].split("=", 1) for word in sys.argv[2:])
unit = Path(given["unit"])
script = json.loads((unit / "script.json").read_text())
asked = unit / "requests"
requests = [json.loads(line) for line in asked.read_text().splitlines()] if asked.exists() else []
with open({calls!r}, "a") as calls:
    calls.write(json.dumps({{"given": given, "script": script, "requests": requests}}) + "\\n")
behaviour = json.loads(Path({behaviour!r}).read_text())
if "sleep" in behaviour:
    sys.stdin.read()
    sys.exit(1)
if "stderr" in behaviour:
    (unit / "stderr").write_text(behaviour["stderr"])
if "dies" in behaviour:
    sys.exit(behaviour["dies"])
[step] = script["commands"]
if step["stdin"] is not None:
    replies = [behaviour["replies"][request["op"]] | {{"id": request["id"]}} for request in requests]
    (unit / "replies").write_text("".join(json.dumps(reply) + "\\n" for reply in replies))
(unit / "result.json").write_text(json.dumps(
    {{"commands": [{{"exit_code": behaviour.get("code", 0), "signal": None}}], "error": None, "uptime_ns": 7}}
))
"""


class Played:
    """An agent whose guests behave as they are told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.agent = folder / "agent"
        self._calls, self._behaviour = folder / "calls", folder / "behaviour"
        self.agent.write_text(AGENT.format(calls=str(self._calls), behaviour=str(self._behaviour)))
        self.agent.chmod(0o755)
        done = json.loads(result("t").model_dump_json()) | {"result": "trial"}
        self.behave(replies={"open": OPENED, "run-trial": done})
        kernel = Kernel(folder / "linux", "7.2.12", "abc", 250, "gcc", "0" * 64, "digest")
        self.campaign = folder / "campaign"
        self.campaign.mkdir()
        self.log = folder / "host.log"
        self.host = VirtualHost(Hypervisor(self.agent, kernel, folder), self.campaign, (0, 1), self.log)

    def behave(self, **behaviour: Any) -> None:
        self.behaviour = behaviour
        self._behaviour.write_text(json.dumps(behaviour))

    def calls(self) -> list[Any]:
        return [json.loads(line) for line in self._calls.read_text().splitlines()]

    def over(self) -> TrialResult | RefusedError | None:
        return self.host.wait(30.0)


@pytest.fixture
def played(tmp_path: Path) -> Played:
    return Played(tmp_path)


def request(trial: str = "t", seed: int = 7) -> TrialRequest:
    end = EndpointProcess(
        name="client", host="client", command=("true",), directory=Path("/"), stdout=Path("/o"), stderr=Path("/e"),
        ends_trial=True,
    )  # fmt: skip
    return TrialRequest(
        trial=trial, lane=0, link=LinkSpec(uplink=(), downlink=()), link_seed=seed, header_bytes=64,
        congestion_control="cubic", endpoints=(end,), timeout_ns=10**9,
    )  # fmt: skip


def test_each_trial_has_a_guest_whose_script_opens_one_lane_and_runs_it(played: Played) -> None:
    facts = played.host.open(OpenLanes(lanes=4, clock=Clock.VIRTUAL))
    assert facts.kernel == "7.2.12"
    played.host.start(request())
    over = played.over()
    assert isinstance(over, TrialResult)
    assert over.trial == "t"
    opened, ran = played.calls()
    assert (opened["given"]["seed"], ran["given"]["seed"]) == ("0", "7")
    assert ran["script"]["folders"] == [{"folder": str(played.campaign), "at": "/run/wirelab/campaign"}]
    assert ran["script"]["commands"][0]["command"] == [str(played.agent), "host", "--one-at-a-time"]
    assert not list((played.campaign / "guests").iterdir()), "a guest's folder goes with it"


def test_only_the_first_guest_collects_facts(played: Played) -> None:
    played.host.open(OpenLanes(lanes=4))
    played.host.start(request())
    assert isinstance(played.over(), TrialResult)
    assert [call["requests"][0].get("facts_known", False) for call in played.calls()] == [False, True]


def test_a_guest_and_its_records_name_the_campaign_by_one_path_in_every_folder(played: Played) -> None:
    folder, agent = played.campaign, played.campaign / "wirelab-agent"
    agent.hardlink_to(played.agent)
    beside = folder.with_name("campaign-2")
    host = VirtualHost(Hypervisor(agent, played.host._hypervisor.kernel, played.folder), folder, (0,), played.log)
    host.open(OpenLanes(lanes=1, clock=Clock.VIRTUAL))
    record = folder / "trials" / "t" / "client" / "parameters.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps([str(record), str(beside), str(folder)]))
    host.start(request())
    assert isinstance(host.wait(30.0), TrialResult)
    at = "/run/wirelab/campaign"
    assert json.loads(record.read_text()) == [f"{at}/trials/t/client/parameters.json", str(beside), at]
    assert played.calls()[-1]["script"]["commands"][0]["command"][0] == f"{at}/wirelab-agent"


@pytest.mark.parametrize("name", ["a b", 'a"b', "ä", "a+(b"])
def test_the_campaigns_path_is_known_in_json_too(tmp_path: Path, name: str) -> None:
    played = Played(tmp_path)
    folder = tmp_path / name
    host = VirtualHost(played.host._hypervisor, folder, (0,), played.log)
    for text in (str(folder), json.dumps(str(folder)), json.dumps(str(folder), ensure_ascii=False)):
        assert host._seen(text).strip('"') == "/run/wirelab/campaign"


def test_guests_that_run_side_by_side_have_a_cpu_each(played: Played) -> None:
    played.host.open(OpenLanes(lanes=2, clock=Clock.VIRTUAL))
    played.behave(sleep=True)
    for number in range(3):
        played.host.start(request(f"t{number}"))
    deadline = time.monotonic() + 30
    while len(played.calls()) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert sorted(call["given"]["cpu"] for call in played.calls()[1:]) == ["0", "0", "1"]
    played.host.close()
    assert not (played.campaign / "guests").exists()


def test_a_trial_that_is_cancelled_is_over(played: Played) -> None:
    played.host.open(OpenLanes(lanes=1, clock=Clock.VIRTUAL))
    played.behave(sleep=True)
    played.host.start(request())
    played.host.cancel("t")
    over = played.over()
    assert isinstance(over, RefusedError)
    assert over.trial == "t"


def test_a_guest_that_dies_or_whose_host_fails_is_refused_with_its_words(played: Played) -> None:
    played.host.open(OpenLanes(lanes=1, clock=Clock.VIRTUAL))
    console = "the guest ended before its script; its console: Kernel panic"
    played.behave(dies=console)
    played.host.start(request())
    over = played.over()
    assert isinstance(over, RefusedError)
    assert (over.message, over.again) == (console, True)
    played.behave(dies=console, stderr="one\nthe link process is out of memory")
    played.host.start(request())
    over = played.over()
    assert isinstance(over, RefusedError)
    assert over.message == f"{console}; its agent printed: one | the link process is out of memory"
    played.behave(code=101, stderr="one\nthe link process panicked", replies={"open": OPENED, "run-trial": OPENED})
    played.host.start(request())
    over = played.over()
    assert isinstance(over, RefusedError)
    assert over.message.endswith("in its guest; its agent printed: one | the link process panicked")
    assert not over.again


def test_what_agents_in_guests_print_is_in_the_log_of_the_host_with_their_trials(played: Played) -> None:
    played.behave(**played.behaviour, stderr="no memory locked\nno real time\n")
    played.host.open(OpenLanes(lanes=1, clock=Clock.VIRTUAL))
    played.host.start(request())
    assert isinstance(played.over(), TrialResult)
    lines = [f"{guest}: {words}" for guest in ("open", "t") for words in ("no memory locked", "no real time")]
    assert played.log.read_text().splitlines() == lines


def test_lanes_that_cannot_be_made_end_the_run(played: Played) -> None:
    played.behave(replies={"open": {"result": "error", "message": "no veth", "hint": "another kernel"}})
    with pytest.raises(RunError, match="no veth") as error:
        played.host.open(OpenLanes(lanes=1, clock=Clock.VIRTUAL))
    assert error.value.hint == "another kernel"


def test_the_agent_makes_files_in_a_guest_of_their_seed(played: Played) -> None:
    played.host.ask_agent(["certificates", "--out", str(played.campaign / "c")], seed=11)
    [call] = played.calls()
    assert call["given"]["seed"] == "11"
    assert call["script"]["commands"][0]["command"][1] == "certificates"
    played.behave(code=1, stderr="error: cannot be written")
    with pytest.raises(RunError, match=r"wirelab-agent certificates: cannot be written"):
        played.host.ask_agent(["certificates"], seed=11)


def test_a_request_does_not_depend_on_what_runs_beside_it(played: Played) -> None:
    assert [played.host.lane(number) for number in range(3)] == [0, 0, 0]
    assert played.host.clock_ns() == 0


def test_folders_of_guests_that_were_killed_are_removed(played: Played) -> None:
    left = played.campaign / "guests" / "old"
    left.mkdir(parents=True)
    VirtualHost(
        Hypervisor(played.agent, played.host._hypervisor.kernel, played.folder),
        played.campaign,
        (os.getpid() % 2,),
        played.log,
    )
    assert not left.exists()


def test_after_a_replacement_the_same_trial_has_only_the_outcome_of_its_new_guest(played: Played) -> None:
    played.host.open(OpenLanes(lanes=1, clock=Clock.VIRTUAL))
    played.behave(sleep=True)
    played.host.start(request())
    played.host.replace()
    played.behave(
        replies={"open": OPENED, "run-trial": json.loads(result("t").model_dump_json()) | {"result": "trial"}}
    )
    played.host.start(request())
    assert isinstance(played.over(), TrialResult)
    assert played.host.wait(0.0) is None


def test_a_link_process_that_ends_in_a_guest_fails_that_trial_alone(played: Played) -> None:
    played.host.open(OpenLanes(lanes=1, clock=Clock.VIRTUAL))
    ended = {"result": "error", "message": "the link process ended: out of memory"}
    played.behave(replies={"open": OPENED, "run-trial": ended})
    played.host.start(request())
    over = played.over()
    assert isinstance(over, RefusedError)
    assert (over.message, over.link_ended) == ("in its guest the link process ended: out of memory", False)


def test_what_a_guest_left_may_be_anything(played: Played) -> None:
    played.host.open(OpenLanes(lanes=1, clock=Clock.VIRTUAL))
    played.behave(replies={"open": OPENED, "run-trial": {"result": "trial", "trial": ["t"]}})
    played.host.start(request())
    over = played.over()
    assert isinstance(over, RefusedError)
    assert over.message.startswith("what its guest left cannot be read: ")


def test_pages_are_as_old_as_the_guests_clock(played: Played) -> None:
    page = played.campaign / "pages" / "abc" / "files" / "0"
    page.parent.mkdir(parents=True)
    page.write_bytes(b"<html>")
    played.host.open(OpenLanes(lanes=1, clock=Clock.VIRTUAL))
    assert page.stat().st_mtime_ns == START_NS


def test_a_path_that_ends_like_the_campaigns_is_another(played: Played) -> None:
    path = str(played.campaign)
    assert played.host._seen(f"/var{path}/bin") == f"/var{path}/bin"
    assert played.host._seen(f"--out={path}/bin") == "--out=/run/wirelab/campaign/bin"


def test_a_trial_has_the_time_out_of_what_it_is_expected_to_take(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    real = Hypervisor.start

    def start(self: Hypervisor, *words: Any, expected_s: float = 0.0, **more: Any) -> Any:
        asked.append(expected_s)
        return real(self, *words, expected_s=expected_s, **more)

    monkeypatch.setattr(Hypervisor, "start", start)
    played.host._expected_s = {"t": 900.0}.__getitem__
    played.host.open(OpenLanes(lanes=1, clock=Clock.VIRTUAL))
    played.host.start(request())
    played.over()
    assert asked == [0.0, 900.0]
