"""What background traffic is taken to cost before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.experiment.duration.traffic import background_packets_per_s, queueing_ns
from wirelab.experiment.experiment import Experiment
from wirelab.experiment.grid.scenario import Scenario
from wirelab.plan import make_plan

FILE = """
title = "Loaded"
[factors]
protocol = ["http1"]
link = ["air"]
[links]
air = {{ {air} }}
wire = {{ rtt = "1 ms" }}
[topology]
main = {{ near = ["client", "laptop"], far = ["server", "proxy"] }}
wire = {{ near = ["proxy"], far = ["server"] }}
[traffic.bulk]
kind = "bulk"
from = "laptop"
flows = 5
{bulk}
"""
RATE = 'rate = "12 Mbit/s", queue = "150 kB"'
SHARED = 'medium = { rate = "12 Mbit/s", queue = "150 kB" }'
MS = 1_000_000


def experiment(folder: Path, air: str, bulk: str = "") -> Experiment:
    path = folder / "loaded.toml"
    path.write_text(FILE.format(air=air, bulk=bulk), encoding="utf-8")
    return load_experiment(str(path))


def loaded(folder: Path, air: str, bulk: str = "") -> Scenario:
    [scenario] = experiment(folder, air, bulk).scenarios
    return scenario


def test_bulk_keeps_a_rate_busy_with_its_packets_and_their_acknowledgements(tmp_path: Path) -> None:
    assert background_packets_per_s(loaded(tmp_path, RATE)) == pytest.approx(1500)


def test_a_plan_keeps_how_many_packets_that_is(tmp_path: Path) -> None:
    [planned] = make_plan(experiment(tmp_path, RATE)).scenarios
    assert planned.background_packets_per_s == pytest.approx(1500)


def test_bulk_in_both_directions_shares_the_capacity_of_a_medium(tmp_path: Path) -> None:
    back = '[traffic.back]\nkind = "bulk"\nfrom = "laptop"\ndirection = "download"\n'
    one, both = loaded(tmp_path, SHARED), loaded(tmp_path, SHARED, back)
    assert background_packets_per_s(one) == background_packets_per_s(both) == pytest.approx(1500)
    assert background_packets_per_s(loaded(tmp_path, RATE, back)) == pytest.approx(3000)


def test_pings_go_both_ways_in_fragments_as_often_as_configured(tmp_path: Path) -> None:
    ping = '[traffic.laptop]\nkind = "ping"\npayload = "2000 B"\ninterval = "10 ms"\n'
    alone = loaded(tmp_path, RATE, 'direction = "upload"\n' + ping)
    assert background_packets_per_s(alone) - background_packets_per_s(loaded(tmp_path, RATE)) == pytest.approx(400)


def test_a_round_trip_waits_behind_a_full_queue_of_its_direction(tmp_path: Path) -> None:
    assert queueing_ns(loaded(tmp_path, RATE)) == 100 * MS
    assert queueing_ns(loaded(tmp_path, 'rate = "12 Mbit/s", queue = { discipline = "codel", limit = "150 kB" }')) == 0


def test_on_a_shared_medium_it_waits_behind_the_access_points_queue_and_not_another_stations(tmp_path: Path) -> None:
    assert queueing_ns(loaded(tmp_path, SHARED)) == 0
    assert queueing_ns(loaded(tmp_path, SHARED, 'direction = "download"')) >= 100 * MS
    counted = SHARED.replace("150 kB", "200 packets")
    assert queueing_ns(loaded(tmp_path, counted, 'direction = "download"')) >= 200 * MS


def test_traffic_on_another_link_adds_no_waiting(tmp_path: Path) -> None:
    elsewhere = FILE.replace('from = "laptop"', 'from = "proxy"')
    path = tmp_path / "elsewhere.toml"
    path.write_text(elsewhere.format(air=RATE, bulk=""), encoding="utf-8")
    [scenario] = load_experiment(str(path)).scenarios
    assert queueing_ns(scenario) == 0
    assert background_packets_per_s(scenario) > 0
