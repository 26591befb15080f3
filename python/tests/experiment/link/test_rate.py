from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.asked import ask
from wirelab.experiment.link import LinkTable, default_queues, link_spec
from wirelab.experiment.link.files import Files
from wirelab.schema import Codel, DropTail, FqCodel, Outage, QueueSpec, Rate, Schedule, SchedulePoint


def read(table: dict[str, Any], folder: Path = Path()) -> LinkTable:
    return LinkTable.model_validate(table, context=Files(folder))


@pytest.mark.parametrize(
    ("table", "uplink_bytes", "downlink_bytes", "words"),
    [
        (
            {"rate": "10 Mbit/s", "rtt": "100 ms"}, 125_000, 125_000,
            ["uplink and downlink: no queue is given for 10 Mbit/s, so 125 kB may wait (one bandwidth-delay product)"],
        ),
        (
            {"rate": "1 Mbit/s", "rtt": "20 ms", "downlink": {"rate": "10 Mbit/s", "delay": "40 ms"}}, 15_000, 62_500,
            ["uplink: no queue is given for 1 Mbit/s, so 15 kB may wait (10 whole packets)",
             "downlink: no queue is given for 10 Mbit/s, so 62.5 kB may wait (one bandwidth-delay product)"],
        ),
        ({"rate": "1 Mbit/s", "mtu": "600 B"}, 6_000, 6_000, None),
        ({"rate": "1 Mbit/s", "queue": "64 kB"}, 64_000, 64_000, []),
    ],
)  # fmt: skip
def test_a_rate_without_a_queue_gets_one_bandwidth_delay_product_with_a_note(
    table: dict[str, Any], uplink_bytes: int, downlink_bytes: int, words: list[str] | None
) -> None:
    link = read(table)
    spec = link_spec(link, ask)
    for way, size in ((spec.uplink, uplink_bytes), (spec.downlink, downlink_bytes)):
        [rate] = [stage for stage in way if isinstance(stage, Rate)]
        assert rate.queue == DropTail(bytes=size)
    assert words is None or default_queues(link) == words


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("64 kB", DropTail(bytes=64_000)),
        ("0 B", DropTail(bytes=0)),
        ("100 packets", DropTail(packets=100)),
        ("1 packet", DropTail(packets=1)),
        ({"discipline": "drop-tail", "bytes": "64 kB", "packets": "100 packets"}, DropTail(bytes=64_000, packets=100)),
        (
            {"discipline": "codel", "target": "5 ms", "interval": "100 ms", "limit": "1.5 MB"},
            Codel(target_ns=5_000_000, interval_ns=100_000_000, bytes=1_500_000),
        ),
        (
            {"discipline": "fq-codel"},
            FqCodel(target_ns=5_000_000, interval_ns=100_000_000, flows=1024, quantum_bytes=1514, packets=10_240),
        ),
        (
            {"discipline": "fq-codel", "flows": 16, "quantum": "300 B", "limit": "100 packets"},
            FqCodel(target_ns=5_000_000, interval_ns=100_000_000, flows=16, quantum_bytes=300, packets=100),
        ),
    ],
)
def test_a_queue_is_a_limit_or_a_discipline(written: object, meant: QueueSpec) -> None:
    assert read({"queue": written}).queue == meant


@pytest.mark.parametrize(
    "written",
    [
        "0 packets", "1.5 packets", "5000000000 packets", "100", 100, [], {}, {"discipline": "red"},
        {"discipline": "drop-tail"}, {"discipline": "codel"}, {"discipline": "codel", "limit": "0 B"},
        {"discipline": "codel", "limit": "1 kB", "target": "0 ms"}, {"discipline": "fq-codel", "flows": 0},
        {"discipline": "fq-codel", "quantum": "0 B"}, {"discipline": "fq-codel", "packets": "1 packet"},
    ],
)  # fmt: skip
def test_an_invalid_queue_is_refused(written: object) -> None:
    with pytest.raises(ValidationError):
        read({"queue": written})


def test_a_schedule_is_points_in_order() -> None:
    points = [{"at": "0 s", "rate": "1 Mbit/s", "delay": "10 ms"}, {"at": "30 s", "rate": "0 bit/s", "loss": "1 %"}]
    (stage,) = link_spec(read({"schedule": {"points": points, "repeat": "60 s"}, "queue": "1 kB"}), ask).uplink
    first = SchedulePoint(at_ns=0, rate_bps=1_000_000, delay_ns=10_000_000)
    second = SchedulePoint(at_ns=30 * 10**9, rate_bps=0, loss=0.01)
    assert stage == Schedule(points=(first, second), repeat_ns=60 * 10**9, queue=DropTail(bytes=1000))


def test_a_schedule_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "replay.csv").write_text("time_s,delay_ms,rate_kbps,loss\n100,20,1000,0.01\n100.5,,2000,\n")
    (stage,) = link_spec(read({"schedule": {"file": "replay.csv"}, "queue": "1 kB"}, tmp_path), ask).uplink
    first = SchedulePoint(at_ns=0, delay_ns=20_000_000, rate_bps=1_000_000, loss=0.01)
    second = SchedulePoint(at_ns=500_000_000, rate_bps=2_000_000)
    assert stage == Schedule(points=(first, second), queue=DropTail(bytes=1000))


POINT = {"at": "0 s", "rate": "1 Mbit/s"}


@pytest.mark.parametrize(
    "table",
    [
        {"schedule": {}},
        {"schedule": {"points": []}},
        {"schedule": {"points": [{"at": "1 s"}]}},
        {"schedule": {"points": [POINT, POINT]}},
        {"schedule": {"points": [POINT, {"at": "2 s"}], "repeat": "2 s"}},
        {"schedule": {"points": [{"at": "0 s", "rate": "0 bit/s"}]}},
        {"schedule": {"points": [POINT], "file": "replay.csv"}},
        {"schedule": {"points": [{**POINT, "queue": "1 kB"}]}},
        {"schedule": {"file": "none.csv"}},
        {"trace": "none.trace"},
        {"trace": 3},
        {"outage": {"start": "1 s"}},
        {"outage": {"start": "1 s", "duration": "0 s"}},
        {"outage": {"start": "1 s", "duration": "2 s", "every": "2 s"}},
        {"duty-cycle": "0 %"},
        {"duty-cycle": "101 %"},
        {"burst": "0 B"},
        {"overhead": "5 GB"},
        {"order": []},
        {"order": ["loss", "loss"]},
        {"order": ["lost"]},
        {"order": "loss"},
        {"mtu": "67 B"},
        {"mtu": "1501 B"},
        {"family": "ipv5"},
    ],
)
def test_an_invalid_rate_schedule_or_outage_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        read(table)


def test_an_outage_without_a_period_occurs_once() -> None:
    (stage,) = link_spec(read({"outage": {"start": "1 s", "duration": "2 s"}}), ask).uplink
    assert stage == Outage(start_ns=10**9, duration_ns=2 * 10**9)
