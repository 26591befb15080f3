"""What a closed loop does not meet, in words."""

from __future__ import annotations

from pathlib import Path

from tests.asked import load_experiment
from wirelab.plan import make_plan
from wirelab.schema.back_to_back import HINT, BackToBack, back_to_back

TEXT = """
title = "closed"
[factors]
protocol = ["coap", "mqtts"]
link = ["cellular", "plain"]
[links]
plain = { rtt = "200 ms" }
[links.cellular]
rtt = "200 ms"
radio = { buffer = "16 kB", sleeps = [{ after = "100 ms", wake = "0 ms" }, { after = "10 s", wake = "1 s" }] }
nat = { udp = "120 s", tcp = "20 min" }
[workload]
kind = "telemetry"
message = "30 B"
connection = "persistent"
[stop]
replicates = 1
"""


def of(folder: Path, *sets: str) -> BackToBack | None:
    file = folder / "closed.toml"
    file.write_text(TEXT)
    return back_to_back(make_plan(load_experiment(str(file), sets)))


def test_the_radio_the_nat_and_the_keep_alive_are_named_with_their_times(tmp_path: Path) -> None:
    assert of(tmp_path, "link=cellular") == BackToBack(
        "exchanges follow each other: after the first, no radio falls asleep (cellular: after 10 s), no NAT forgets a "
        "client (cellular: after 2 min, UDP; cellular: after 20 min, TCP) and no keep-alive is sent (mqtts: after "
        "1 min)",
        HINT,
    )


def test_only_scenarios_with_something_to_miss_are_counted(tmp_path: Path) -> None:
    assert (found := of(tmp_path)) is not None
    assert found.what.startswith("in 2 of 4 scenarios exchanges follow each other: after the first, no radio")
    assert of(tmp_path, "link=plain") is None
    asked = of(tmp_path, "link=plain", "protocols.mqtts.keep-alive=30s")
    assert asked is not None
    assert asked.what == (
        "in 1 of 2 scenarios exchanges follow each other: after the first, no keep-alive is sent (mqtts: after 30 s)"
    )


def test_an_interval_or_a_single_exchange_is_not_a_closed_loop(tmp_path: Path) -> None:
    assert of(tmp_path, "workload.interval=10min") is None
    assert of(tmp_path, "workload.exchanges=1") is None
    assert of(tmp_path, "workload.interval=10min", "workload.arrival=idle-start", "workload.connection=new") is None
