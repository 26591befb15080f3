"""Groups of choices and the conditions in them."""

from __future__ import annotations

from pathlib import Path

from tests.report.campaigns import read, store, write
from wirelab.report.campaign import load
from wirelab.report.grid import LONGEST, MOST_MARKS


def test_protocols_of_the_same_scenario_share_a_row(tmp_path: Path) -> None:
    campaign = load(write(tmp_path, uploads=("30 B", "3.5 kB")), tmp_path)
    (group,) = campaign.groups
    assert group.title == ""
    assert [c.label for c in group.conditions] == ["30 B · clean", "30 B · lossy", "3.5 kB · clean", "3.5 kB · lossy"]
    assert [[s.series.label for s in c.scenarios] for c in group.conditions] == [["http1", "h2"]] * 4


def test_levels_that_all_scenarios_share_are_left_out_of_labels(tmp_path: Path) -> None:
    campaign = load(write(tmp_path), tmp_path)
    assert [condition.label for condition in campaign.groups[0].conditions] == ["clean", "lossy"]
    assert ("link.rtt", "20 ms") in campaign.constant_levels


def test_each_choice_is_a_group_named_by_its_difference(tmp_path: Path) -> None:
    folder = write(tmp_path, choices={"link.rtt": ("20 ms", "2 ms"), "link.jitter": ("none", "normal 30 ms")})
    titles = [group.title for group in load(folder, folder).groups]
    assert titles == [
        "link.rtt 20 ms, link.jitter none",
        "link.rtt 2 ms",
        "link.rtt 2 ms, link.jitter normal 30 ms",
        "link.jitter normal 30 ms",
    ]


TRIPS = ("2 ms", "20 ms", "200 ms")


def windows(count: int) -> dict[str, tuple[str, ...]]:
    return {"protocol.initial-window-size": tuple(f"{2**n} B" for n in range(count)), "link.rtt": TRIPS}


def test_factors_are_rows_while_they_fit_a_chart(tmp_path: Path) -> None:
    most = MOST_MARKS // (2 * 2 * len(TRIPS))  # by two links and two protocols
    (group,) = load(write(tmp_path / "few", factors=windows(most)), tmp_path / "few").groups
    assert len(group.pairs) == MOST_MARKS
    groups = load(write(tmp_path / "many", factors=windows(most + 1)), tmp_path / "many").groups
    assert [group.title for group in groups] == [f"link.rtt {trip}" for trip in TRIPS]
    rows = [f"initial-window-size {2**n} B · {link}" for n in range(most + 1) for link in ("clean", "lossy")]
    assert [condition.label for condition in groups[0].conditions] == rows


def test_a_factor_with_long_labels_splits_charts(tmp_path: Path) -> None:
    names = tuple(f"{letter * (LONGEST // 2)}" for letter in "ab")
    factors = {"protocol.tls": names, "protocol.other": names}
    groups = load(write(tmp_path, factors=factors), tmp_path).groups
    assert [group.title for group in groups] == [f"other {name}" for name in names]


def test_a_scenario_independent_of_a_factor_stands_in_each_group_and_in_one_row(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    plan = read(folder, "plan.json")
    http1, h2 = plan["scenarios"]
    pushed = {**h2, "key": "h2-push", "name": "h2, push", "levels": {**h2["levels"], "protocols.h2.hints": "push"}}
    pushed["points"] = [pushed["levels"]]
    h2["points"] = [{**h2["levels"], "protocols.h2.hints": "none"}]
    http1["points"] = [{**http1["levels"], "protocols.h2.hints": hints} for hints in ("none", "push")]
    plan["scenarios"].append(pushed)
    store(folder, "plan.json", plan)
    without, with_push = load(folder, folder).groups
    assert [[scenario.key for scenario in group.scenarios] for group in (without, with_push)] == [
        [http1["key"], h2["key"]],
        [http1["key"], "h2-push"],
    ]
    assert with_push.own == {"h2-push"}


def test_levels_of_congestion_are_rows(tmp_path: Path) -> None:
    folder = write(tmp_path, factors={"traffic.bulk-*.flows": ("0", "20")}, choices={"link.rtt": ("20 ms", "2 ms")})
    first, second = load(folder, folder).groups
    rows = ["0 bulk flows · clean", "0 bulk flows · lossy", "20 bulk flows · clean", "20 bulk flows · lossy"]
    assert [condition.label for condition in first.conditions] == rows
    assert second.title == "link.rtt 2 ms"


def test_a_scenario_independent_of_a_choice_stands_in_its_group_too(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    plan = read(folder, "plan.json")
    http1, h2 = plan["scenarios"]
    other = {**h2, "key": "h2-tls13", "name": "h2, TLS 1.3", "levels": {**h2["levels"], "protocols.h2.tls": "1.3"}}
    other["points"] = [other["levels"]]
    http1["points"] = [http1["levels"], {**http1["levels"], "protocols.h2.tls": "1.3"}]
    plan["scenarios"].append(other)
    plan["experiment"]["choices"] = {"protocols.h2.tls": ["1.3"]}
    store(folder, "plan.json", plan)

    base, tls = load(folder, folder).groups
    assert tls.title == "h2 tls 1.3"
    assert [scenario.key for scenario in tls.scenarios] == [http1["key"], "h2-tls13"]
    assert tls.own == {"h2-tls13"}
    assert base.own == {http1["key"], h2["key"]}


def test_two_implementations_of_a_protocol_are_two_series(tmp_path: Path) -> None:
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
