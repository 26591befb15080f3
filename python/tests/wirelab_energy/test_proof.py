import os
from pathlib import Path

import pytest

from tests.wirelab_energy.radios import mine
from wirelab_energy import Radio, load_radio, radio_names
from wirelab_energy.proof import is_validated, proofs
from wirelab_energy.published import quantity_words

RADIOS = [load_radio(name) for name in radio_names()]
SECOND = {"what": "x", "packets": [{"at": "0 s", "up": "974 B"}], "source": "y"}


def predicted(**figure: object) -> float:
    (proof,) = proofs(mine(published=[{**SECOND, **figure}]))
    return proof.predicted.typical


def test_a_figure_is_predicted_in_its_own_quantity() -> None:
    assert predicted(quantity="airtime", value="1 s") == 1
    assert predicted(quantity="energy", value="3 J") == pytest.approx(3 + 0.012)  # with the gap behind the frame
    assert predicted(quantity="mean-power", value="2 W", over="2 s") == pytest.approx(2)
    assert predicted(quantity="mean-current", value="2 A", over="2 s") == pytest.approx(2)


def test_one_figure_that_holds_validates_unless_another_is_missed_by_far() -> None:
    def valid(*watts: str) -> bool:
        figures = [{**SECOND, "quantity": "mean-power", "over": "2 s", "value": each} for each in watts]
        return is_validated(proofs(mine(published=figures)))

    assert valid("2 W")
    assert valid("2.4 W", "1.2 W")
    assert not valid("2.6 W")
    assert not valid("2 W", "0.9 W")
    assert not valid()


def test_sleep_alone_and_a_figure_of_the_same_constants_validate_nothing() -> None:
    held = {**SECOND, "quantity": "mean-power", "over": "2 s", "value": "2 W"}
    asleep = {**held, "value": "1 W", "packets": []}
    circular = {**held, "same-constants": True}
    for figure in (asleep, circular):
        found = proofs(mine(published=[figure]))
        assert found[0].holds
        assert not is_validated(found)
    assert is_validated(proofs(mine(published=[asleep, circular, held])))


@pytest.mark.parametrize("radio", RADIOS, ids=[radio.name for radio in RADIOS])
def test_a_radio_is_validated_only_by_what_it_predicts(radio: Radio) -> None:
    assert radio.validated == is_validated(proofs(radio))


GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "energy.md"
MARKS = ("<!-- published figures: written by python/tests/wirelab_energy/test_proof.py -->\n", "<!-- end -->\n")


def table() -> str:
    lines = ["| radio | figure | published | model | off by |", "|---|---|---|---|---|"]
    for radio in RADIOS:
        for proof in proofs(radio):
            figure = proof.published
            model = quantity_words(proof.predicted, figure.quantity)
            off = f"{100 * (proof.ratio - 1):+.0f} %{'' if proof.holds else ', missed'}"
            what = f"{figure.what} ({figure.note})" if figure.note else figure.what
            lines.append(f"| `{radio.name}` | {what} | {figure.written} | {model} | {off} |")
    return "\n".join(["", *lines, "", ""])


def test_the_guide_has_every_published_figure_with_its_miss() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    before, _, rest = text.partition(MARKS[0])
    found, _, after = rest.partition(MARKS[1])
    if os.environ.get("WIRELAB_UPDATE_GOLDEN") == "1":
        GUIDE.write_text(before + MARKS[0] + table() + MARKS[1] + after, encoding="utf-8")
        return
    assert found == table(), "the table is old: run with WIRELAB_UPDATE_GOLDEN=1"


def test_the_guide_counts_the_validated_radios() -> None:
    names = sorted(radio.name for radio in RADIOS if radio.validated)
    assert not names
    assert "No radio is validated." in GUIDE.read_text(encoding="utf-8")
