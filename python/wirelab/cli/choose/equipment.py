"""The radio of the device on each link: the one that is named, or the one that the shipped experiments have there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from wirelab.errors import WirelabError
from wirelab.experiment.library import experiment_file

if TYPE_CHECKING:
    from wirelab.answer.choose.question import Asked
    from wirelab.metrics.energy_settings import Equipment
    from wirelab.schema.plan import LinkRadio

RADIOS_OF = "sensor"
"""The shipped experiment whose `[energy.radios]` are assumed."""


def equipments(asked: Asked, links: Sequence[str]) -> dict[str, Equipment]:
    """By link, of those with a radio. A radio that is named has the inputs of the known one on that link, as far as it
    has them. Raises `WirelabError` if there is no such radio.
    """
    from wirelab.metrics.energy_settings import Equipment, equipment
    from wirelab_energy.radio import load_radio

    known = _known()
    found = dict[str, Equipment]()
    for link in links:
        usual = known.get(link)
        if asked.radio is not None:
            try:
                radio = load_radio(asked.radio)
            except WirelabError as error:
                error.where = error.where or "--radio"
                raise
            inputs = {} if usual is None else {key: value for key, value in usual.inputs.items() if key in radio.inputs}
            found[link] = Equipment(radio.with_inputs(inputs) if inputs else radio)
        elif usual is not None:
            found[link] = equipment(usual, {}, measured_on_device=False)
    return found


@cache
def _known() -> Mapping[str, LinkRadio]:
    import tomllib

    from wirelab.experiment.file.energy import EnergyTable

    document = tomllib.loads(experiment_file(RADIOS_OF).read_text(encoding="utf-8"))
    return EnergyTable.model_validate(document["energy"]).record().radios
