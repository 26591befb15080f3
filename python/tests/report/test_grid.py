"""Groups of choices and the conditions in them."""

from __future__ import annotations

from pathlib import Path

from tests.report.campaigns import read, store, write
from wirelab.report.campaign import load


def test_stacks_under_the_same_condition_share_a_row(tmp_path: Path) -> None:
    campaign = load(write(tmp_path, uploads=("30 B", "3.5 kB")), tmp_path)
    (group,) = campaign.groups
    assert group.title == ""
    assert [c.label for c in group.conditions] == ["30 B · clean", "30 B · lossy", "3.5 kB · clean", "3.5 kB · lossy"]
    assert [[s.series.label for s in c.scenarios] for c in group.conditions] == [["http1", "h2"]] * 4


def test_levels_that_all_scenarios_share_are_no_part_of_a_label(tmp_path: Path) -> None:
    campaign = load(write(tmp_path), tmp_path)
    assert [condition.label for condition in campaign.groups[0].conditions] == ["clean", "lossy"]
    assert ("link.rtt", "20 ms") in campaign.constant_levels


def test_each_choice_is_a_group_named_by_what_differs(tmp_path: Path) -> None:
    folder = write(tmp_path, choices={"link.rtt": ("20 ms", "2 ms"), "link.jitter": ("none", "normal 30 ms")})
    titles = [group.title for group in load(folder, folder).groups]
    assert titles == [
        "link.rtt 20 ms, link.jitter none",
        "link.rtt 2 ms",
        "link.rtt 2 ms, link.jitter normal 30 ms",
        "link.jitter normal 30 ms",
    ]


def test_factors_are_rows_as_long_as_there_are_few(tmp_path: Path) -> None:
    windows, trips = tuple(f"{size} B" for size in (256, 512, 1024)), ("2 ms", "20 ms", "200 ms")
    factors = {"stack.initial-window-size": windows, "link.rtt": trips}
    groups = load(write(tmp_path, factors=factors), tmp_path).groups
    assert [group.title for group in groups] == [f"link.rtt {trip}" for trip in trips]
    rows = [f"initial-window-size {window} · {link}" for window in windows for link in ("clean", "lossy")]
    assert [condition.label for condition in groups[0].conditions] == rows


def test_levels_of_congestion_are_rows(tmp_path: Path) -> None:
    folder = write(tmp_path, factors={"traffic.bulk-*.flows": ("0", "20")}, choices={"link.rtt": ("20 ms", "2 ms")})
    first, second = load(folder, folder).groups
    rows = ["0 bulk flows · clean", "0 bulk flows · lossy", "20 bulk flows · clean", "20 bulk flows · lossy"]
    assert [condition.label for condition in first.conditions] == rows
    assert second.title == "link.rtt 2 ms"


def test_a_scenario_that_a_choice_does_not_touch_stands_in_its_group_too(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    plan = read(folder, "plan.json")
    http1, h2 = plan["scenarios"]
    other = {**h2, "key": "h2-tls13", "name": "h2, TLS 1.3", "levels": {**h2["levels"], "stacks.h2.tls": "1.3"}}
    other["points"] = [other["levels"]]
    http1["points"] = [http1["levels"], {**http1["levels"], "stacks.h2.tls": "1.3"}]
    plan["scenarios"].append(other)
    plan["experiment"]["choices"] = {"stacks.h2.tls": ["1.3"]}
    store(folder, "plan.json", plan)

    base, tls = load(folder, folder).groups
    assert tls.title == "h2 tls 1.3"
    assert [scenario.key for scenario in tls.scenarios] == [http1["key"], "h2-tls13"]
    assert tls.own == {"h2-tls13"}
    assert base.own == {http1["key"], h2["key"]}


def test_two_implementations_of_a_stack_are_two_series(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    plan = read(folder, "plan.json")
    http1 = plan["scenarios"][0]
    curl = {**http1, "key": "curl", "implementation": {"client": "curl", "server": "builtin"}}
    curl["levels"] = curl["points"] = None
    curl["levels"] = {**http1["levels"], "implementation": "curl"}
    curl["points"] = [curl["levels"]]
    plan["scenarios"].append(curl)
    store(folder, "plan.json", plan)
    store(folder, "campaign.json", {"implementations": {"curl": {"version": "curl 7.88.1"}}})

    campaign = load(folder, folder)
    assert [series.label for series in campaign.series] == ["http1 (builtin)", "h2", "http1 (curl to builtin)"]
    assert campaign.series[2].provider == "client curl (curl 7.88.1), server builtin (lib 1.0)"
    (group,) = campaign.groups
    assert len(group.conditions) == 1
