"""A sensor on the virtual clock: the model has what a calculator says, whatever the length of a trial."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.guest

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "energy.md"
BY_HAND = """
title = "three states"
clock = "virtual"
[factors]
protocol = ["coap"]
[link]
rtt = "200 ms"
[workload]
kind = "telemetry"
message = "64 B"
interval = "10 min"
exchanges = 6
[energy]
radio = "./three-states.toml"
battery = "2400 mAh"
voltage = "3.6 V"
[stop]
replicates = 1
"""
KEPT = """
title = "a persistent connection with keep-alives"
clock = "virtual"
[factors]
protocol = ["mqtts"]
"workload.exchanges" = [3, 12]
[link]
profile = "nb-iot-psm"
[protocols.mqtts]
keep-alive = "60 s"
[workload]
kind = "telemetry"
message = "64 B"
interval = "10 min"
connection = "persistent"
timeout = "60 s"
[energy]
radio = "nrf9160-nbiot"
battery = "2400 mAh"
voltage = "3.6 V"
[stop]
replicates = 1
"""


def energies(bench: Bench) -> list[dict[str, Any]]:
    """Of each scenario."""
    estimates = json.loads((bench.campaign / "estimates.json").read_text())
    return [each["energy"] for each in estimates["scenarios"]]


def test_a_case_computed_by_hand_is_what_the_model_says(bench: Bench) -> None:
    section = GUIDE.read_text(encoding="utf-8").partition("## A case computed by hand")[2]
    found = re.search(r"```toml\n(.*?)```", section, re.DOTALL)
    assert found is not None
    (bench.folder / "three-states.toml").write_text(found[1])
    bench.run_experiment(BY_HAND, "--no-probes")
    exchanges = pl.read_parquet(bench.campaign / "exchanges.parquet")
    assert exchanges["interval_energy_j"].to_list() == pytest.approx([0.535878] * 6, rel=1e-3)
    [energy] = energies(bench)
    assert energy["day_j"]["typical"] == pytest.approx(77.1664, rel=1e-3)
    assert energy["battery_days"]["typical"] == pytest.approx(403.08, rel=1e-3)
    assert energy["parts"]["trial_j"]["typical"] == pytest.approx(6 * 0.535878, rel=1e-3)


def test_the_length_of_a_trial_does_not_change_a_battery_life(bench: Bench) -> None:
    bench.run_experiment(KEPT, "--no-probes")
    short, long = energies(bench)
    assert (short["setups"], long["setups"]) == (1, 1)
    assert (short["days"], long["days"]) == (2, 11)
    assert short["battery_days"]["typical"] == pytest.approx(long["battery_days"]["typical"], rel=0.02)
    # Ten pings in an interval, each with its tail, are most of it: an exchange by itself has one tail.
    assert long["interval_j"]["typical"] > 3 * short["radio_j"]["typical"] / 10


def test_a_closed_loop_says_why_it_has_no_battery_life(bench: Bench) -> None:
    text = BY_HAND.replace('radio = "./three-states.toml"', 'radio = "nrf9160-nbiot"')
    for line in ('interval = "10 min"', 'battery = "2400 mAh"', 'voltage = "3.6 V"'):
        text = text.replace(f"{line}\n", "")
    status, out, said = bench.run("run", str(bench.experiment(text)), "--out", str(bench.campaign), "--no-probes")
    assert status == 0, said
    assert "No day's energy and no battery life: exchanges ran back to back: no message has a gap behind it." in out
    assert energies(bench)[0]["day_j"] is None
