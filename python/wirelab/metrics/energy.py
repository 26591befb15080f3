"""What an exchange, an interval and a trial cost the client's device, computed by a model from packets that flowed.

An exchange by itself is taken from a radio at rest, with the packets of its connection on which it was the latest to
have begun, to the end of the tail that they leave. A load of a page has the packets of all its connections. An interval
is cut from the trial as it was: its message finds the radio as the one before left it. Least and most are the bounds of
the model's constants, not of the measurement.
"""

from __future__ import annotations

import polars as pl

from wirelab.metrics.base import Metric, when_completed
from wirelab.metrics.energy_names import (
    BOUNDS,
    DAY,
    INTERVAL,
    MESSAGE,
    RADIO,
    SETUP,
    TRIAL,
    TRIAL_CLOSING,
    TRIAL_MESSAGES,
    TRIAL_SETUP,
    column,
)

_ABOUT = {
    RADIO: "of the client's radio for one exchange by itself, from an idle radio to the end of its tail, by the model "
    "of [energy]. The packets are those that flowed. It is not a share of a trial: `interval-energy` is",
    MESSAGE: "of the client's radio and processor for an exchange by itself: its radio's energy, and an even share of "
    "what the trial's CPU time takes. Null unless that time was measured on the device (`measured-on-device`)",
    INTERVAL: "of the client's radio from one message to the next, keep-alives, tail and sleep included. Every message "
    "that was due counts, whatever its outcome. Null if exchanges follow one another, and of a message that opened a "
    "persistent connection",
    SETUP: "of the client's radio for one set-up: opening a persistent connection, up to the request, or what was sent "
    "before the first message. Null of other exchanges",
    DAY: "of a day of intervals like this: `interval-energy` for as many messages as the workload sends, the device's "
    "sleep and, with `measured-on-device`, its processor. Null where the processor's share is not known",
    TRIAL: "of the client's radio for a whole trial, with the last message's interval, or the tail if exchanges follow "
    "one another. Of several clients the sum: each is a device",
    TRIAL_SETUP: "of the client's radio for the set-ups of a trial",
    TRIAL_MESSAGES: "of the client's radio for the messages of a trial, each up to the next one",
    TRIAL_CLOSING: "of the client's radio for what a trial has after its last interval, such as closing connections",
}
_BEGINS = {"typical": "Energy", "low": "Least energy", "high": "Most energy"}
_ENDS = {
    "typical": ".",
    "low": "; with all of the model's constants at their least.",
    "high": "; with all of the model's constants at their most.",
}


def _about(what: str, bound: str) -> str:
    return f"{_BEGINS[bound]} {_ABOUT[what]}{_ENDS[bound]}"


def _metrics(*whats: str, of: str = "exchange", any_outcome: bool = False) -> list[Metric]:
    found = []
    for what in whats:
        for bound, ending in BOUNDS.items():
            value = pl.col(column(what, bound))
            counted = value if any_outcome or of == "trial" else when_completed(value)
            found.append(Metric(f"{what}{ending}", "j", _about(what, bound), counted, of=of))
    return found


METRICS = (
    *_metrics(RADIO, MESSAGE),
    # A message that failed is paid for.
    *_metrics(INTERVAL, SETUP, DAY, any_outcome=True),
    *_metrics(TRIAL, TRIAL_SETUP, TRIAL_MESSAGES, TRIAL_CLOSING, of="trial"),
)
