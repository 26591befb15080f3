"""What a radio's model predicts of figures that others published."""

from __future__ import annotations

from dataclasses import dataclass

from wirelab_energy.model import RadioEnergy, radio_energy
from wirelab_energy.published import Published
from wirelab_energy.radio import Radio
from wirelab_energy.range import Range
from wirelab_energy.track import NS

CLOSE = 1.25
"""A prediction within the figure divided and multiplied by this reproduces it."""
FAR = 2.0
"""A radio with a prediction farther off than this is not validated by another that holds."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A published figure and what the model makes of it, in the figure's unit."""

    published: Published
    predicted: Range

    @property
    def ratio(self) -> float:
        """Predicted over published."""
        return self.predicted.typical / self.published.value

    @property
    def holds(self) -> bool:
        """Whether the typical constants reproduce the figure."""
        return 1 / CLOSE <= self.ratio <= CLOSE

    @property
    def misses_by_far(self) -> bool:
        """Whether they do not even come near."""
        return not 1 / FAR <= self.ratio <= FAR


def proofs(radio: Radio) -> list[Proof]:
    """Every published figure of a radio with its prediction."""
    return [Proof(each, _predict(radio.with_inputs(each.inputs, "published"), each)) for each in radio.published]


def is_validated(held: list[Proof]) -> bool:
    """Whether a figure of traffic that others than these constants gave holds, and none is missed by far."""
    shown = (each for each in held if each.published.packets and not each.published.same_constants)
    return any(each.holds for each in shown) and not any(each.misses_by_far for each in held)


def _predict(radio: Radio, published: Published) -> Range:
    energy = radio_energy(radio, published.packets, 0, round(published.over_s * NS))
    match published.quantity:
        case "airtime":
            return Range.exact(energy.airtime_up_s)
        case "energy":
            return energy.joules
        case "mean-current":
            return _mean_w(energy) * (1 / radio.voltage.value.typical)
    return _mean_w(energy)


def _mean_w(energy: RadioEnergy) -> Range:
    return energy.joules * (NS / (max(energy.end_ns, energy.settled_ns) - energy.start_ns))
