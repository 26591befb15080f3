"""A whole campaign judged: keys of verdicts.json, the outlier rule, and the choices that a publication leaves open."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wirelab.data
from tests.documents import whole_estimates
from tests.synthetic import write_campaign
from wirelab.claims.grade import Grades
from wirelab.claims.judge import judge_campaign
from wirelab.errors import RunError
from wirelab.metrics.settings_seen import COLUMNS, SETTINGS_SEEN
from wirelab.metrics.tables import write_table
from wirelab.schema.verdicts import read_verdicts
from wirelab.stats.dataset import Dataset

CLAIMS = Path(str(wirelab.data.__file__)).parent / "experiments" / "milosevic2021.claims.toml"
KEYS = {
    "id", "text", "form", "verdict", "why", "paper", "ours", "judged", "n", "parts", "published", "contradiction",
    "rests_on_sd", "under_published_rule", "at_published_level", "choices", "link", "over_grid",
}  # fmt: skip


def whole(estimates: dict[str, Any]) -> Any:
    return whole_estimates(estimates)


def judge(folder: Path, estimates: dict[str, Any] | None = None) -> Any:
    """What a campaign with these estimates, or with none of any link, is worth."""
    return judge_campaign(folder, whole(estimates or {}))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    factors = {"link.rtt": ["2 ms", "20 ms"]}
    return write_campaign(folder, trials=6, exchanges=15, factors=factors, claims=str(CLAIMS))


@pytest.fixture(scope="module")
def verdicts(campaign: Path) -> dict[str, Any]:
    made = judge(campaign)
    assert made is not None
    assert json.loads((campaign / "verdicts.json").read_text()) == made
    return {claim["id"]: claim for claim in made["claims"]} | {"whole": made}


def test_every_claim_has_the_keys_that_the_reference_names(verdicts: dict[str, Any]) -> None:
    for claim in verdicts["whole"]["claims"]:
        assert set(claim) - {"tolerance"} == KEYS
        assert {part["verdict"] for part in claim["parts"]} <= {"confirmed", "contradicted", "inconclusive"}
        numbered = [each for each in (claim, *claim["parts"]) if each["judged"]]
        assert all(each["judged"][0]["level"] >= 0.95 and each["ours"]["level"] == 0.95 for each in numbered)
    assert any(part["judged"] for claim in verdicts["whole"]["claims"] for part in claim["parts"])
    assert verdicts["whole"]["family"]["claims"] == 14
    assert "Holm" in verdicts["whole"]["family"]["method"]


def test_a_publication_without_an_outlier_rule_has_no_verdicts_under_one(tmp_path: Path) -> None:
    file = tmp_path / "none.claims.toml"
    file.write_text(RATIO)
    folder = write_campaign(tmp_path / "campaign", links=("lossless",), uploads=("30 B",), trials=3, claims=str(file))
    for text, rules in ((RATIO, {None}), (f'outlier_rule = "three-scaled-mads"\n{RATIO}', {"contradicted"})):
        file.write_text(text)
        made = judge(folder)
        assert made is not None
        assert {claim["under_published_rule"] for claim in made["claims"]} == rules


def test_at_the_publications_own_level_each_claim_is_judged_separately(tmp_path: Path) -> None:
    file = tmp_path / "level.claims.toml"
    file.write_text(RATIO)
    folder = write_campaign(tmp_path / "campaign", links=("lossless",), uploads=("30 B",), trials=3, claims=str(file))
    for text, level, verdicts in ((RATIO, None, {None}), (f"published_level = 0.9\n{RATIO}", 0.9, {"contradicted"})):
        file.write_text(text)
        made = judge(folder)
        assert made is not None
        assert made["family"]["published_level"] == level
        assert {claim["at_published_level"] for claim in made["claims"]} == verdicts


def test_disagreeing_printed_numbers_outside_a_verdict_are_reported(tmp_path: Path) -> None:
    file = tmp_path / "beside.claims.toml"
    part = (
        '[[claim.part]]\nform = "quotient"\nbeside = "by its own times"\nmetric = "delay"\nper = "first"\n'
        'of = { protocol = "h2", link = "lossless", "workload.upload" = "30 B" }\npublished = 2\nprinted = [1.9, 2.1]\n'
    )
    table = (
        '[published]\nunit = { delay = "ms", first = "s" }\nstatistics = ["mean"]\nrows = [\n'
        '  ["delay", "h2", "lossless", "30 B", 3000],\n  ["first", "h2", "lossless", "30 B", 1],\n]\n'
    )
    file.write_text(RATIO.replace("[grid]", 'first = ["response-time"]\n[grid]') + part + table)
    folder = write_campaign(tmp_path / "campaign", links=("lossless",), uploads=("30 B",), trials=3, claims=str(file))
    made = judge(folder)
    assert made is not None
    [claim] = made["claims"]
    assert claim["published"]["verdict"] == "inconclusive"
    assert claim["contradiction"].startswith(
        "the publication's own numbers disagree with one another: by its own times"
    )
    assert "it is 3" in claim["contradiction"]


FORMS_OF_A_CAMPAIGN = """\
paper = "example"
[metrics]
delay = ["end-to-end-delay"]
[grid]
protocol = ["http1", "h2"]
link = ["lossless", "random"]
"workload.upload" = ["30 B"]
[[claim]]
id = "C1"
text = "loss does not change the ratio by much"
[[claim.part]]
form = "interaction"
metric = "delay"
horizon = "2 s"
where = { "workload.upload" = "30 B" }
upper = { protocol = "h2" }
lower = { protocol = "http1" }
first = { link = "lossless" }
second = { link = "random" }
expect = "none"
margin = 3
[[claim]]
id = "C2"
text = "many exchanges are late"
[[claim.part]]
form = "share-beyond"
metric = "delay"
where = { "workload.upload" = "30 B", link = "random" }
upper = { protocol = "h2" }
beyond = "200 ms"
least = 0.5
[[claim]]
id = "C3"
text = "it is slower on every link"
[[claim.part]]
form = "from-level"
metric = "delay"
where = { "workload.upload" = "30 B" }
upper = { protocol = "h2" }
lower = { protocol = "http1" }
along = { path = "link", levels = ["lossless", "random"] }
published = "lossless"
[[claim]]
id = "C4"
text = "a horizon after the time-out"
[[claim.part]]
form = "order"
metric = "delay"
horizon = "24 h"
where = { "workload.upload" = "30 B", link = "random" }
ascending = [{ protocol = "http1" }, { protocol = "h2" }]
"""


def test_a_campaign_is_judged_by_interactions_shares_levels_and_horizons(tmp_path: Path) -> None:
    file = tmp_path / "forms.claims.toml"
    file.write_text(FORMS_OF_A_CAMPAIGN)
    folder = write_campaign(
        tmp_path / "campaign", protocols=("http1", "h2"), links=("lossless", "random"), uploads=("30 B",), trials=8,
        claims=str(file),
    )  # fmt: skip
    made = judge(folder)
    assert read_verdicts(folder) == made
    judged = {claim["id"]: claim for claim in made["claims"]}
    verdicts = {name: claim["verdict"] for name, claim in judged.items()}
    assert verdicts == {"C1": "confirmed", "C2": "confirmed", "C3": "confirmed", "C4": "inconclusive"}
    assert {claim["published"]["verdict"] for claim in judged.values()} == {"inconclusive"}
    assert judged["C2"]["ours"]["method"] == "Korn-Graubard over trials"
    assert "is after its time-out" in judged["C4"]["why"]
    assert judged["C4"]["choices"][0]["missing"]
    assert made["family"]["decidable"] == 3


def test_a_paper_with_one_printed_cell_of_two_does_not_contradict_itself(tmp_path: Path) -> None:
    file = tmp_path / "existence.claims.toml"
    text = RATIO[: RATIO.index("[[claim.part]]")].replace('"30 B"]', '"30 B", "3.5 kB"]') + (
        '[[claim.part]]\nform = "existence"\nmetric = "delay"\nwhere = { link = "lossless" }\n'
        'upper = { protocol = "h3" }\nlower = { protocol = "h2" }\nover = { "workload.upload" = ["30 B", "3.5 kB"] }\n'
        '[published]\nunit = "ms"\nstatistics = ["mean"]\nrows = [\n'
        '  ["delay", "h2", "lossless", "30 B", 10], ["delay", "h3", "lossless", "30 B", 5],\n'
        '  ["delay", "h2", "lossless", "3.5 kB", 10], ["delay", "h3", "lossless", "3.5 kB", 20],\n]\n'
    )
    file.write_text(text)
    folder = write_campaign(
        tmp_path / "campaign", protocols=("h2", "h3"), links=("lossless",), trials=2, exchanges=3, claims=str(file)
    )
    made = judge(folder)
    assert made is not None
    [claim] = made["claims"]
    assert [part.get("id") for part in claim["parts"]] == [None, None]
    assert claim["published"] == {"verdict": "confirmed", "why": "1 of 2 cells show it"}
    assert claim["contradiction"] is None


def test_the_primary_level_is_judged_and_stands_first_in_the_table_of_choices(verdicts: dict[str, Any]) -> None:
    choices = verdicts["M4"]["choices"]
    assert [choice["levels"] for choice in choices] == [{"link.rtt": "2 ms"}, {"link.rtt": "20 ms"}]
    for claim in verdicts["whole"]["claims"]:
        assert claim["choices"][0]["verdict"] == claim["verdict"]


def test_a_claim_is_judged_over_the_grid_by_both_outlier_rules(verdicts: dict[str, Any]) -> None:
    for claim in verdicts["whole"]["claims"]:
        over, choices = claim["over_grid"], claim["choices"]
        assert over["points"] + over["missing"] == len(choices)
        both = [choice for choice in choices if choice["verdict"] == choice["under_published_rule"] == "confirmed"]
        assert over["confirmed"] == len(both)
        assert choices[0]["under_published_rule"] == claim["under_published_rule"]
    grid = verdicts["whole"]["grid"]
    assert (grid["primary"], grid["frozen"] is None) == ("lan", False)
    assert all(choice["after_the_fact"] for choice in grid["choices"])


def test_the_table_of_choices_repeats_the_judgement_with_the_same_resamples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("wirelab.claims.judge"), "CHOICE_RESAMPLES", 1)
    file = tmp_path / "ratio.claims.toml"
    file.write_text(RATIO.replace("1.844", "1.949"))
    folder = write_campaign(
        tmp_path / "campaign", protocols=("h2", "h3"), links=("lossless",), uploads=("30 B",), trials=2, exchanges=3,
        factors={"link.rtt": ["2 ms", "20 ms"]}, claims=str(file),
    )  # fmt: skip
    made = judge(folder)
    assert made is not None
    first, other = made["claims"][0]["choices"]
    assert first["verdict"] == made["claims"][0]["verdict"] == "inconclusive"
    assert other["verdict"] != "inconclusive"


RATIO = """\
paper = "example"
factor = 1.02
[metrics]
delay = ["end-to-end-delay"]
[grid]
protocol = ["h2", "h3"]
link = ["lossless"]
"workload.upload" = ["30 B"]
[primary]
"link.rtt" = "20 ms"
[[claim]]
id = "C1"
text = "with half a millisecond at the server, 4 round trips of 2 ms take 1.844 times as long as 2"
[[claim.part]]
form = "ratio"
metric = "delay"
where = { link = "lossless", "workload.upload" = "30 B" }
upper = { protocol = "h2" }
lower = { protocol = "h3" }
published = 1.844
printed = [1.844, 1.844]
"""


LATER = """[[claim.part]]
form = "ratio"
beside = "the size"
after-the-fact = 2026-11-29T00:00:00Z
metric = "{metric}"
statistic = "{statistic}"
where = {{ "workload.upload" = "30 B", link = "{link}" }}
upper = {{ protocol = "h2" }}
lower = {{ protocol = "http1" }}
published = 9
printed = [8.5, 9.5]
"""


@pytest.mark.parametrize("metric", ["delay", "size"])
@pytest.mark.parametrize("statistic", ["mean", "mean-of-completed"])
@pytest.mark.parametrize("link", ["lossless", "random"])
def test_a_part_that_was_written_later_changes_nothing_else(
    tmp_path: Path, metric: str, statistic: str, link: str
) -> None:
    """Not even of claims in one part, or on another metric with several meanings."""
    text = FORMS_OF_A_CAMPAIGN.replace("[grid]", 'size = ["wire-bytes", "wire-up-bytes"]\n[grid]')
    first, *claims = text.split("[[claim]]\n")
    late = LATER.format(metric=metric, statistic=statistic, link=link)
    found = []
    for name, more in (("without", ""), ("with", late)):
        file = tmp_path / name / "x.claims.toml"
        file.parent.mkdir()
        file.write_text("[[claim]]\n".join([first, *(claim + more for claim in claims)]))
        folder = write_campaign(
            tmp_path / name / "campaign", protocols=("http1", "h2"), links=("lossless", "random"), uploads=("30 B",),
            trials=6, exchanges=10, timed_out=0.1, claims=str(file),
        )  # fmt: skip
        found.append(judge(folder)["claims"])
    for before, after in zip(*found, strict=True):
        own, added = after["parts"][:-1], after["parts"][-1]
        assert {**after, "parts": []} == {**before, "parts": []}
        assert [part["why"] for part in own] == [part["why"] for part in before["parts"] or [before]]
        assert added["after_the_fact"] == "2026-11-29T00:00:00Z"
        assert added["text"].startswith("the size, written on 2026-11-29 after data existed (mean ")


def test_each_choice_is_judged_by_its_own_scenarios(tmp_path: Path) -> None:
    file = tmp_path / "ratio.claims.toml"
    file.write_text(RATIO)
    folder = write_campaign(
        tmp_path / "campaign", protocols=("h2", "h3"), links=("lossless",), uploads=("30 B",), trials=6, exchanges=20,
        factors={"link.rtt": ["2 ms", "20 ms"]}, claims=str(file),
    )  # fmt: skip
    made = judge(folder)
    assert made is not None
    choices = made["claims"][0]["choices"]
    both = {"missing": False, "link": None, "n": 240}
    assert [{**choice, "ours": round(choice["ours"]["point"], 2)} for choice in choices] == [
        {"levels": {"link.rtt": "20 ms"}, "verdict": "contradicted", "ours": 1.98, **both},
        {"levels": {"link.rtt": "2 ms"}, "verdict": "confirmed", "ours": 1.86, **both},
    ]
    over = made["claims"][0]["over_grid"]
    assert (over["size"], over["points"], over["confirmed"], over["contradicted"]) == (None, 2, 1, 1)
    assert over["deciding"] == {"path": "link.rtt", "flips": 1, "pairs": 1}
    assert made["grid"]["frozen"] is None


def test_a_choice_without_the_scenarios_of_a_claim_is_distinguished_from_one_that_decides_nothing(
    tmp_path: Path,
) -> None:
    file = tmp_path / "ratio.claims.toml"
    file.write_text(RATIO)
    folder = write_campaign(
        tmp_path / "campaign", protocols=("h2", "h3"), links=("lossless",), uploads=("30 B",), trials=3, exchanges=3,
        factors={"link.rtt": ["2 ms", "20 ms", "50 ms"]}, timed_out=1.0, claims=str(file),
    )  # fmt: skip
    plan = json.loads((folder / "plan.json").read_text())
    plan["blocks"] = []
    plan["scenarios"] = [
        scenario
        for scenario in plan["scenarios"]
        if (scenario["protocol"], scenario["levels"]["link.rtt"]) != ("h3", "2 ms")
    ]
    (folder / "plan.json").write_text(json.dumps(plan))
    made = judge(folder)
    assert made is not None
    found = {choice["levels"]["link.rtt"]: choice for choice in made["claims"][0]["choices"]}
    assert {choice["verdict"] for choice in found.values()} == {"inconclusive"}
    assert {rtt: choice["missing"] for rtt, choice in found.items()} == {"20 ms": False, "2 ms": True, "50 ms": False}


def _measured(folder: Path, protocol: str, effective: int) -> None:
    """A table of 65,536 bytes for the scenarios of a protocol, of which so much was in force where the round trip is
    20 ms.
    """
    plan = json.loads((folder / "plan.json").read_text())
    rows = []
    for scenario in plan["scenarios"]:
        if scenario["protocol"] == protocol:
            scenario["settings"] = {"header-table-size": 65_536}
            held = effective if scenario["levels"]["link.rtt"] == "20 ms" else 65_536
            bounds = {"announced_low": 65_536, "announced_high": 65_536, "effective_low": held, "effective_high": held}
            about = {"end": "client", "setting": "header-table-size", "source": "client", "connections": 5}
            rows.append({"trial": "a", "scenario": scenario["key"], **about, **bounds, "used": None})
    (folder / "plan.json").write_text(json.dumps(plan))
    pl.DataFrame(rows, schema=COLUMNS).pipe(write_table, folder / SETTINGS_SEEN)


@pytest.mark.parametrize(
    ("part", "held"),
    [
        (RATIO[RATIO.index("[[claim.part]]") :], "contradicted"),
        ('[[claim.part]]\nform = "unanswered"\nof = { protocol = "h2" }\nleast = 0.1\n'
         'where = { link = "lossless", "workload.upload" = "30 B" }\n', "confirmed"),
    ],
)  # fmt: skip
def test_no_verdict_rests_on_a_scenario_whose_settings_were_not_in_force(tmp_path: Path, part: str, held: str) -> None:
    file = tmp_path / "reported.claims.toml"
    file.write_text(RATIO[: RATIO.index("[[claim.part]]")] + part)
    folder = write_campaign(
        tmp_path / "campaign", protocols=("h2", "h3"), links=("lossless",), uploads=("30 B",), trials=4, exchanges=5,
        factors={"link.rtt": ["2 ms", "20 ms"]}, timed_out=0.2 * (held == "confirmed"), claims=str(file),
    )  # fmt: skip
    for effective, verdict in ((65_536, held), (4096, "inconclusive")):
        _measured(folder, "h2", effective)
        made = judge(folder)
        assert made is not None
        [claim] = made["claims"]
        assert claim["verdict"] == verdict
        rows = {choice["levels"]["link.rtt"]: choice for choice in claim["choices"]}
        assert (rows["20 ms"]["missing"], rows["2 ms"]["missing"]) == (effective == 4096, False)
    assert claim["why"].endswith(
        "is not measured; a setting was not in force: h2 lossless 30 B 20 ms: header-table-size of the client was "
        "configured as 65536, and 4096 held in its place"
    )


def test_the_meaning_of_response_time_is_a_choice_for_claims_that_use_it(verdicts: dict[str, Any]) -> None:
    meanings = [choice["levels"].get("response-time") for choice in verdicts["M12"]["choices"]]
    assert meanings == ["response-time-curl", "response-time"] * 2
    assert all("response-time" not in choice["levels"] for choice in verdicts["M13"]["choices"])
    by_meaning = {choice["levels"]["response-time"]: choice["verdict"] for choice in verdicts["M12"]["choices"][:2]}
    assert by_meaning["response-time-curl"] == "contradicted"
    assert by_meaning["response-time"] != "contradicted"


def test_contradictions_inside_the_paper_stand_next_to_the_verdicts(verdicts: dict[str, Any]) -> None:
    contradicted = {key for key, claim in verdicts.items() if key != "whole" and claim["contradiction"]}
    assert contradicted == {"M2", "M10", "M11", "M12", "M13", "M14"}
    assert "11" in verdicts["M2"]["contradiction"]
    assert "cannot show" in verdicts["M14"]["contradiction"]


def test_the_papers_numbers_are_given_as_data_in_seconds(verdicts: dict[str, Any]) -> None:
    numbers = verdicts["whole"]["published_numbers"]
    assert len(numbers) == 72
    wanted = {"protocol": "h2", "link": "random", "workload.upload": "30 B"}
    means = [
        number["value"] for number in numbers
        if number["levels"] == wanted and number["statistic"] == "mean" and number["metric"] == "end-to-end-delay"
    ]  # fmt: skip
    assert means == [pytest.approx(0.1305)]


def test_claims_on_missing_scenarios_are_inconclusive(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, links=("lossless",), trials=3, exchanges=5, claims=str(CLAIMS))
    made = judge(folder)
    assert made is not None
    claims = {claim["id"]: claim for claim in made["claims"]}
    assert claims["M13"]["verdict"] == "inconclusive"
    assert any("is not measured" in part["why"] for part in claims["M13"]["parts"])


def test_an_experiment_without_claims_gets_no_verdicts(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, protocols=("h2",), links=("lossless",), uploads=("30 B",), trials=2, exchanges=3)
    assert judge(folder) is None
    assert not (folder / "verdicts.json").exists()


def test_removed_claims_are_named(tmp_path: Path) -> None:
    folder = write_campaign(
        tmp_path, protocols=("h2",), links=("lossless",), uploads=("30 B",), trials=2, exchanges=3, claims="/gone.toml"
    )
    with pytest.raises(RunError, match=r"/gone\.toml"):
        judge(folder)


def _keys(campaign: Path) -> dict[str, str]:
    """By protocol, on the lossless link with small uploads."""
    plan = json.loads((campaign / "plan.json").read_text())
    return {
        s["protocol"]: s["key"]
        for s in plan["scenarios"]
        if (s["link_name"], s["levels"]["workload.upload"], s["levels"]["link.rtt"]) == ("lossless", "30 B", "2 ms")
    }


def _links(campaign: Path, estimates: dict[str, Any]) -> dict[str, Any]:
    made = judge(campaign, estimates)
    assert made is not None
    return {claim["id"]: claim["link"] for claim in made["claims"]}


def test_a_claim_has_the_worst_quality_of_its_comparisons(campaign: Path) -> None:
    keys = _keys(campaign)
    delay = {"metric": "end-to-end-delay", "a": keys["http1"]}
    good = {**delay, "b": keys["h3"], "link": {"flag": "good", "why": "far"}}
    poor = {**delay, "b": keys["h2"], "link": {"flag": "limited", "why": "near"}}
    links = _links(campaign, {"comparisons": [good, poor]})
    assert {"flag": "limited", "why": "1 of its 2 comparisons: near"} in links.values()


def test_a_claim_has_the_quality_of_the_statistic_that_it_is_about(campaign: Path) -> None:
    keys = _keys(campaign)
    good, late = {"flag": "good", "why": "far"}, {"flag": "unusable", "why": "late", "causes": ["the link"]}
    pair = {"metric": "end-to-end-delay", "a": keys["h2"], "b": keys["h3"], "link": good, "link_of_means": late}
    grades = Grades.of(Dataset.read(campaign), whole({"comparisons": [pair]}))
    both = keys["h2"], keys["h3"]
    found = [grades.worst(both, ["end-to-end-delay"], [statistic]) for statistic in ("mean", "sd", "median")]
    assert [each and each["flag"] for each in found] == ["unusable", "unusable", "good"]
    links = _links(campaign, {"comparisons": [pair]})
    assert {"flag": "unusable", "why": "its comparison: late"} in links.values()


def test_a_claim_without_comparisons_has_the_worst_quality_of_its_links_and_endpoints(
    campaign: Path, verdicts: dict[str, Any]
) -> None:
    assert {claim["link"] for claim in verdicts["whole"]["claims"]} == {None}
    row = {"direction": "uplink", "flag": "good", "why": "as configured"}
    rows = [{**row, "link_name": name} for name in ("lossless", "random", "burst")]
    other = {"metric": "goodput", "a": _keys(campaign)["h2"], "b": _keys(campaign)["h3"]}
    reported = {"links": rows, "comparisons": [{**other, "link": {"flag": "unusable", "why": "not its metric"}}]}
    assert {link["flag"] for link in _links(campaign, reported).values()} == {"good"}
    rows[2] |= {"flag": "limited", "why": "lost more"}
    links = _links(campaign, reported)
    assert links["M4"]["flag"] == "good"
    assert links["M1"] == {"flag": "limited", "why": "4 of its 12 scenarios: uplink: lost more"}
    waits = {"flag": "unusable", "why": "endpoints waited 9 ms", "share": 0.5}
    reported["scenarios"] = [{"key": _keys(campaign)["h3"], "name": "lossless h3", "endpoints": waits}]
    links = _links(campaign, reported)
    assert links["M4"]["flag"] == "unusable"
    assert links["M1"] == {"flag": "unusable", "why": "1 of its 12 scenarios: lossless h3: endpoints waited 9 ms"}


def test_a_claim_on_a_count_ignores_cpu_waiting(campaign: Path) -> None:
    wait = {"flag": "unusable", "why": "endpoints waited 9 ms", "share": 0.5}
    key = _keys(campaign)["h3"]
    scenarios = [{"key": key, "name": "h3", "endpoints": wait}]
    rows = [{"link_name": "lossless", "direction": "uplink", "flag": "good", "why": "as configured"}]
    grades = Grades.of(Dataset.read(campaign), whole({"scenarios": scenarios, "links": rows}))
    found = {metric: grades.worst([key], [metric], ["mean"]) for metric in ("end-to-end-delay", "wire-bytes")}
    assert {metric: each and each["flag"] for metric, each in found.items()} == {
        "end-to-end-delay": "unusable", "wire-bytes": "good",
    }  # fmt: skip


def test_stolen_cpu_lowers_the_quality_of_a_claim_on_cpu_time(campaign: Path) -> None:
    key = _keys(campaign)["h3"]
    wait = {"flag": "unusable", "why": "endpoints waited 9 ms", "share": 0.5, "steal": 0.04}
    grades = Grades.of(Dataset.read(campaign), whole({"scenarios": [{"key": key, "name": "h3", "endpoints": wait}]}))
    assert grades.worst([key], ["client-cpu", "wire-bytes"], ["mean"]) == {
        "flag": "limited", "why": "its scenario: h3: a hypervisor gave 4.0% of a CPU to others",
    }  # fmt: skip
    assert grades.worst([key], ["wire-bytes"], ["mean"]) is None


def test_each_choice_has_the_quality_of_its_own_scenarios(campaign: Path) -> None:
    keys = _keys(campaign)
    pair = {"metric": "end-to-end-delay", "a": keys["h2"], "b": keys["h3"]}
    made = judge(campaign, {"comparisons": [{**pair, "link": {"flag": "unusable", "why": "late"}}]})
    assert made is not None
    claim = next(claim for claim in made["claims"] if claim["id"] == "M4")
    flags = {choice["levels"]["link.rtt"]: choice["link"] for choice in claim["choices"]}
    assert flags == {"2 ms": {"flag": "unusable", "why": "its comparison: late"}, "20 ms": None}


def test_each_part_has_the_quality_of_its_own_scenarios(campaign: Path) -> None:
    row = {"direction": "uplink", "why": "so it is"}
    rows = [
        {**row, "link_name": "lossless", "flag": "good"}, {**row, "link_name": "random", "flag": "good"},
        {**row, "link_name": "burst", "flag": "unusable"},
    ]  # fmt: skip
    made = judge(campaign, {"links": rows})
    assert made is not None
    claim = next(claim for claim in made["claims"] if claim["id"] == "M10")
    assert claim["link"]["flag"] == "unusable"
    assert {part["link"]["flag"] for part in claim["parts"]} == {"good", "unusable"}


def test_judging_twice_gives_the_same(campaign: Path, verdicts: dict[str, Any]) -> None:
    assert judge(campaign) == verdicts["whole"]
