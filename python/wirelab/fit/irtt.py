"""A result of irtt (github.com/heistp/irtt), the JSON of `irtt client -o FILE`, as doc/irtt-client.md describes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, ValidationError

from wirelab.fit.observations import Delays, Lost, MeasurementError, Observations, Way
from wirelab.schema.base import Received
from wirelab.units import format_duration

FORMAT = 1
"""irtt's `json_format`; it changes when the format does."""

DRIFT = 0.1
"""So much of the spread may be the clocks drifting apart before the one-way delays are left aside."""

_FEW = 30
"""With fewer replies, the minimum of a third does not measure the clocks."""


_MOST_NS = 2**62
"""So that the difference of two is a number of 64 bits."""

_Nanoseconds = Annotated[int, Field(ge=-_MOST_NS, le=_MOST_NS)]


class _Delay(Received):
    rtt: _Nanoseconds | None = None
    send: _Nanoseconds | None = None
    receive: _Nanoseconds | None = None


class _Stamps(Received):
    late: bool = False


class _RoundTrip(Received):
    seqno: int
    lost: bool | Literal["false", "true", "true_up", "true_down"]
    delay: _Delay = _Delay()
    timestamps: _Stamps = _Stamps()

    @property
    def is_lost(self) -> bool:
        return self.lost not in (False, "false")


class _Version(Received):
    json_format: int = FORMAT


class _Parameters(Received):
    interval: int = Field(gt=0, le=_MOST_NS)


class _Config(Received):
    params: _Parameters


class _Statistics(Received):
    duplicates: int = 0


class _Result(Received):
    version: _Version = _Version()
    config: _Config
    stats: _Statistics = _Statistics()
    round_trips: tuple[_RoundTrip, ...]


def observe_irtt(text: str, *, clocks_agree: bool = False) -> Observations:
    """Round trips, one-way delays and losses of an irtt result.

    A constant difference of the two clocks cancels in each direction's spread; `clocks_agree` says that there is none,
    so that the one-way delays themselves hold too.
    """
    result = _result(text)
    trips = sorted(result.round_trips, key=lambda trip: trip.seqno)
    answered = [trip for trip in trips if not trip.is_lost and trip.delay.rtt is not None]
    one_way, remarks = _one_way(answered, clocks_agree=clocks_agree)
    by_way = _lost_by_way(trips)
    if not by_way and any(trip.is_lost for trip in trips):
        remarks.append("Some losses are of an unknown direction (irtt client --stats=both determines more of them).")
    late = sum(trip.timestamps.late for trip in answered)
    if late:
        remarks.append(f"{late} of {len(answered)} replies were reordered; the profile has no reordering.")
    if result.stats.duplicates:
        remarks.append(f"{result.stats.duplicates} replies were duplicated; the profile has no duplication.")
    return Observations(
        kind="an irtt result",
        packets="requests",
        round_trips_ns=np.array([max(trip.delay.rtt or 0, 0) for trip in answered], dtype=np.int64),
        lost=None if by_way else np.array([trip.is_lost for trip in trips], dtype=np.bool_),
        lost_by_way=by_way,
        one_way_ns=one_way,
        clocks_agree=clocks_agree,
        interval_ns=result.config.params.interval,
        seen=tuple(remarks),
        unknown=(
            *([] if by_way else ["Which direction lost a packet."]),
            *([] if one_way else ["Which direction delayed a packet."]),
            *([] if clocks_agree else ["How the least delay divides between the directions: the clocks may disagree."]),
            "Rate and queue: packets sent on a fixed period do not fill a link.",
            "Reordering and duplication, which are counted above where they were seen.",
        ),
    )


def _result(text: str) -> _Result:
    try:
        result = _Result.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise MeasurementError(f"is not JSON, or truncated: {first['ctx']['error']}") from None
        key = ".".join(str(part) for part in first["loc"])
        raise MeasurementError(f"is not an irtt result: {key}: {first['msg'].lower()}", hint=_HINT) from None
    if result.version.json_format != FORMAT:
        raise MeasurementError(f"has irtt's json_format {result.version.json_format}, and {FORMAT} is understood")
    if not result.round_trips:
        raise MeasurementError("has no round_trips", hint=_HINT)
    return result


_HINT = "irtt client -i 20ms -d 10m -o result.json HOST"


def _lost_by_way(trips: Iterable[_RoundTrip]) -> Mapping[Way, Lost]:
    """Losses by direction, if irtt knows the direction of each. What was lost on its way up was never sent down."""
    trips = tuple(trips)
    if any(trip.lost in (True, "true") for trip in trips):
        return {}
    return {
        "uplink": np.array([trip.lost == "true_up" for trip in trips], dtype=np.bool_),
        "downlink": np.array([trip.lost == "true_down" for trip in trips if trip.lost != "true_up"], dtype=np.bool_),
    }


def _one_way(answered: list[_RoundTrip], *, clocks_agree: bool) -> tuple[Mapping[Way, Delays], list[str]]:
    if not answered or any(trip.delay.send is None or trip.delay.receive is None for trip in answered):
        if clocks_agree:
            raise MeasurementError(
                "has no one-way delays", hint="irtt client --tstamp=both --clock=both, the defaults, records them"
            )
        return {}, []
    up = np.array([trip.delay.send for trip in answered], dtype=np.int64)
    down = np.array([trip.delay.receive for trip in answered], dtype=np.int64)
    least = int(min(up.min(), down.min()))
    if clocks_agree:
        if least <= 0:
            raise MeasurementError(
                f"has a one-way delay of {format_duration(least)}, so the clocks disagree",
                hint="leave --synchronised-clocks out",
            )
        return {"uplink": up, "downlink": down}, []
    drift = _drift_ns(up, down) if len(answered) >= _FEW else 0.0
    spread = max(float(np.quantile(each, 0.95) - each.min()) for each in (up, down))
    if abs(drift) > DRIFT * spread:
        return {}, [f"The clocks drifted apart by {format_duration(abs(drift))}, so the one-way delays are left aside."]
    return {"uplink": up, "downlink": down}, []


def _drift_ns(up: Delays, down: Delays) -> float:
    """How far the clocks moved apart: what the least delay of one direction gains and that of the other loses, from the
    first third of the measurement to the last, stretched to the whole."""
    third = max(1, len(up) // 3)
    moved = [float(each[-third:].min() - each[:third].min()) for each in (up, down)]
    return (moved[0] - moved[1]) / 2 * 1.5
