"""From a signal level to a rate and a frame error.

The tables under `data/profiles/signals` hold what a standard asks of every receiver: at a rate's sensitivity it may
lose no more than a stated share of frames of a stated size. That is a bound for the worst receiver allowed, not a
measurement: most receive weaker signals. Above the sensitivity the frame error falls with the signal as in NIST's model
of OFDM in white noise (Pei and Henderson, Validation of OFDM error rate model in ns-3, 2010), shifted so that it is the
standard's at the sensitivity. Fading, interference and the size of a frame are not in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from wirelab.errors import did_you_mean
from wirelab.experiment.library import signal_tables
from wirelab.units import UnitError, level_dbm, rate_bps, share

NEGLIGIBLE = 1e-6
"""Frame errors below this are none: no experiment here sees them."""


@dataclass(frozen=True)
class Step:
    """A rate, how long its frames' ACKs take, and the weakest signal at which a receiver must manage it."""

    rate: str
    ack: str
    sensitivity_dbm: float
    modulation: str
    coding: str


@dataclass(frozen=True)
class SignalMap:
    """A technology's rates, slowest first. `frame_error` is the share of frames of `octets` lost at a sensitivity."""

    name: str
    title: str
    frame_error: float
    octets: int
    steps: tuple[Step, ...]


@cache
def signal_maps() -> Mapping[str, SignalMap]:
    """The shipped maps by technology."""
    return {
        name: SignalMap(
            name,
            table["title"],
            share(table["frame-error"]),
            table["octets"],
            tuple(
                Step(row["rate"], row["ack"], level_dbm(row["sensitivity"]), row["modulation"], row["coding"])
                for row in sorted(table["rates"], key=lambda row: rate_bps(row["rate"]))
            ),
        )
        for name, table in signal_tables().items()
    }


def read_technology(name: str) -> str:
    """The name of a technology that has a map."""
    if name not in (maps := signal_maps()):
        raise UnitError("unknown technology", hint=did_you_mean(name, maps))
    return name


def resolve(technology: str, dbm: float) -> Mapping[str, str]:
    """`rate`, `ack` and `frame-error` of a medium at a signal level, as a link file writes them: the highest rate whose
    sensitivity the signal reaches."""
    known = signal_maps()[read_technology(technology)]
    reached = [step for step in known.steps if step.sensitivity_dbm <= dbm]
    if not reached:
        least = min(step.sensitivity_dbm for step in known.steps)
        raise UnitError(
            f"{dbm:g} dBm is below the minimum sensitivity of {technology} receivers ({least:g} dBm)",
            hint="give medium.rate and medium.frame-error of a measured receiver, as the link wifi-poor does",
        )
    step = reached[-1]
    error = frame_error(known, step, dbm - step.sensitivity_dbm)
    lost = f"{100 * error:.3g} %" if error >= NEGLIGIBLE else "0 %"
    return {"rate": step.rate, "ack": step.ack, "frame-error": lost}


def frame_error(known: SignalMap, step: Step, margin_db: float) -> float:
    """Share of frames lost at a signal so many dB above a rate's sensitivity."""
    at_sensitivity = _snr_db(step.modulation, step.coding, known.octets, known.frame_error)
    return _lost(step.modulation, step.coding, known.octets, at_sensitivity + margin_db)


_MODULATIONS = {"BPSK": (1.0, 1), "QPSK": (1.0, 2), "16-QAM": (3 / 4, 10), "64-QAM": (7 / 12, 42)}
"""Bit error a/2 erfc(sqrt(snr/b)) of each modulation: a and b."""

_CODES: Mapping[str, tuple[float, int, int, tuple[int, ...]]] = {
    "1/2": (1 / 2, 10, 2, (36, 211, 1404, 11633, 77433, 502690, 3322763, 21292910, 134365911)),
    "2/3": (1 / 4, 6, 1, (3, 70, 285, 1276, 6160, 27128, 117019, 498860, 2103891, 8784123)),
    "3/4": (1 / 6, 5, 1, (42, 201, 1492, 10469, 62935, 379644, 2253373, 13073811, 75152755, 428005675)),
    "5/6": (1 / 10, 4, 1, (92, 528, 8694, 79453, 792114, 7375573, 67884974, 610875423, 5427275376, 47664215639)),
}
"""Union bound of each punctured convolutional code: weight, free distance, step between distances, coefficients."""


def _lost(modulation: str, coding: str, octets: int, snr_db: float) -> float:
    """Share of frames with at least one wrong bit behind the decoder."""
    amplitude, spread = _MODULATIONS[modulation]
    wrong = amplitude / 2 * math.erfc(math.sqrt(10 ** (snr_db / 10) / spread))
    weight, distance, step, coefficients = _CODES[coding]
    chernoff = math.sqrt(4 * wrong * (1 - wrong))
    decoded = weight * sum(
        coefficient * chernoff ** (distance + step * index) for index, coefficient in enumerate(coefficients)
    )
    return 1.0 if decoded >= 1 else -math.expm1(8 * octets * math.log1p(-decoded))


@cache
def _snr_db(modulation: str, coding: str, octets: int, error: float) -> float:
    """The signal-to-noise ratio at which this share of frames is lost, by bisection: the share falls as the ratio
    grows."""
    low, high = -20.0, 60.0
    for _ in range(100):
        middle = (low + high) / 2
        if _lost(modulation, coding, octets, middle) > error:
            low = middle
        else:
            high = middle
    return high
