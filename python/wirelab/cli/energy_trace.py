"""What a measured trace of power says, for people, as JSON and as CSV."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wirelab.errors import Where, WirelabError
from wirelab.units import format_duration, format_energy, format_power

if TYPE_CHECKING:
    from wirelab.energy.trace import Idle, Trace, Work

MUCH_MISSING = 0.01
"""Share of a time without samples above which its energy is a lower bound that must be said."""


@dataclass(frozen=True)
class Sections:
    """Parts of a trace in nanoseconds since its beginning, as far as they were given."""

    idle_from: int | None = None
    idle_to: int | None = None
    work_from: int | None = None
    work_to: int | None = None


def tell_trace(path: Path, voltage_v: float | None, sections: Sections, format_: str) -> None:
    """Print the work of a trace above idle."""
    from wirelab.energy.trace import read_trace, work

    trace = read_trace(path, voltage_v)
    idle = idle_of(trace, sections, path)
    from_s, to_s = _ends(trace, sections, path)
    done = work(trace, idle, from_s, to_s)
    notes = list(remarks(trace, idle, done))
    if format_ == "json":
        click.echo(json.dumps(as_dict(trace, idle, done, path) | {"notes": notes}, ensure_ascii=False))
        return
    if format_ == "csv":
        above = done.above_idle_j
        click.echo("from_s,to_s,total_j,above_idle_low_j,above_idle_j,above_idle_high_j,missing_s")
        cells = (from_s, to_s, done.total_j, above.low, above.typical, above.high, done.missing_s)
        click.echo(",".join(f"{cell:.9g}" for cell in cells))
    else:
        click.echo("\n".join(lines(trace, idle, path)))
        click.echo(
            f"work    {done.above_idle_j.said(format_energy)} above idle, of {format_energy(done.total_j)} in all, "
            f"in {format_duration(done.duration_s * 1e9)}"
        )
    for words in notes:
        click.echo(words, err=True)


def idle_of(trace: Trace, sections: Sections, path: Path) -> Idle:
    """The idle section that was named, or is found."""
    from wirelab.energy.trace import find_idle, idle_between

    where = Where(str(path))
    if sections.idle_from is None and sections.idle_to is None:
        return find_idle(trace, where)
    from_s = trace.start_s + (sections.idle_from or 0) / 1e9
    to_s = trace.end_s if sections.idle_to is None else trace.start_s + sections.idle_to / 1e9
    return idle_between(trace, from_s, to_s, where)


def lines(trace: Trace, idle: Idle, path: Path) -> list[str]:
    """The trace and its idle section."""
    begin, end = (format_duration((each - trace.start_s) * 1e9) for each in (idle.from_s, idle.to_s))
    how = "found; --idle-from and --idle-to name another" if idle.found else "as given"
    return [
        f"{path.name}: {len(trace.times_s):,} samples, one every {format_duration(trace.step_s * 1e9)}, in "
        f"{format_duration(trace.duration_s * 1e9)}",
        f"idle    {idle.watts.said(format_power)} from {begin} to {end}, {how}",
    ]


def remarks(trace: Trace, idle: Idle, done: Work | None) -> list[str]:
    """What is to be known of the numbers."""
    said = []
    if trace.gaps:
        missing = sum(end - start for start, end in trace.gaps)
        said.append(
            f"{len(trace.gaps)} gap{'s' * (len(trace.gaps) != 1)} without samples, {format_duration(missing * 1e9)} in "
            "all: nothing is counted there, so the energy is a lower bound"
        )
    if done is not None and done.missing_s > MUCH_MISSING * done.duration_s:
        said.append(f"not sampled: {format_duration(done.missing_s * 1e9)} of {format_duration(done.duration_s * 1e9)}")
    if done is not None and done.above_idle_j.low <= 0 <= done.above_idle_j.high:
        said.append("no work stands out: as far as idle power varies, there may have been none")
    if done is not None and done.above_idle_j.high < 0:
        said.append("the idle section draws more than the rest: is it laid on the work? --idle-from and --idle-to")
    if idle.watts.low < 0:
        said.append("the idle section has power below 0: the meter's zero is off, or its sign turned round")
    said.append("The range is that of the idle power, by ten parts of its section; the meter's own error is not in it.")
    return said


def as_dict(trace: Trace, idle: Idle, done: Work, path: Path) -> dict[str, Any]:
    """Seconds since the trace's beginning, watts and joules."""
    start = trace.start_s
    return {
        "trace": str(path),
        "samples": len(trace.times_s),
        "step_s": trace.step_s,
        "start_s": start if trace.since_1970 else None,
        "gaps": [[begin - start, end - start] for begin, end in trace.gaps],
        "idle": {
            "from_s": idle.from_s - start, "to_s": idle.to_s - start, "found": idle.found,
            "watts": asdict(idle.watts),
        },
        "work": {
            "from_s": done.from_s - start, "to_s": done.to_s - start, "total_j": done.total_j,
            "above_idle_j": asdict(done.above_idle_j), "missing_s": done.missing_s,
        },
    }  # fmt: skip


def _ends(trace: Trace, sections: Sections, path: Path) -> tuple[float, float]:
    from_s = trace.start_s + (sections.work_from or 0) / 1e9
    to_s = trace.end_s if sections.work_to is None else trace.start_s + sections.work_to / 1e9
    if not trace.start_s <= from_s < to_s <= trace.end_s:
        begin, end = from_s - trace.start_s, to_s - trace.start_s
        what = f"there is no work from {begin:g} s to {end:g} s"
        raise WirelabError(what, Where(str(path)), f"it lasts from 0 s to {trace.duration_s:g} s; --from 1s --to 2s")
    return from_s, to_s
