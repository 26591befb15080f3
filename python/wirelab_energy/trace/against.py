"""A model beside a measurement: the same time, both above idle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirelab_energy.model import radio_energy
from wirelab_energy.packet import Packet
from wirelab_energy.radio import Radio
from wirelab_energy.range import Range
from wirelab_energy.trace.work import Work


@dataclass(frozen=True)
class Compared:
    """One trial: what was measured, and what the model says of its packets, both above idle."""

    trial: str
    measured: Work
    model_j: Range

    @property
    def ratio(self) -> float | None:
        """Model to measurement; None where nothing stands out of idle."""
        measured = self.measured.above_idle_j
        return None if measured.low <= 0 else self.model_j.typical / measured.typical


def above_rest(radio: Radio, packets: Sequence[Packet], start_ns: int, end_ns: int) -> Range:
    """What packets cost a radio beyond its rest, until `end_ns`: what is left of a tail then is not in it. The bounds
    are those of power, not of how long states last.
    """
    energy = radio_energy(radio, packets, start_ns, end_ns)
    rest = radio_energy(radio, [], start_ns, end_ns)
    spent = Range.total(
        segment.watts * ((min(segment.end_ns, end_ns) - segment.start_ns) / 1e9)
        for segment in energy.timeline
        if segment.start_ns < end_ns
    )
    bounds = ("low", "typical", "high")
    low, typical, high = (getattr(spent, bound) - getattr(rest.joules, bound) for bound in bounds)
    return Range.spanning(typical, low, high)
