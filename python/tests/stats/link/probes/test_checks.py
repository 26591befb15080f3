"""Probes of links in virtual time: an honest one is certified, one that is off by what matters is not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.asked import ask, chain, facts
from tests.documents import whole_result
from wirelab.metrics.probes import Probes
from wirelab.schema import LinkSpec, TrialResult
from wirelab.schema.link import ReplayReport
from wirelab.schema.probe import ProbeKind, ProbePlan
from wirelab.stats.link.certificate import Certificate, Line, certify
from wirelab.stats.link.probes.checks import checks
from wirelab.stats.link.probes.rate import _rate as train_rate
from wirelab.stats.link.probes.way import lone_delay_s

MS = 10**6
RATE, DELAY = 1_000_000, 20 * MS
LINK: dict[str, Any] = {
    "uplink": [
        {"kind": "rate", "rate_bps": RATE, "queue": {"discipline": "drop-tail", "bytes": 64_000}, "overhead_bytes": 0},
        {"kind": "delay", "delay_ns": DELAY},
        {"kind": "loss", "probability": 0.05},
    ],
    "downlink": [{"kind": "delay", "delay_ns": DELAY}],
}

NO_PLAN = ProbePlan(start_ns=0, duration_ns=0, server_port=1, flows=())
NO_RESULT = TrialResult.model_validate(whole_result({}))


def linked(link: dict[str, Any]) -> LinkSpec:
    return LinkSpec.model_validate(link)


def probed(
    *, rate: float = RATE, delay: int = DELAY, loss: float = 0.05, lateness: int = 10_000, seed: int = 1
) -> Probes:
    """Probes of a link that does this, whatever was configured."""
    generator = np.random.default_rng(seed)
    rows = []
    free = 0
    arrivals = [(i * 20 * MS, 44, ProbeKind.DELAY) for i in range(400)]
    arrivals += [(8000 * MS + i * 2 * MS, 44, ProbeKind.LOSS) for i in range(8000)]
    arrivals += [(25_000 * MS + train * 150 * MS, 1000, ProbeKind.RATE) for train in range(20) for _ in range(10)]
    for at, size, kind in arrivals:
        free = max(free, at) + round(size * 8e9 / rate)
        fate = "loss" if generator.random() < loss else "delivered"
        late = 0 if fate == "loss" else int(generator.integers(0, lateness))
        rows.append((True, size, at, free + delay, late, fate, kind.port(uplink=True)))
    rows += [
        (False, 44, i * 20 * MS + 7 * MS, i * 20 * MS + 7 * MS + DELAY, 5000, "delivered", 41_011) for i in range(400)
    ]
    rows.sort(key=lambda row: row[2])
    names = ["uplink", "size_bytes", "arrival_ns", "departure_ns", "lateness_ns", "fate", "client_port"]
    packets = pl.DataFrame(rows, schema=names, orient="row").with_columns(
        sequence=pl.int_range(pl.len()), copy=pl.lit(value=False), corrupted=pl.lit(value=False)
    )
    sent: Counter[tuple[bool, int]] = Counter()
    for uplink, port in packets.select("uplink", "client_port").iter_rows():
        sent[uplink, port] += 1
    arrived = packets.filter(pl.col("fate") == "delivered")
    received = arrived.select(
        "uplink", "client_port", number="sequence", sent_ns="arrival_ns",
        received_ns=pl.col("departure_ns") + pl.col("lateness_ns"),
    )  # fmt: skip
    replay = ReplayReport(packets=len(rows), mismatches=0)
    return Probes(linked(LINK), NO_PLAN, packets, sent, received, replay, NO_RESULT)


def certificate(probes: Probes) -> Certificate:
    return certify([checks(probes, ask(probes.link))])[0]


def line(probes: Probes, name: str, direction: str = "uplink") -> Line:
    [found] = [each for each in certificate(probes).lines if (each.name, each.direction) == (name, direction)]
    return found


def test_a_correct_link_is_good_on_every_line() -> None:
    found = certificate(probed())
    assert found.grade == "good"
    assert {(each.name, each.verdict) for each in found.lines if each.direction == "downlink"} == {
        ("delay", "in"), ("end to end", "in"), ("timing error p99", "in"), ("loss", "in"), ("reordered", "in"),
    }  # fmt: skip
    assert [each.name for each in found.lines if each.verdict == "out"] == []


@pytest.mark.parametrize(
    ("off", "name", "grade"),
    [
        ({"delay": DELAY + MS}, "delay", "limited"),
        ({"delay": DELAY + 10 * MS}, "delay", "unusable"),
        ({"rate": 1.05 * RATE}, "rate", "limited"),
        ({"rate": 0.8 * RATE}, "rate", "unusable"),
        ({"loss": 0.1}, "loss", "unusable"),
        ({"lateness": 2 * MS}, "timing error p99", "limited"),
    ],
)
def test_a_wrong_link_is_detected_on_the_line_of_its_error(off: dict[str, Any], name: str, grade: str) -> None:
    found = line(probed(**off), name)
    assert (found.verdict, found.grade) == ("out", grade)


def test_correct_links_are_flagged_in_none_of_a_hundred_campaigns() -> None:
    # The chance of one or more is 1 in 10 if every line is flagged at its nominal rate.
    flagged = [seed for seed in range(60) if certificate(probed(seed=seed)).grade != "good"]
    assert len(flagged) <= 1


def test_an_unaccounted_packet_makes_the_link_unusable() -> None:
    probes = probed()
    probes.sent[True, ProbeKind.DELAY.port(uplink=True)] += 1
    found = line(probes, "unaccounted", "both")
    assert (found.verdict, found.grade) == ("out", "unusable")
    assert found.why is not None
    assert found.why.startswith("1 of 9,001 sent never reached the link, 0 of ")


def test_a_replay_mismatch_makes_the_link_unusable() -> None:
    probes = probed()
    assert probes.replay is not None
    probes = replace(probes, replay=probes.replay.model_copy(update={"mismatches": 1}))
    assert certificate(probes).grade == "unusable"


def test_losses_that_were_not_configured_make_the_link_unusable() -> None:
    probes = probed()
    honest = replace(probes, link=linked({**LINK, "uplink": LINK["uplink"][:2]}))
    assert line(honest, "loss").grade == "unusable"


def test_the_delay_of_a_single_packet_is_serialisation_plus_delay() -> None:
    schedule = {"kind": "schedule", "points": [{"at_ns": 0}], "queue": LINK["uplink"][0]["queue"]}
    assert lone_delay_s(facts(LINK).uplink.stages, (), 125) == pytest.approx(0.021)
    assert lone_delay_s(chain(schedule).stages, (), 125) is None


def woken(after_ns: int) -> Probes:
    """Probes of a link that sleeps, and whose first packet came so late; its jitter is 2 ms either way."""
    probes = probed(loss=0.0)
    jitter = {"distribution": "uniform", "half_width_ns": 2 * MS}
    sleeps = [{"after_ns": 10**10, "wake_ns": 100 * MS}]
    link = linked({
        **LINK, "uplink": [{"kind": "delay", "delay_ns": DELAY, "jitter": jitter}],
        "radio": {"sleeps": sleeps, "buffer_bytes": 1000},
    })  # fmt: skip
    first = pl.int_range(pl.len()) == 0
    late = pl.when(first).then(pl.col("arrival_ns") + DELAY + after_ns).otherwise("departure_ns")
    return replace(probes, link=link, packets=probes.packets.with_columns(departure_ns=late))


@pytest.mark.parametrize(("after_ns", "verdict"), [(100 * MS, "in"), (102 * MS, "in"), (110 * MS, "out")])
def test_a_wake_up_is_judged_to_within_the_jitter(after_ns: int, verdict: str) -> None:
    assert line(woken(after_ns), "wake-up").verdict == verdict


def test_loss_runs_that_cannot_be_judged_say_whether_more_time_would_help() -> None:
    few = probed(loss=0.0)
    assert line(few, "loss runs").why == "fewer than 10 runs of losses: more time tells it"
    pattern = {"kind": "loss-pattern", "pattern": "0000000001", "repeat": True}
    link = {**LINK, "uplink": [*LINK["uplink"][:2], pattern]}
    why = line(replace(probed(), link=linked(link)), "loss runs").why
    assert why is not None
    assert why.startswith("the model moves with time or by a pattern")


def test_the_interval_of_a_rate_includes_the_timing_error() -> None:
    # Trains of ten packets at 1 Mbit/s last 72 ms, of which the emulator's 50 us are less than a hundredth.
    assert line(probed(), "rate").tolerance == pytest.approx(0.01 * RATE)
    fast = {**LINK, "uplink": [{**LINK["uplink"][0], "rate_bps": 10**9}, *LINK["uplink"][1:]]}
    quick = line(replace(probed(rate=1e9), link=linked(fast)), "rate")
    # Nine packets of 1000 B take 72 us at 1 Gbit/s.
    assert quick.tolerance is not None
    assert quick.tolerance == pytest.approx(50 / 72 * 1e9, rel=0.1)


def test_no_interval_of_a_rate_is_negative() -> None:
    spans = [(1000.0, 0.01), (1000.0, 1.0), (1000.0, 0.02), (1000.0, 3.0), (1000.0, 0.01)]
    found = train_rate(spans)(0.9999)
    assert found.point is not None
    assert found.low == 0.0
    assert found.high is not None
    assert found.high > found.point
