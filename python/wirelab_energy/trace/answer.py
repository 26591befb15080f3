"""What a measured trace says of the work in it: for people, as JSON and as CSV. Prints nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.trace.file import read_trace
from wirelab_energy.trace.idle import Idle, find_idle, idle_between
from wirelab_energy.trace.trace import Trace
from wirelab_energy.trace.work import Work, work
from wirelab_energy.units import format_duration, format_energy, format_power

MUCH_MISSING = 0.01
"""Share of a time without samples above which its energy is a lower bound that must be said."""


@dataclass(frozen=True)
class Sections:
    """Parts of a trace in nanoseconds since its beginning, as far as they were given."""

    idle_from: int | None = None
    idle_to: int | None = None
    work_from: int | None = None
    work_to: int | None = None


@dataclass(frozen=True)
class TraceAnswer:
    """The work of a trace above idle."""

    path: Path
    trace: Trace
    idle: Idle
    done: Work

    @classmethod
    def of(cls, path: Path, voltage_v: float | None, sections: Sections) -> TraceAnswer:
        """Raises `WirelabError` if it is not a trace, has no idle section, or the work is not within it."""
        trace = read_trace(path, voltage_v)
        idle = idle_of(trace, sections, path)
        return cls(path, trace, idle, work(trace, idle, *_ends(trace, sections, path)))

    def lines(self) -> list[str]:
        """For people."""
        done = self.done
        words = (
            f"work    {done.above_idle_j.said(format_energy)} above idle, of {format_energy(done.total_j)} in all, "
            f"in {format_duration(done.duration_s * 1e9)}"
        )
        return [*trace_lines(self.trace, self.idle, self.path), words]

    def notes(self) -> list[str]:
        """What is to be known of the numbers."""
        return trace_notes(self.trace, self.idle, self.done)

    def as_csv(self) -> str:
        """A head and one row."""
        done, above = self.done, self.done.above_idle_j
        cells = (done.from_s, done.to_s, done.total_j, above.low, above.typical, above.high, done.missing_s)
        head = "from_s,to_s,total_j,above_idle_low_j,above_idle_j,above_idle_high_j,missing_s"
        return f"{head}\n{','.join(f'{cell:.9g}' for cell in cells)}"

    def as_dict(self) -> dict[str, Any]:
        """Seconds since the trace's beginning, watts and joules."""
        trace, idle, done, start = self.trace, self.idle, self.done, self.trace.start_s
        return {
            "trace": str(self.path),
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
            "notes": self.notes(),
        }  # fmt: skip


def idle_of(trace: Trace, sections: Sections, path: Path) -> Idle:
    """The idle section that was named, or is found."""
    where = Where(str(path))
    if sections.idle_from is None and sections.idle_to is None:
        return find_idle(trace, where)
    from_s = trace.start_s + (sections.idle_from or 0) / 1e9
    to_s = trace.end_s if sections.idle_to is None else trace.start_s + sections.idle_to / 1e9
    return idle_between(trace, from_s, to_s, where)


def trace_lines(trace: Trace, idle: Idle, path: Path) -> list[str]:
    """The trace and its idle section."""
    begin, end = (format_duration((each - trace.start_s) * 1e9) for each in (idle.from_s, idle.to_s))
    how = "found; --idle-from and --idle-to name another" if idle.found else "as given"
    return [
        f"{path.name}: {len(trace.times_s):,} samples, one every {format_duration(trace.step_s * 1e9)}, in "
        f"{format_duration(trace.duration_s * 1e9)}",
        f"idle    {idle.watts.said(format_power)} from {begin} to {end}, {how}",
    ]


def trace_notes(trace: Trace, idle: Idle, done: Work | None) -> list[str]:
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


def _ends(trace: Trace, sections: Sections, path: Path) -> tuple[float, float]:
    from_s = trace.start_s + (sections.work_from or 0) / 1e9
    to_s = trace.end_s if sections.work_to is None else trace.start_s + sections.work_to / 1e9
    if not trace.start_s <= from_s < to_s <= trace.end_s:
        begin, end = from_s - trace.start_s, to_s - trace.start_s
        what = f"there is no work from {begin:g} s to {end:g} s"
        raise WirelabError(what, Where(str(path)), f"it lasts from 0 s to {trace.duration_s:g} s; --from 1s --to 2s")
    return from_s, to_s
