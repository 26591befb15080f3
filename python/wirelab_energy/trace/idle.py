"""The part of a trace in which the device idled, given or found: what its work is counted above."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.range import Range
from wirelab_energy.trace.trace import Floats, Trace

WINDOW = 0.05
"""Share of the trace that an idle section must last for, to be found."""
PARTS = 10
"""An idle section is looked at in so many equal parts, whose means tell how steady it is."""
STEADY = 0.1
"""The means of its parts span less than this share of what those of all parts of the trace span."""
_LEAST_SAMPLES = 5 * PARTS


@dataclass(frozen=True)
class Idle:
    """The section, and its power: the mean, and the least and the greatest mean of its parts."""

    from_s: float
    to_s: float
    watts: Range
    found: bool


def idle_between(trace: Trace, from_s: float, to_s: float, where: Where) -> Idle:
    """The section that somebody named. Raises `WirelabError` if the trace has too few samples of it."""
    if to_s <= from_s:
        begin, end = from_s - trace.start_s, to_s - trace.start_s
        raise WirelabError(f"the idle section ends ({end:g} s) before it begins ({begin:g} s)", where)
    section = trace.between(from_s, to_s)
    if len(section.times_s) < PARTS:
        begin, end = from_s - trace.start_s, to_s - trace.start_s
        what = f"has {len(section.times_s)} samples from {begin:g} s to {end:g} s"
        raise WirelabError(what, where, f"it lasts from 0 s to {trace.duration_s:g} s")
    return Idle(from_s, to_s, _level(section), found=False)


def find_idle(trace: Trace, where: Where) -> Idle:
    """The steady section of least power. Raises `WirelabError` if the quietest one is not steady."""
    if len(trace.times_s) < _LEAST_SAMPLES or trace.duration_s <= 0:
        what = f"has {len(trace.times_s)} samples, too few to find an idle section in"
        raise WirelabError(what, where, "--idle-from and --idle-to name one")
    part_s = trace.duration_s * WINDOW / PARTS
    edges = np.append(np.arange(trace.start_s, trace.end_s, part_s), trace.end_s + part_s)
    means = _means(trace, edges)
    known = np.isfinite(means)
    span = float(means[known].max() - means[known].min())
    sections = np.lib.stride_tricks.sliding_window_view(means, PARTS)
    whole = np.flatnonzero(np.isfinite(sections).all(axis=1))
    if not len(whole):
        hint = "--idle-from and --idle-to name one"
        raise WirelabError(f"has no {PARTS * part_s:.3g} s without a gap to find an idle section in", where, hint)
    first = int(whole[np.argmin(sections[whole].mean(axis=1))])
    quietest = sections[first]
    varies = float(quietest.max() - quietest.min())
    if span > 0 and varies > STEADY * span:
        lasts, at = PARTS * part_s, edges[first] - trace.start_s
        what = (
            f"has no idle section: its quietest {lasts:.3g} s (from {at:.3g} s) vary by {1e3 * varies:.3g} mW, and the "
            f"whole trace by {1e3 * span:.3g} mW"
        )
        raise WirelabError(what, where, "record some idle time, or name it: --idle-from 0s --idle-to 2s")
    # The quietest of many is quieter than idle is: its neighbours belong to it as long as they are alike.
    begin, end = _alike(means, first, first + PARTS, float(quietest.max()) + varies)
    from_s, to_s = float(edges[begin]), float(min(edges[end], trace.end_s))
    return Idle(from_s, to_s, _level(trace.between(from_s, to_s)), found=True)


def _alike(means: Floats, begin: int, end: int, most: float) -> tuple[int, int]:
    """The section with all parts beside it that are no higher, up to a gap."""
    while begin > 0 and means[begin - 1] <= most:
        begin -= 1
    while end < len(means) and means[end] <= most:
        end += 1
    return begin, end


def _level(section: Trace) -> Range:
    """Over time, as samples may be uneven."""
    edges = np.linspace(section.start_s, section.end_s, PARTS + 1)
    edges[-1] += max(section.step_s, 1e-12)
    means = _means(section, edges)
    known = means[np.isfinite(means)]
    low, high = float(known.min()), float(known.max())
    known_s = section.known_s(section.start_s, section.end_s)
    mean = section.integral_j(section.start_s, section.end_s) / known_s if known_s else float(section.watts.mean())
    # Equal powers have means that differ in their last digit, and a section's ends count half.
    return Range(low, min(max(mean, low), high), high)


def _means(trace: Trace, edges: Floats) -> Floats:
    """The mean power between each two edges; not a number where nothing was sampled."""
    place = np.searchsorted(edges, trace.times_s, side="right") - 1
    count = np.bincount(place, minlength=len(edges) - 1)[: len(edges) - 1]
    total = np.bincount(place, weights=trace.watts, minlength=len(edges) - 1)[: len(edges) - 1]
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan), dtype=np.float64)
