"""What is enumerated of an experiment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import ask, load_experiment
from wirelab.enumeration.single import Singles, singles
from wirelab.errors import WirelabError
from wirelab.schema import Clock, RequestWorkload

TEXT = """
title = "two links"
[factors]
protocol = ["coap", "http1"]
link = ["clean", "lossy", "slow"]
[links]
clean = { rtt = "20 ms" }
lossy = { rtt = "20 ms", loss = "2 %" }
slow = { rtt = "200 ms", loss = "1 %" }
[workload]
kind = "telemetry"
message = "30 B"
exchanges = 50
connection = "new"
[stop]
replicates = [5, 20]
interval = "10 %"
"""


def _singles(folder: Path, text: str = TEXT, *sets: str) -> Singles:
    file = folder / "two.toml"
    file.write_text(text)
    return singles(load_experiment(str(file), sets), ask, 3)


def test_scenarios_that_differ_by_their_loss_are_one_that_is_asked_for_each(tmp_path: Path) -> None:
    found = _singles(tmp_path)
    scenarios = found.experiment.scenarios
    assert len(scenarios) == 4
    losses = [sorted(found.losses[each.digest()]) for each in scenarios]
    assert losses == [["link lossy"], ["link slow"]] * 2
    assert [each.name for each in scenarios] == ["coap", "coap, slow", "http1", "http1, slow"]
    own = {each.name: each.digest() for each in load_experiment(str(tmp_path / "two.toml"), ()).scenarios}
    assert [dict(found.stands_for[each.digest()]) for each in scenarios[:2]] == [
        {"link lossy": own["coap, lossy"]},
        {"link slow": own["coap, slow"]},
    ]


def test_an_exchange_is_alone_and_every_seed_is_run_under_the_virtual_clock(tmp_path: Path) -> None:
    found = _singles(tmp_path).experiment
    assert (found.clock, found.stop.replicates, found.stop.interval) == (Clock.VIRTUAL, (3, 3), None)
    for scenario in found.scenarios:
        assert isinstance(scenario.workload, RequestWorkload)
        assert (scenario.workload.exchanges, scenario.workload.concurrency) == (1, 1)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (('connection = "new"', 'connection = "persistent"'), "depends on those before it"),
        (('message = "30 B"', 'message = "20 MB"'), "more than 1,000 packets"),
        (('loss = "2 %"', 'loss = "2 %", jitter = "normal 1 ms"'), "is random"),
    ],
)
def test_what_cannot_be_enumerated_is_refused_with_the_scenario_and_a_hint(
    tmp_path: Path, change: tuple[str, str], what: str
) -> None:
    with pytest.raises(WirelabError, match=what) as refused:
        _singles(tmp_path, TEXT.replace(*change))
    assert "two.toml: coap" in str(refused.value)
    assert refused.value.hint


def test_subscribers_are_refused(tmp_path: Path) -> None:
    text = (
        TEXT[: TEXT.index("[workload]")]
        + '[workload]\nkind = "pubsub"\nmessage = "30 B"\nmessages = 3\narrival = { fixed = "1 /s" }\n'
    )
    with pytest.raises(WirelabError, match="wait for a subscriber"):
        _singles(tmp_path, text)


def test_levels_of_loss_on_one_link_are_each_asked_for(tmp_path: Path) -> None:
    text = TEXT.replace('link = ["clean", "lossy", "slow"]', '"link.loss" = ["1 %", "5 %"]')
    text = text[: text.index("[links]")] + '[link]\nrtt = "20 ms"\n' + text[text.index("[workload]") :]
    found = _singles(tmp_path, text)
    assert len(found.experiment.scenarios) == 2
    for scenario in found.experiment.scenarios:
        losses = found.losses[scenario.digest()]
        assert {name: loss.uplink.weight([True]) for name, loss in losses.items()} == {
            "link.loss 1 %": pytest.approx(0.01), "link.loss 5 %": pytest.approx(0.05),
        }  # fmt: skip
