"""The arrival process as written, with its interval and jitter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.asked import load_experiment
from wirelab.errors import WirelabError
from wirelab.experiment.file.arrival import Burst, WorkloadKeyError, read_arrival
from wirelab.experiment.file.workload import WorkloadTable
from wirelab.schema import Bursts, Closed, Fixed, IdleStart, Periodic, Poisson, PubSub, RequestWorkload
from wirelab.schema.workload import ArrivalSpec
from wirelab.units import UnitError

S, MINUTES, HOURS = 10**9, 60 * 10**9, 3600 * 10**9


@pytest.mark.parametrize(
    ("written", "arrival"),
    [
        ("closed", Closed()),
        ("periodic", "periodic"),
        ("poisson", "poisson"),
        ("idle-start", "idle-start"),
        ({"fixed": "10 /s"}, Fixed(rate_hz=10)),
        ({"poisson": "6 /min"}, Poisson(rate_hz=0.1)),
        ({"burst": "2 /s", "for": "10 s"}, Burst(2.0, 10 * S)),
    ],
)
def test_arrivals_are_read(written: object, arrival: object) -> None:
    assert read_arrival(written) == arrival


@pytest.mark.parametrize(
    "written",
    [
        "open", {}, {"fixed": "1 /s", "poisson": "1 /s"}, 3, {"fixed": "0 /s"}, {"periodic": "1 /s"}, {"for": "10 s"},
        {"burst": "2 /s"}, {"burst": "0 /s", "for": "1 s"}, {"burst": "2 /s", "for": "0 s"},
        {"burst": "2 /s", "for": "10 s", "every": "1 h"}, {"burst": "2 /s", "for": 10},
    ],
)  # fmt: skip
def test_an_unknown_arrival_process_is_refused(written: object) -> None:
    with pytest.raises(UnitError):
        read_arrival(written)


def arrival(**keys: Any) -> ArrivalSpec:
    """Of a workload's keys."""
    spec = WorkloadTable.model_validate({"kind": "telemetry", **keys}).spec()
    assert isinstance(spec, RequestWorkload)
    return spec.arrival


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"interval": "10 min"}, Periodic(interval_ns=10 * MINUTES)),
        ({"interval": "10 min", "arrival": "periodic"}, Periodic(interval_ns=10 * MINUTES)),
        ({"interval": "10 min", "jitter": "1 min"}, Periodic(interval_ns=10 * MINUTES, jitter_ns=MINUTES)),
        ({"interval": "10 min", "jitter": "10 min"}, Periodic(interval_ns=10 * MINUTES, jitter_ns=10 * MINUTES)),
        ({"interval": "500 ms", "arrival": "poisson"}, Poisson(rate_hz=2)),
        ({"interval": "10 min", "arrival": "idle-start"}, IdleStart(interval_ns=10 * MINUTES)),
        (
            {"interval": "1 h", "arrival": {"burst": "2 /s", "for": "10 s"}},
            Bursts(interval_ns=HOURS, rate_hz=2, duration_ns=10 * S),
        ),
        (
            {"interval": "10 s", "arrival": {"burst": "2 /s", "for": "10 s"}},
            Bursts(interval_ns=10 * S, rate_hz=2, duration_ns=10 * S),
        ),
    ],
)
def test_an_interval_makes_the_arrival(keys: dict[str, Any], expected: ArrivalSpec) -> None:
    assert arrival(**keys) == expected


def test_all_that_exchanges_messages_has_intervals() -> None:
    every = Periodic(interval_ns=10 * MINUTES)
    assert arrival(kind="request-response", interval="10 min") == every
    pubsub = WorkloadTable.model_validate({"kind": "pubsub", "interval": "10 min"}).spec()
    assert isinstance(pubsub, PubSub)
    assert pubsub.arrival == every


def test_without_jitter_nothing_of_it_is_written() -> None:
    assert "jitter_ns" not in Periodic(interval_ns=5).to_json()
    assert Periodic(interval_ns=5, jitter_ns=1).to_json()["jitter_ns"] == 1


@pytest.mark.parametrize(
    ("keys", "key", "what"),
    [
        ({"arrival": "periodic"}, "arrival", "periodic needs the time between messages"),
        ({"arrival": "poisson"}, "arrival", "poisson needs the time between messages"),
        ({"arrival": "idle-start"}, "arrival", "idle-start needs the time between messages"),
        (
            {"kind": "pubsub", "arrival": "idle-start", "interval": "1 h"},
            "arrival",
            "pubsub has no client that sends and asks its link to rest",
        ),
        ({"arrival": {"burst": "2 /s", "for": "10 s"}}, "arrival", "a burst needs the time between messages"),
        (
            {"interval": "1 h", "arrival": {"burst": "2 /s", "for": "2 h"}},
            "arrival",
            "a burst of 2 h does not fit its interval of 1 h",
        ),
        (
            {"interval": "10 min", "arrival": {"fixed": "6 /h"}},
            "interval",
            'the arrival has a rate of its own ({ fixed = "0.001667 /s" })',
        ),
        (
            {"interval": "10 min", "arrival": {"poisson": "2 /s"}},
            "interval",
            'the arrival has a rate of its own ({ poisson = "2 /s" })',
        ),
        (
            {"interval": "10 min", "arrival": "closed"},
            "interval",
            "a closed loop has no interval: the next message begins when one ends",
        ),
        ({"interval": "1 h", "jitter": "2 h"}, "jitter", "2 h is more than the interval of 1 h"),
        ({"jitter": "2 s"}, "jitter", "only messages at an interval have a jitter"),
        (
            {"interval": "1 h", "jitter": "2 s", "arrival": "poisson"},
            "jitter",
            "only messages at an interval have a jitter",
        ),
        (
            {"interval": "1 h", "jitter": "2 s", "arrival": "idle-start"},
            "jitter",
            "only messages at an interval have a jitter",
        ),
        ({"jitter": "2 s", "arrival": {"fixed": "6 /h"}}, "jitter", "only messages at an interval have a jitter"),
    ],
)
def test_keys_that_do_not_go_together_are_refused(keys: dict[str, Any], key: str, what: str) -> None:
    with pytest.raises(WorkloadKeyError) as refused:
        arrival(**keys)
    assert (refused.value.key, str(refused.value)) == (key, what)


TEXT = """
title = "Intervals"
[factors]
protocol = ["coap"]
"workload.interval" = ["10 min", "1 h"]
[workload]
kind = "telemetry"
message = "64 B"
"""


def test_an_interval_can_be_varied_and_set(tmp_path: Path) -> None:
    path = tmp_path / "experiment.toml"
    path.write_text(TEXT)
    gaps = [scenario.workload.gap_ns for scenario in load_experiment(str(path)).scenarios]
    assert gaps == [10 * MINUTES, HOURS]
    [one] = load_experiment(str(path), ("workload.interval=15min", "workload.jitter=1min")).scenarios
    assert one.workload.to_json()["arrival"] == {
        "process": "periodic",
        "interval_ns": 15 * MINUTES,
        "jitter_ns": MINUTES,
    }


def test_the_error_names_the_level_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "experiment.toml"
    path.write_text(TEXT + 'arrival = { burst = "2 /s", for = "20 min" }\n')
    with pytest.raises(WirelabError, match="a burst of 20 min does not fit its interval of 10 min"):
        load_experiment(str(path))
