from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.asked import ask
from wirelab.experiment.link import LinkTable, link_spec
from wirelab.experiment.link.files import Files
from wirelab.experiment.link.loss import MAX_STATES
from wirelab.schema import FourState, ImpairmentSpec, LossPattern, Markov

STATES = {"p13": "1 %", "p31": "20 %", "p32": "30 %", "p23": "40 %", "p14": "0.1 %"}
CHAIN = {"transitions": [["90 %", "10 %"], ["50 %", "50 %"]], "loss": ["0 %", "60 %"]}


def stage(table: dict[str, Any], folder: Path = Path()) -> ImpairmentSpec:
    (found,) = link_spec(LinkTable.model_validate(table, context=Files(folder)), ask).uplink
    return found


def test_four_states_take_netems_parameters() -> None:
    assert stage({"four-state": STATES}) == FourState(p13=0.01, p31=0.2, p32=0.3, p23=0.4, p14=0.001)


def test_a_chain_has_any_number_of_states() -> None:
    assert stage({"markov": CHAIN}) == Markov(transitions=((0.9, 0.1), (0.5, 0.5)), loss=(0, 0.6))
    third = [["34 %", "33 %", "33 %"]] * 3
    assert stage({"markov": {"transitions": third, "loss": ["0 %", "1 %", "2 %"]}}).kind == "markov"


@pytest.mark.parametrize(
    ("written", "pattern", "repeat"),
    [
        ({"every": 4}, "0001", True),
        ({"pattern": "0110"}, "0110", True),
        ({"pattern": "01", "repeat": False}, "01", False),
    ],
)
def test_a_pattern_is_given_by_counts_or_written_out(written: dict[str, Any], pattern: str, repeat: bool) -> None:
    assert stage({"loss-pattern": written}) == LossPattern(pattern=pattern, repeat=repeat)


def test_a_pattern_is_recorded_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "losses.txt").write_text("0000\n0100\n")
    written = {"loss-pattern": {"file": "losses.txt", "repeat": False}}
    assert stage(written, tmp_path) == LossPattern(pattern="00000100", repeat=False)


@pytest.mark.parametrize(
    "table",
    [
        {"four-state": STATES | {"p14": "99.1 %"}},
        {"four-state": STATES | {"p31": "71 %"}},
        {"four-state": {"p13": "1 %"}},
        {"gilbert-elliott-time": {"good": "1 s", "bad": "9 us", "bad-loss": "1 %"}},
        {"markov": CHAIN | {"loss": ["0 %"]}},
        {"markov": CHAIN | {"transitions": [["90 %", "10 %"]]}},
        {"markov": CHAIN | {"transitions": [["90 %", "9 %"], ["50 %", "50 %"]]}},
        {"markov": CHAIN | {"transitions": [["90 %"], ["50 %", "50 %"]]}},
        {"markov": CHAIN | {"transitions": [["100 %", "0 %"], ["0 %", "100 %"]]}},
        {"markov": CHAIN | {"transitions": []}},
        {"markov": CHAIN | {"transitions": "90 %"}},
        {"loss-pattern": {}},
        {"loss-pattern": {"every": 0}},
        {"loss-pattern": {"every": 2, "repeat": False}},
        {"loss-pattern": {"pattern": ""}},
        {"loss-pattern": {"pattern": "012"}},
        {"loss-pattern": {"pattern": "0" * 500_001}},
        {"loss-pattern": {"pattern": "01", "every": 2}},
        {"loss-pattern": {"file": "none.txt"}},
    ],
)
def test_an_invalid_loss_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        stage(table)


def test_a_chain_with_too_many_states_is_refused() -> None:
    def chain(states: int) -> dict[str, Any]:
        return {"transitions": [["100 %", *["0 %"] * (states - 1)]] * states, "loss": ["0 %"] * states}

    assert stage({"markov": chain(MAX_STATES)}).kind == "markov"
    with pytest.raises(ValidationError, match=f"at most {MAX_STATES}"):
        stage({"markov": chain(MAX_STATES + 1)})


def test_a_chain_with_an_absorbing_state_is_accepted() -> None:
    """What a link starts in is then what it stays in."""
    assert stage({"markov": CHAIN | {"transitions": [["90 %", "10 %"], ["0 %", "100 %"]]}}).kind == "markov"
