"""The runs of a file of claims: what is wrong with them, and that those that ship can be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from tests.claims.grids import FILE, LATE
from wirelab.claims.campaigns import CampaignTable
from wirelab.claims.grid import Grid
from wirelab.claims.interpretations import digest
from wirelab.claims.load import Claims, load
from wirelab.claims.model import ClaimsFile
from wirelab.errors import WirelabError
from wirelab.experiment.library import experiment_file
from wirelab.plan import make_plan
from wirelab.schema import canonical_json
from wirelab.schema.verdicts import ChoiceVerdict, Standing
from wirelab.stats.dataset import points

CAMPAIGN = """\
[[campaign]]
experiment = "quickstart"
clock = "virtual"
set = { "link.rtt" = "2ms, 20 ms", "stop.replicates" = "4" }
why = "the primary interpretation"
"""
LINKS = '[links]\nclean = {}\nlossy = { loss = "1 %" }\n'
SHIPPED = Path(str(experiment_file("quickstart"))).parent


def _file(tmp_path: Path, text: str, *, to_run: bool = True) -> ClaimsFile:
    path = tmp_path / "x.claims.toml"
    path.write_text(text)
    return load(path, to_run=to_run).file


def test_a_campaign_has_the_assignments_of_its_run(tmp_path: Path) -> None:
    [campaign] = _file(tmp_path, FILE + CAMPAIGN).campaign
    assert campaign.assignments == ("link.rtt=2ms, 20 ms", "stop.replicates=4", "clock=virtual")


def test_campaigns_stand_outside_the_frozen_digest(tmp_path: Path) -> None:
    assert digest(_file(tmp_path, FILE + CAMPAIGN), LATE) == digest(_file(tmp_path, FILE), LATE)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"quickstart"', '"quickstrat"', "no such experiment (\"quickstrat\")\nhint: did you mean 'quickstart'?"),
        ('"virtual"', '"simulated"', 'unknown value ("simulated")'),
        ('"2ms, 20 ms"', '"2ms, 3 ms"', 'set.link.rtt: unknown level of link.rtt ("3 ms")'),
        ('"2ms, 20 ms"', '"2ms,"', 'set.link.rtt: is not PATH = LEVELS ("2ms,")'),
        ('"2ms, 20 ms"', "2", "should be a string (2)"),
        ('"stop.replicates"', '"clock"', 'set.clock: is a key of the campaign'),
        ('"stop.replicates"', '"no.such.path"', "set.no.such.path: cannot be varied\nhint: "),
        ('"stop.replicates"', '"link.jiter"', "link has no key 'jiter'\nhint: did you mean 'jitter'?"),
        ('"stop.replicates" = "4"', '"link.jitter" = "fast"', 'set.link.jitter: '),
        ('"stop.replicates" = "4"', '"stop.replicates" = "x"', 'set.stop.replicates: '),
        ('"stop.replicates" = "4"', '"stop.replicats" = "4"', "set.stop.replicats: unknown key"),
        (
            '"stop.replicates" = "4"', '"link.jitter" = "normal 1 ms"',
            'set.link.jitter: is varied neither by the claims nor by quickstart ("normal 1 ms")\n'
            'hint: name its levels: [[choice]] path = "link.jitter"',
        ),
        ("why", "reason", "unknown key"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, old: str, new: str, what: str) -> None:
    assert old in CAMPAIGN
    with pytest.raises(WirelabError) as caught:
        _file(tmp_path, FILE + CAMPAIGN.replace(old, new, 1))
    assert what in str(caught.value)
    assert "x.claims.toml:" in str(caught.value)
    assert caught.value.exit_code == 2


def test_the_same_campaign_twice_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="is a campaign already"):
        _file(tmp_path, FILE + CAMPAIGN + CAMPAIGN)


def test_an_experiment_next_to_the_file_may_be_run(tmp_path: Path) -> None:
    text = FILE + CAMPAIGN.replace("quickstart", "mine")
    (tmp_path / "mine.toml").write_text(LINKS)
    assert _file(tmp_path, text).campaign[0].experiment == "mine"


def test_what_an_experiment_varies_and_the_number_of_exchanges_may_be_set(tmp_path: Path) -> None:
    text = FILE + CAMPAIGN.replace("quickstart", "mine").replace('"stop.replicates" = "4"', '"client.cpu" = "10 %"')
    mine = tmp_path / "mine.toml"
    mine.write_text('claims = "x.claims.toml"\n[factors]\nprotocol = ["h2", "h3"]\n' + LINKS)
    with pytest.raises(WirelabError, match="varied neither by the claims nor by mine"):
        _file(tmp_path, text)
    mine.write_text(mine.read_text().replace("[factors]", '[factors]\n"client.cpu" = ["none", "10 %"]'))
    settable = text.replace('"client.cpu" = "10 %"', '"client.cpu" = "10 %", "workload.exchanges" = "40", "seed" = "7"')
    assert _file(tmp_path, settable).campaign[0].sets["seed"] == "7"


def test_a_kept_file_of_claims_needs_no_experiments(tmp_path: Path) -> None:
    assert len(_file(tmp_path, FILE + CAMPAIGN.replace("quickstart", "gone"), to_run=False).campaign) == 1


def _interpretations(claims: Claims, campaign: CampaignTable) -> dict[str, Standing | None]:
    """By name, where the campaign stands in the grid: `confirmed` at the interpretations that it runs."""
    plan = make_plan(load_experiment(campaign.experiment, campaign.assignments))
    places = {
        canonical_json(levels): levels
        for scenario in plan.scenarios
        for point in points(scenario)
        if (levels := {path: level for path, level in point.items() if path not in claims.file.grid})
    }
    meant = {name: metrics[0] for name, metrics in claims.file.metrics.items() if len(metrics) > 1}
    rows: list[ChoiceVerdict] = [
        {"levels": {**levels, **meant}, "verdict": "confirmed", "missing": False, "link": None, "ours": None}
        for levels in places.values()
    ]
    sets = {path: level for path, level in campaign.sets.items() if "," not in level}
    planned = plan.experiment
    over = Grid(claims, {*planned.factors, *planned.choices}, sets).of_claim(claims.claims[0], rows)
    return {} if over is None else over["interpretations"]


@pytest.mark.parametrize("claims", sorted(SHIPPED.glob("*.claims.toml")), ids=lambda path: path.name.partition(".")[0])
def test_the_campaigns_that_ship_are_of_these_claims_and_run_each_interpretation(claims: Path) -> None:
    read = load(claims, to_run=True)
    ran: set[str] = set()
    for number, campaign in enumerate(read.file.campaign):
        experiment = load_experiment(campaign.experiment, campaign.assignments)
        assert experiment.claims is not None and experiment.claims.name == claims.name
        here = {name for name, standing in _interpretations(read, campaign).items() if standing is not None}
        assert number > 0 or not isinstance(read.file.primary, str) or read.file.primary in here
        ran |= here
    assert ran >= {each.name for each in read.file.interpretation if read.file.campaign}
