"""What an exchange costs the client's device, as a model computes it from the packets that really flowed.

An exchange is taken by itself: from a radio at rest, with the packets of its connection on which it was the latest to
have begun (a connection's set-up is its first exchange's), to the end of the tail that they leave. A load of a page has
the packets of all its connections. Least and most are the bounds of the model's constants, not of the measurement.
"""

from __future__ import annotations

import polars as pl

from wirelab.metrics.base import Metric, when_completed
from wirelab.metrics.energy_names import BOUNDS, DAY, MESSAGE, RADIO, TRIAL, column

_ABOUT = {
    RADIO: "of the client's radio for an exchange by itself, by the model of [energy]. Its tail is in it; the "
    "packets are those that flowed",
    MESSAGE: "of the client's radio and processor for an exchange by itself: its radio's energy, and an even share of "
    "what the trial's CPU time takes. Null unless that time was measured on the device (`measured-on-device`)",
    DAY: "of a day with an exchange like this every `interval` of [energy]. Radio, the device's sleep "
    "and, with `measured-on-device`, its processor; null where the processor's share is not known",
    TRIAL: "of the client's radio for all packets of a trial. As they came, the last one's tail in it",
}
_BEGINS = {"typical": "Energy", "low": "Least energy", "high": "Most energy"}
_ENDS = {
    "typical": ".",
    "low": "; with all of the model's constants at their least.",
    "high": "; with all of the model's constants at their most.",
}


def _about(what: str, bound: str) -> str:
    return f"{_BEGINS[bound]} {_ABOUT[what]}{_ENDS[bound]}"


METRICS = (
    *(
        Metric(
            f"{what}{ending}",
            "j",
            _about(what, bound),
            when_completed(pl.col(column(what, bound))),
        )
        for what in (RADIO, MESSAGE, DAY)
        for bound, ending in BOUNDS.items()
    ),
    *(
        Metric(f"{TRIAL}{ending}", "j", _about(TRIAL, bound), pl.col(column(TRIAL, bound)), of="trial")
        for bound, ending in BOUNDS.items()
    ),
)
