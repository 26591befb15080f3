"""What the comparison of two emulators tells apart, on simulated packets: as many as the guest sends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.random import Generator
from tests.netem.compare import Difference, Flow, Flows, compare

from tests.asked import facts
from wirelab.schema.probe import ProbeKind
from wirelab.stats.link.certificate import certify

PACKETS = 4000
SPACING_NS = 750_000
DELAY_NS = 20_000_000
JITTER = {"kind": "delay", "delay_ns": DELAY_NS, "jitter": {"distribution": "normal", "sigma_ns": 300_000}}
LINK = {"uplink": [JITTER, {"kind": "loss", "probability": 0.1}], "downlink": [{"kind": "delay", "delay_ns": DELAY_NS}]}
TRAIN = {"client_port": ProbeKind.RATE.port(uplink=True), "packets": 8, "payload_bytes": 1200}
PLAN = {"flows": [TRAIN]}


def _flow(
    generator: Generator, loss: float = 0.1, run: float = 1 / 0.9, later_ns: int = 0, double: float = 0.1
) -> Flow:
    """Bursts of losses with a mean length of `run`."""
    end = 1 / run
    begin = loss * end / (1 - loss)
    draws, lost, bad = generator.random(PACKETS), np.zeros(PACKETS, np.bool_), False
    for number, draw in enumerate(draws):
        bad = draw >= end if bad else draw < begin
        lost[number] = bad
    numbers = np.flatnonzero(~lost)
    numbers = np.sort(np.concatenate((numbers, numbers[generator.random(len(numbers)) < double])))
    sent = numbers * SPACING_NS
    delays = DELAY_NS + later_ns + generator.normal(0, 300_000, len(numbers))
    return Flow(PACKETS, np.column_stack((numbers, sent, sent + delays.astype(np.int64))))


def _trains(generator: Generator, rate_bps: float = 500e3) -> Flow:
    numbers = np.arange(20 * 8)
    times = numbers // 8 * 330_000_000 + (numbers % 8 * 1228 * 8e9 / rate_bps).astype(np.int64)
    return Flow(len(numbers), np.column_stack((numbers, times, times + generator.integers(0, 1000, len(numbers)))))


def _flows(loss: Flow, rate: Flow) -> Flows:
    numbers = np.arange(PACKETS)
    constant = Flow(PACKETS, np.column_stack((numbers, numbers * SPACING_NS, numbers * SPACING_NS + DELAY_NS)))
    return {(ProbeKind.LOSS, True): loss, (ProbeKind.LOSS, False): constant, (ProbeKind.RATE, True): rate}


def _out(ours: Flows, theirs: Flows) -> set[str]:
    found: list[Difference] = list(compare(ours, theirs, facts(LINK), PLAN))
    [certificate] = certify([[one.check for one in found]])
    return {line.name for line in certificate.lines if line.verdict == "out"}


def test_an_emulator_compared_with_itself_hardly_ever_differs() -> None:
    generator = np.random.default_rng(1)
    families = 60
    out = 0
    for _ in range(families):
        one, other = (_flows(_flow(generator), _trains(generator)) for _ in range(2))
        out += bool(_out(one, other))
    assert out <= 1, "one in a thousand is the rate that is stated"


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda generator: _flow(generator, loss=0.15), {"lost"}),
        (lambda generator: _flow(generator, run=1.6), {"lost after a loss", "run lengths"}),
        (lambda generator: _flow(generator, later_ns=100_000), {"delay p10", "delay p50", "delay p90"}),
        (lambda generator: _flow(generator, double=0.15), {"duplicated"}),
    ],
    ids=["more is lost", "longer runs are lost", "it takes longer", "more is doubled"],
)
def test_a_different_link_is_detected(make: Callable[[Generator], Flow], names: set[str]) -> None:
    generator = np.random.default_rng(2)
    ours = _flows(_flow(generator), _trains(generator))
    assert names <= _out(ours, _flows(make(generator), _trains(generator)))


def test_a_rate_a_thousandth_lower_is_detected() -> None:
    generator = np.random.default_rng(3)
    flow = _flow(generator)
    assert _out(_flows(flow, _trains(generator)), _flows(flow, _trains(generator, 499.5e3))) == {"rate"}


def test_packets_after_later_ones_are_reordered_and_copies_count_once() -> None:
    rows = np.array([[0, 0, 10], [2, 0, 20], [1, 0, 30], [2, 0, 40]])
    flow = Flow(4, rows)
    assert flow.overtaken.tolist() == [False, True, False]
    assert flow.doubled.tolist() == [False, False, True]
    assert flow.lost.tolist() == [False, False, False, True]
    assert replace(flow, sent=3).lost.tolist() == [False, False, False]
