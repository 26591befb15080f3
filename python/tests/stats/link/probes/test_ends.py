"""Probes of links that netem ran: judged by what their ends saw."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from tests.asked import facts
from tests.documents import whole_result
from wirelab.metrics.probes import Probes
from wirelab.schema import LinkFacts, LinkSpec, TrialResult
from wirelab.schema.probe import ProbeKind, ProbePlan
from wirelab.stats.link.certificate import Line, certify
from wirelab.stats.link.probes.checks import checks
from wirelab.stats.link.probes.ends import seen_by_ends

MS = 10**6
START = 10**9
DELAY_NS = 20 * MS
DELAY = {"kind": "delay", "delay_ns": DELAY_NS}
LOSS = {"kind": "loss", "probability": 0.05}
FLOWS = ((ProbeKind.DELAY, 0, 400, 20 * MS, 1), (ProbeKind.LOSS, 8000 * MS, 8000, 2 * MS, 1))
TRAINS = (ProbeKind.RATE, 25_000 * MS, 20, 150 * MS, 10)
PAYLOAD = 1000 - 28
RATE_BPS = 1_000_000
RATE = {"kind": "rate", "rate_bps": RATE_BPS, "queue": {"discipline": "drop-tail", "packets": 100}}


def probed(
    *stages: dict[str, Any], loss: float = 0.0, delay_ns: int = DELAY_NS, copies: float = 0.0, rate: float | None = None
) -> Probes:
    """Probes of an uplink that does this, whatever was configured."""
    generator = np.random.default_rng(1)
    plan: list[dict[str, Any]] = []
    log: list[tuple[Any, ...]] = []
    came: list[tuple[Any, ...]] = []
    free = 0
    for kind, begin, bursts, every, packets in (*FLOWS, *([TRAINS] if rate else [])):
        port, payload = kind.port(uplink=True), PAYLOAD if packets > 1 else 16
        plan.append({
            "uplink": True, "client_port": port, "begin_ns": begin, "every_ns": every, "bursts": bursts,
            "packets": packets, "payload_bytes": payload, "spread_ns": 0,
        })  # fmt: skip
        for number in range(bursts * packets):
            sent = START + begin + number // packets * every
            log.append((len(log), True, payload + 28, sent, sent, 1000, "delivered", False, False, port))
            free = max(free, sent) + (round((payload + 28) * 8e9 / rate) if rate else 0)
            times = 0 if generator.random() < loss else 1 + (generator.random() < copies)
            came += [(True, port, number, sent, free + delay_ns)] * times
    names = [
        "sequence", "uplink", "size_bytes", "arrival_ns", "departure_ns", "lateness_ns", "fate", "copy", "corrupted",
        "client_port",
    ]  # fmt: skip
    received = pl.DataFrame(
        came, schema=["uplink", "client_port", "number", "sent_ns", "received_ns"], orient="row"
    )  # fmt: skip
    sent_by_port: Counter[tuple[bool, int]] = Counter()
    for row in log:
        sent_by_port[True, row[-1]] += 1
    link = LinkSpec.model_validate({"uplink": list(stages), "downlink": [], "backend": "netem"})
    report = {"directions": [{"delivered": len(came)}, {"delivered": 0}]}
    result = TrialResult.model_validate(whole_result({"link": report}))
    probes = ProbePlan.model_validate({"start_ns": START, "duration_ns": 1, "server_port": 1, "flows": plan})
    packets_log = pl.DataFrame(log, schema=names, orient="row")
    return Probes(link, probes, packets_log, sent_by_port, received, None, result)


def chain_of(probes: Probes) -> LinkFacts:
    """What is known of the link, which the kernel need not be able to run."""
    return facts({"uplink": probes.link.to_json()["uplink"]})


def lines(probes: Probes) -> dict[str, Line]:
    [certificate] = certify([checks(probes, chain_of(probes))])
    return {line.name: line for line in certificate.lines if line.direction != "downlink"}


def test_ends_that_agree_with_the_configuration_are_within_tolerance() -> None:
    found = lines(probed(LOSS, DELAY, loss=0.05))
    assert {name: line.verdict for name, line in found.items()} == {
        "delay": "in", "into netem p99": "in", "loss": "open", "loss runs": "in", "reordered": "in",
        "unaccounted": "in", "replay mismatches": "unjudged",
    }  # fmt: skip
    assert found["replay mismatches"].why == "netem keeps no log"


def test_a_deviation_of_netem_is_seen_at_the_ends_though_not_in_the_log() -> None:
    assert lines(probed(LOSS, DELAY, loss=0.1))["loss"].verdict == "out"
    late = lines(probed(LOSS, DELAY, loss=0.05, delay_ns=DELAY_NS + MS))["delay"]
    assert (late.verdict, late.configured) == ("out", 0.02)
    assert lines(probed(DELAY, loss=0.01))["loss"].grade == "unusable"


def test_a_rate_is_that_of_trains_as_they_arrive() -> None:
    assert lines(probed(DELAY, RATE, rate=RATE_BPS))["rate"].verdict == "in"
    assert lines(probed(DELAY, RATE, rate=0.9 * RATE_BPS))["rate"].verdict == "out"


def test_packets_that_arrive_twice_are_copies() -> None:
    duplicate = {"kind": "duplicate", "probability": 0.1}
    probes = probed(duplicate, DELAY, copies=0.1)
    found = lines(probes)["duplicated"]
    assert found.measured is not None
    assert found.measured.point == (probes.received.height - 8400) / 8400
    assert found.verdict == "open"


def test_lines_that_corrupted_packets_hide_are_not_judged() -> None:
    found = lines(probed({"kind": "corrupt", "probability": 0.01}, DELAY, loss=0.01))
    assert [found[name].verdict for name in ("loss", "corrupted")] == ["unjudged"] * 2


def test_a_packet_that_left_netem_and_never_arrived_is_unaccounted_for() -> None:
    probes = probed(DELAY)
    up, down = probes.result.link.directions
    more = up.model_copy(update={"delivered": up.delivered + 5})
    report = probes.result.link.model_copy(update={"directions": (more, down)})
    found = lines(replace(probes, result=probes.result.model_copy(update={"link": report})))["unaccounted"]
    assert (found.verdict, found.grade) == ("out", "unusable")


def test_a_packet_that_never_arrived_is_lost_at_its_planned_time_and_keeps_its_position() -> None:
    seen = seen_by_ends(probed(LOSS, DELAY, loss=0.05))
    assert seen["sequence"].to_list() == list(range(8400))
    assert seen["arrival_ns"].is_sorted()
    assert set(seen.filter(seen["fate"] == "loss")["copy"]) == {False}
