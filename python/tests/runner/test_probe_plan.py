"""Probes that fit into their time, do not wait for one another, and wake a sleeping radio."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.asked import ask, single_link
from wirelab.experiment.library import profiles
from wirelab.runner import probe_plan
from wirelab.runner.probe_plan import doing
from wirelab.schema import Delay, DropTail, LinkSpec, Loss, Rate
from wirelab.schema.probe import ProbeFlow, ProbeKind, ProbePlan

SECOND = 10**9
IPV4_AND_UDP_BYTES = 28
SLOW = Rate(rate_bps=20_000, queue=DropTail(bytes=16_000))


def plan_probes(link: LinkSpec, time_ns: int) -> ProbePlan:
    return probe_plan.plan_probes(link, ask(link), time_ns)


def of(plan: ProbePlan, kind: ProbeKind, *, uplink: bool) -> list[ProbeFlow]:
    return [flow for flow in plan.flows if flow.uplink == uplink and flow.client_port == kind.port(uplink=uplink)]


def end_ns(flow: ProbeFlow) -> int:
    return flow.begin_ns + (flow.bursts - 1) * flow.every_ns + flow.spread_ns


@pytest.mark.parametrize("name", sorted(profiles()))
@pytest.mark.parametrize("seconds", [2, 60])
def test_every_shipped_link_has_probes_that_fit(name: str, seconds: int) -> None:
    plan = plan_probes(single_link(name), seconds * SECOND)
    for uplink in (True, False):
        assert of(plan, ProbeKind.DELAY, uplink=uplink)
        kinds = (ProbeKind.DELAY, ProbeKind.LOSS, ProbeKind.RATE)
        own = [flow for kind in kinds for flow in of(plan, kind, uplink=uplink)]
        assert all(end_ns(before) <= after.begin_ns for before, after in pairwise(own))
    assert all(end_ns(flow) < plan.duration_ns for flow in plan.flows)


def test_a_probe_plan_says_at_any_time_what_is_sent() -> None:
    lossy = (Loss(probability=0.1), SLOW)
    plan = plan_probes(LinkSpec(uplink=lossy, downlink=lossy), 12 * SECOND)
    reported = [doing(plan, at * SECOND // 2) for at in range(28)]
    assert list(dict.fromkeys(reported)) == [
        "delay, both ways", "loss, both ways", "rate, uplink", "rate, downlink", "waiting for the last probes",
    ]  # fmt: skip
    asleep = plan_probes(single_link("nb-iot-psm"), 2 * SECOND)
    assert doing(asleep, SECOND // 10) == "waking the link"


def test_probes_for_the_delay_do_not_wait_for_one_another() -> None:
    plan = plan_probes(LinkSpec(uplink=(SLOW,), downlink=()), 10 * SECOND)
    [flow] = of(plan, ProbeKind.DELAY, uplink=True)
    takes_ns = (flow.payload_bytes + IPV4_AND_UDP_BYTES) * 8 * SECOND // 20_000
    assert flow.every_ns - flow.spread_ns > 2 * takes_ns


def test_a_train_fits_its_queue_and_is_faster_than_the_rate() -> None:
    plan = plan_probes(LinkSpec(uplink=(SLOW,), downlink=()), 60 * SECOND)
    [flow] = of(plan, ProbeKind.RATE, uplink=True)
    assert flow.packets * (flow.payload_bytes + IPV4_AND_UDP_BYTES) <= 16_000
    assert flow.bursts >= 3
    assert not of(plan, ProbeKind.RATE, uplink=False)


def test_loss_is_probed_if_it_is_configured() -> None:
    lossy = LinkSpec(uplink=(Loss(probability=0.1),), downlink=())
    assert of(plan_probes(lossy, 10 * SECOND), ProbeKind.LOSS, uplink=True)
    clean = LinkSpec(uplink=(Delay(delay_ns=5),), downlink=())
    assert not of(plan_probes(clean, 10 * SECOND), ProbeKind.LOSS, uplink=True)


def test_a_radio_is_woken_before_anything_is_measured() -> None:
    link = single_link("nb-iot")
    assert link.radio is not None
    plan = plan_probes(link, 5 * SECOND)
    assert plan.flows[0].begin_ns == 0
    assert plan.flows[0].uplink
    waking = max(sleep.wake_ns for sleep in link.radio.sleeps)
    assert all(f.begin_ns > waking for kind in (ProbeKind.DELAY, ProbeKind.RATE) for f in of(plan, kind, uplink=False))
    [delays] = of(plan, ProbeKind.DELAY, uplink=True)
    assert delays.every_ns + delays.spread_ns < link.radio.sleeps[0].after_ns


def test_a_nat_mapping_is_opened_for_each_flow_towards_the_client() -> None:
    plan = plan_probes(single_link("lte-m"), 5 * SECOND)
    opened = {flow.client_port for flow in plan.flows if flow.uplink}
    assert {flow.client_port for flow in plan.flows if not flow.uplink} <= opened


def test_a_train_at_a_high_rate_is_longer_and_still_fits_the_receiver() -> None:
    def packets(name: str) -> int:
        [flow] = of(plan_probes(single_link(name), 5 * SECOND), ProbeKind.RATE, uplink=True)
        return flow.packets

    assert (packets("wifi-n"), packets("ethernet-1g")) == (64, 128)
