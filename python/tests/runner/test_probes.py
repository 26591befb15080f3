"""Probes of a campaign's links on a host that plays them in no time."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.asked import ask
from tests.runner.fakes import FakeHost, make_plan, result
from wirelab.clock.host import RefusedError
from wirelab.errors import RunError
from wirelab.runner import probes
from wirelab.runner.probes import campaign_probes_ns, distinct_links, probe, probe_campaign
from wirelab.schema import TrialRequest, TrialResult, TrialStatus
from wirelab.schema.probe import ProbePlan

AGENT = Path("/agent")
LINK = make_plan().scenarios[0].link


def done(request: TrialRequest, _: int) -> TrialResult:
    return result(request.trial)


def test_each_distinct_link_is_probed_once_and_not_again_on_resume(tmp_path: Path) -> None:
    plan, said = make_plan(scenarios=3), list[str]()
    host = FakeHost(done)
    probe_campaign(host, AGENT, plan, tmp_path, said.append)
    [key] = distinct_links(plan)
    assert [request.trial for request in host.started] == [key]
    assert (tmp_path / "probes" / key / "result.json").exists()
    again = FakeHost(done)
    probe_campaign(again, AGENT, plan, tmp_path, said.append)
    assert again.started == []
    assert said == []


def test_a_link_that_cannot_be_probed_is_reported_and_does_not_end_the_campaign(tmp_path: Path) -> None:
    said = list[str]()
    host = FakeHost(lambda request, _: RefusedError(request.trial, "no such lane"))
    probe_campaign(host, AGENT, make_plan(), tmp_path, said.append)
    assert len(said) == 1
    assert said[0].endswith(": no such lane")


def test_both_ends_follow_one_plan_and_the_server_starts_first(tmp_path: Path) -> None:
    link = make_plan().scenarios[0].link
    host = FakeHost(done)
    probe(host, AGENT, tmp_path, link, ask(link), 5, 2 * 10**9)
    [request] = host.started
    assert request.link_seed == 5
    assert [each.command for each in request.endpoints] == [
        ("/agent", "probes", "--end", end, "--", str(tmp_path / "probe-plan.json")) for end in ("server", "client")
    ]
    plan = ProbePlan.model_validate(json.loads((tmp_path / "probe-plan.json").read_text()))
    assert plan.start_ns > 0


def test_probes_that_fail_are_an_error_with_the_reason(tmp_path: Path) -> None:
    host = FakeHost(lambda request, _: result(request.trial, TrialStatus.FAILED))
    with pytest.raises(RunError, match="probes failed: because"):
        probe(host, AGENT, tmp_path, LINK, ask(LINK), None, 10**9)


def test_probes_that_never_end_time_out_and_their_progress_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, heard = FakeHost(lambda _request, _attempt: None), list[int]()
    monkeypatch.setattr(probes, "GRACE_NS", -(10**9))
    monkeypatch.setattr(time, "monotonic", iter(range(0, 10**6, 1000)).__next__)
    with pytest.raises(RunError, match="the probes were not over"):
        probe(host, AGENT, tmp_path, LINK, ask(LINK), None, 10**9, lambda _plan, at: heard.append(at))
    assert len(heard) == 1


def test_a_campaign_s_seconds_of_probes_are_counted() -> None:
    assert 2 * 10**9 < campaign_probes_ns(make_plan()) < 6 * 10**9
