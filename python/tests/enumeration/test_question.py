"""What is asked of an experiment's scenarios."""

from __future__ import annotations

from pathlib import Path

from tests.asked import ask, load_experiment
from wirelab.enumeration.answer import both
from wirelab.enumeration.question import Question, questions
from wirelab.enumeration.search import Asked
from wirelab.enumeration.single import singles
from wirelab.plan import make_plan

TEXT = """
title = "two links"
[factors]
link = ["clean", "lossy"]
[links]
clean = { rtt = "20 ms" }
lossy = { rtt = "40 ms", loss = "2 %" }
[protocols.coap]
[workload]
kind = "telemetry"
message = "30 B"
exchanges = 1
connection = "new"
"""


def _asked(folder: Path, given: dict[str, Asked]) -> list[Question]:
    file = folder / "two.toml"
    file.write_text(TEXT)
    single = singles(load_experiment(str(file), ["protocol=coap"]), ask, 1)
    return questions(make_plan(single.experiment), single, given, (0.2, 1.0), 0.01)


def test_a_loss_that_is_given_is_asked_of_every_scenario_and_its_own_of_that_which_has_one(tmp_path: Path) -> None:
    found = _asked(tmp_path, {"1 %": Asked(both(0.01), 0.001)})
    assert [sorted(each.losses) for each in found] == [["1 %"], ["1 %", "link lossy"]]
    assert (found[1].losses["1 %"].within, found[1].losses["link lossy"].within) == (0.001, 0.01)
    assert [[*each.stands_for] for each in found] == [[], ["link lossy"]]
    assert all(each.beyond_s == (0.2, 1.0) for each in found)


def test_a_scenario_without_any_loss_is_not_asked(tmp_path: Path) -> None:
    assert [[*each.losses] for each in _asked(tmp_path, {})] == [["link lossy"]]
