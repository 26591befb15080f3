"""A sensor's months on the virtual clock: as long for a battery as idle starts say, and how much CPU time they take.

At night alone. Both ways of a sensor's life are compared in its energy, and so is what an idle start refuses.
"""

from __future__ import annotations

import json
import resource
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = [pytest.mark.guest, pytest.mark.nightly]

SENSOR = """
title = "a sensor"
clock = "{clock}"
[factors]
protocol = {protocols}
[link]
profile = "nb-iot-psm"
[protocols.mqtts]
keep-alive = "60 s"
[workload]
kind = "telemetry"
message = "64 B"
interval = "{interval}"
arrival = "{arrival}"
connection = "{connection}"
exchanges = {exchanges}
timeout = "60 s"
[energy]
radio = "nrf9160-nbiot"
battery = "2400 mAh"
voltage = "3.6 V"
[stop]
replicates = 1
"""
CASES: dict[str, tuple[int, list[str], list[str]]] = {
    "new": (60, ["coap", "coaps", "http1", "h3"], []),
    # The link's NAT forgets TCP after 20 minutes, and then every other message of a persistent connection is lost.
    "persistent": (15, ["coap", "http1", "https1", "amqps"], ["h3", "mqtts"]),
}
"""By connection: the interval in minutes, protocols that agree, and those of which an endpoint's timer is shorter."""
TOLERANCE = 0.05
PROTOCOLS = ["coap", "coaps", "mqtts", "https1", "h3", "amqps"]


def lives(bench: Bench, text: str) -> dict[str, dict[str, Any]]:
    """The energy of each protocol."""
    # A live trial waits more than it computes.
    jobs = "8" if 'clock = "live"' in text else "2"
    bench.measure_experiment(text, "--estimates", "--jobs", jobs, timeout_s=840)
    scenarios = json.loads((bench.campaign / "estimates.json").read_text())["scenarios"]
    bench.campaign.rename(bench.folder / f"done-{len(list(bench.folder.iterdir()))}")
    return {each["protocol"]: each["energy"] for each in scenarios}


@pytest.mark.namespaces
@pytest.mark.parametrize("connection", ["new", "persistent"])
def test_a_battery_lasts_as_long_by_idle_starts_as_in_a_virtual_month(
    bench: Bench, capsys: pytest.CaptureFixture[str], connection: str
) -> None:
    minutes, agree, refused = CASES[connection]
    ways = {
        "idle-start": {"clock": "live", "exchanges": 5, "protocols": agree + refused},
        "periodic": {"clock": "virtual", "exchanges": 30 * 24 * 60 // minutes, "protocols": agree},
    }
    found = {}
    for arrival, values in ways.items():
        protocols = json.dumps(values.pop("protocols"))
        text = SENSOR.format(
            arrival=arrival, connection=connection, interval=f"{minutes} min", protocols=protocols, **values
        )
        found[arrival] = lives(bench, text)
    for protocol in agree:
        idle, month = (energies[protocol]["battery_days"]["typical"] for energies in found.values())
        with capsys.disabled():
            print(f"\n{connection} {protocol}: {idle:.1f} days by idle starts, {month:.1f} by a month")
        assert idle == pytest.approx(month, rel=TOLERANCE), (connection, protocol)
    for protocol in refused:
        energy = found["idle-start"][protocol]
        assert energy["battery_days"] is None
        assert "an idle start does not carry it out" in energy["no_day"], protocol


@pytest.mark.parametrize(
    ("exchanges", "connection", "limit_s"), [(24, "new", 2), (720, "new", 30), (720, "persistent", 300)]
)
def test_hourly_messages_take_so_much_cpu_time(
    bench: Bench, capsys: pytest.CaptureFixture[str], exchanges: int, connection: str, limit_s: int
) -> None:
    # A keep-alive every minute is more than all messages together.
    protocols = PROTOCOLS if connection == "new" else ["mqtts"]
    text = SENSOR.format(
        clock="virtual",
        arrival="periodic",
        interval="1 h",
        protocols=json.dumps(protocols),
        exchanges=exchanges,
        connection=connection,
    )
    # Of all processes: the start of Python and of the guest, the trial, and the dataset with its energies.
    began = cpu_s()
    bench.measure_experiment(text, timeout_s=840)
    each = (cpu_s() - began) / len(protocols)
    with capsys.disabled():
        print(f"\n{exchanges} messages, {connection}: {each:.1f} s of CPU time for each of {', '.join(protocols)}")
    assert each <= limit_s


def cpu_s() -> float:
    """The CPU time of all programs so far, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
