"""Lines of the delay: by the link's account, by the clocks of the ends, and how late the emulator was."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wirelab.schema.probe import ProbeKind
from wirelab.stats.link.certificate import LATE, Check
from wirelab.stats.link.grade import LATENESS_FLOOR_S
from wirelab.stats.link.probes.estimates import LEAST_DELAYS, batches, median, quantile
from wirelab.stats.link.probes.packets import Packets
from wirelab.stats.link.probes.way import Way, changes_all_along, is_random, lone_delay_s

Floats = NDArray[np.float64]

INTO_NETEM = "into netem p99"
"""How late the link process passed packets on; what netem adds is in the delay."""


def delays(way: Way) -> Iterator[Check]:
    """Delay, end to end, timing error."""
    taken = way.packets.probes(ProbeKind.DELAY, uplink=way.uplink)
    alone = taken.only(taken.delivered & ~taken.copy & ~_asleep(way, taken))
    what = lone_delay_s(way.direction.stages, way.shared, int(taken.size[0])) if len(taken) else None
    why = _unsteady(way)
    if what is None or why is not None:
        reason = why or ("no probe was sent" if not len(taken) else "how long the medium takes for it is not known")
        yield Check("delay", way.name, "s", what, None, None, reason)
    else:
        # One delayed packet would dominate the mean timing error; the line below shows it.
        late_s = float(np.median(alone.lateness_s)) if len(alone) else 0.0
        values = alone.configured_delay_s + late_s
        typical = batches if is_random(way.direction.stages, way.shared) else median
        few = _few(way, len(values)) if len(values) < LEAST_DELAYS else None
        # The path to the link and from it, and both ends' wake-ups.
        beyond = max(10 * LATENESS_FLOOR_S, way.tolerance_s)
        tolerance = beyond if way.netem else way.tolerance_s
        yield Check("delay", way.name, "s", what, tolerance, typical(values), few, LATE)
        if not way.netem and not any(each.sleeps for each in way.shared):
            # Whom the radio kept waiting, the ends do not know.
            yield Check("end to end", way.name, "s", what, beyond, typical(_end_to_end_s(way)), few, LATE)
    late = quantile(way.entered.lateness_s if way.netem else alone.lateness_s, 0.99)
    name = INTO_NETEM if way.netem else "timing error p99"
    yield Check(name, way.name, "s", 0.0, way.tolerance_s, late, blame=LATE, at_most=True)


def _few(way: Way, n: int) -> str:
    rates = (stage.rate for stage in way.direction.stages)
    why = next((rate.sparse for rate in rates if rate is not None and rate.sparse is not None), None)
    if why is not None:
        return f"n = {n}: {why}; the replay reproduces each packet's"
    return f"n = {n} is too few for an interval: more time tells it"


def _end_to_end_s(way: Way) -> Floats:
    """From the sender's call to the receiver's kernel, by the clocks of the ends: an account of its own."""
    port = ProbeKind.DELAY.port(uplink=way.uplink)
    mine = way.received.filter((way.received["client_port"] == port) & (way.received["uplink"] == way.uplink))
    first = mine.unique("number", keep="first", maintain_order=True)
    return np.asarray((first["received_ns"] - first["sent_ns"]).to_numpy() / 1e9)


def _unsteady(way: Way) -> str | None:
    """Why the delay has no one figure."""
    unsteady = sorted(
        (stage for stage in way.direction.stages if stage.varies is not None), key=changes_all_along, reverse=True
    )
    return f"{unsteady[0].varies}; the replay reproduces each packet's" if unsteady else None


def _asleep(way: Way, taken: Packets) -> NDArray[np.bool_]:
    """Probes that may have waited for the radio: the first, and those long after the one before."""
    lightest = next((each.sleeps[0].after_ns for each in way.shared if each.sleeps), None)
    if lightest is None:
        return np.zeros(len(taken), dtype=np.bool_)
    return np.asarray(taken.quiet_ns > 0.8 * lightest)
