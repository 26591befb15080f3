"""What the agent says of links in people's words."""

from typing import Any

import pytest

from tests.asked import facts
from wirelab.experiment.link.shared import NatTable

QUEUE = {"discipline": "drop-tail", "bytes": 16_000}
RATE = {"kind": "rate", "rate_bps": 20_000, "queue": QUEUE}
DELAY = {"kind": "delay", "delay_ns": 100_000_000}


def words(*stages: dict[str, Any], **rest: Any) -> dict[str, str]:
    """Of a link with the same stages both ways."""
    return dict(facts({"uplink": stages, "downlink": stages, **rest}).words)


def test_stages_are_reported_in_order() -> None:
    assert words(RATE, DELAY) == {"each way": "20 kbit/s behind 16 kB, then 100 ms"}
    assert words(DELAY, RATE) == {"each way": "100 ms, then 20 kbit/s behind 16 kB"}


def test_directions_that_differ_are_distinguished() -> None:
    assert facts({"uplink": [RATE]}).words == (
        ("uplink", "20 kbit/s behind 16 kB"),
        ("downlink", "nothing: packets pass without delay"),
    )


def test_a_link_without_effects_is_described_as_such() -> None:
    assert words() == {"each way": "nothing: packets pass without delay"}


@pytest.mark.parametrize(
    ("stage", "reported"),
    [
        (DELAY | {"jitter": {"distribution": "normal", "sigma_ns": 5_000_000}, "correlation": 0.25},
         "100 ms ± 5 ms (normal, standard deviation), 25 % correlated"),
        (DELAY | {"jitter": {"distribution": "uniform", "half_width_ns": 2_500_000}, "overtaking": True},
         "100 ms ± 2.5 ms (uniform), overtaking"),
        (DELAY | {"jitter": {"distribution": "pareto", "sigma_ns": 1_000}}, "100 ms ± 1 us (netem's pareto)"),
        (DELAY | {"jitter": {"distribution": "pareto-normal", "sigma_ns": 999}},
         "100 ms ± 999 ns (netem's paretonormal)"),
        (DELAY | {"jitter": {"distribution": "table", "offsets_ns": [-1, 0, 1]}},
         "100 ms with a spread of 3 quantiles"),
        ({"kind": "loss", "probability": 0.01, "correlation": 0.5}, "1 % lost, 50 % correlated"),
        ({"kind": "gilbert-elliott", "p": 0.01, "r": 0.1, "bad_loss": 0.7, "good_loss": 0.001},
         "6.45 % lost, in bursts that lose 70 % for 10 packets on average"),
        ({"kind": "gilbert-elliott", "p": 0.01, "r": 0, "bad_loss": 0.7, "good_loss": 0},
         "70 % lost, in bursts that lose 70 % for ever"),
        ({"kind": "gilbert-elliott-time", "good_ns": 480_000_000, "bad_ns": 70_000_000, "bad_loss": 0.37,
          "good_loss": 0},
         "4.71 % lost, in bursts that lose 37 % for 70 ms, 480 ms apart, on average"),
        ({"kind": "four-state", "p13": 0.1, "p31": 0.1, "p32": 0.1, "p23": 0.1, "p14": 0.1},
         "loss by netem's four states"),
        ({"kind": "markov", "transitions": [[0.9, 0.1], [0.5, 0.5]], "loss": [0, 1]}, "loss by a chain of 2 states"),
        ({"kind": "loss-pattern", "pattern": "0010", "repeat": True},
         "1 of 4 packets lost by a pattern, again and again"),
        ({"kind": "reorder", "probability": 0.02, "by_ns": 10_000_000}, "2 % held back for 10 ms"),
        ({"kind": "duplicate", "probability": 0.001}, "0.1 % sent twice"),
        ({"kind": "corrupt", "probability": 0.001}, "0.1 % with one bit inverted"),
        (RATE | {"overhead_bytes": 38, "queue": {"discipline": "drop-tail", "packets": 1000}},
         "20 kbit/s (+ 38 B a packet) behind 1000 packets"),
        (RATE | {"queue": {"discipline": "codel", "target_ns": 5_000_000, "interval_ns": 100_000_000, "bytes": 64_000}},
         "20 kbit/s behind CoDel (5 ms, 100 ms) of 64 kB"),
        ({"kind": "token-bucket", "rate_bps": 1_500_000, "burst_bytes": 15_000, "queue": QUEUE},
         "1.5 Mbit/s after bursts of 15 kB behind 16 kB"),
        ({"kind": "delivery-trace", "opportunities_ms": [1, 2, 60_000], "queue": QUEUE},
         "a trace of 3 chances to send 1500 B in 1 min behind 16 kB"),
        ({"kind": "schedule", "points": [{"at_ns": 0}], "repeat_ns": 90_000_000_000, "queue": QUEUE},
         "delay, rate and loss at 1 instants, again every 90 s, behind 16 kB"),
        ({"kind": "outage", "start_ns": 10**10, "duration_ns": 2 * 10**9, "every_ns": 6 * 10**10, "hold_bytes": 9_000},
         "no link for 2 s from 10 s on, again every 1 min, packets kept, up to 9 kB"),
        ({"kind": "outage", "start_ns": 0, "duration_ns": 10**9}, "no link for 1 s from 0 s on, packets dropped"),
        ({"kind": "duty-cycle", "rate_bps": 250, "share": 0.01, "queue": QUEUE},
         "250 bit/s for 1 % of the time behind 16 kB"),
    ],
)  # fmt: skip
def test_each_effect_is_described_with_its_numbers(stage: dict[str, Any], reported: str) -> None:
    assert words(stage) == {"each way": reported}


def test_numbers_are_exact() -> None:
    assert words(DELAY | {"delay_ns": 81_920_000_001}) == {"each way": "81.920000001 s"}
    assert words(RATE | {"rate_bps": 13_671_001}) == {"each way": "13.671001 Mbit/s behind 16 kB"}


def test_a_sleeping_radio_is_described_from_light_to_deep_sleep() -> None:
    sleeps = [{"after_ns": 10**10, "cycle_ns": 1_280_000_000, "wake_ns": 0}, {"after_ns": 7 * 10**10, "wake_ns": 10**9}]
    assert words(radio={"sleeps": sleeps, "buffer_bytes": 1280}) == {
        "radio": "sleeps when no packet passes: after 10 s it listens every 1.28 s and wakes without delay; "
        "after 70 s it hears nothing until it sends and wakes in 1 s; the network keeps 1.28 kB for it"
    }


def test_a_shared_medium_is_described() -> None:
    serialiser = {"kind": "serialiser", "rate_bps": 100_000, "queue_bytes": 8_000}
    nat = NatTable().spec().model_dump(mode="json")
    reported = words(medium=serialiser, nat=nat, mtu=1280, family="ipv6")
    assert reported == {
        "shared": "one packet at a time at 100 kbit/s; both directions contend, each behind 8 kB",
        "nat": "an address mapping ends after 2 min (UDP) or 124 min (TCP) idle, and the next has another port",
        "mtu": "packets of at most 1.28 kB",
        "family": "IPv6 addresses",
    }
