"""A measured trace next to a campaign's trials, printed for people, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wirelab.cli.campaigns import existing
from wirelab.cli.text import columns
from wirelab.errors import Where, WirelabError
from wirelab.schema.plan import EnergyRecord
from wirelab.units import format_energy

if TYPE_CHECKING:
    from wirelab.stats.estimate.model import Estimate
    from wirelab_energy.trace import Trace
    from wirelab_energy.trace.against import Compared
    from wirelab_energy.trace.answer import Sections

WHAT_IS_IN = (
    "The measurement has the whole device in it, and the model its radio alone: their difference is also the "
    "processor's."
)


def print_trials(
    path: Path,
    voltage_v: float | None,
    sections: Sections,
    beside: tuple[Path, str | None, EnergyRecord | None],
    format_: str,
) -> None:
    """What was measured during each trial that lies within the trace, next to what the model says."""
    from wirelab.metrics import trace as trials_of
    from wirelab_energy.trace import read_trace
    from wirelab_energy.trace.answer import idle_of, trace_lines, trace_notes

    campaign, begins_at, record = beside
    folder = existing(campaign)
    trace = _on_the_clock(read_trace(path, voltage_v), begins_at, path)
    idle = idle_of(trace, sections, path)
    settings = trials_of.settings_of(folder, record)
    times = trials_of.trial_times(folder)
    within = trials_of.within(times, trace, folder, path)
    radios = trials_of.radios_of(folder, settings, within)
    used = {radio.name: radio for radio in radios.values()}.values()
    compared = list(trials_of.compared(folder, trace, idle, radios, within))
    ratio = _pooled(compared, trace)
    notes = [WHAT_IS_IN, *trace_notes(trace, idle, None)]
    notes += [
        f"unvalidated: {radio.name} reproduces no published figure of traffic that it was not set from"
        for radio in used
        if not radio.validated
    ]
    if left_out := len(times) - len(within):
        notes.append(f"{left_out} of {len(times)} trials did not run wholly within the trace, and are left out")
    match format_:
        case "json":
            rows = [_row(each) | {"radio": radios[each.trial].name} for each in compared]
            pooled = None if ratio is None else ratio.record()
            click.echo(json.dumps({"trials": rows, "ratio": pooled, "notes": notes}))
            return
        case "csv":
            click.echo(_csv(compared), nl=False)
        case _:
            labels = ", ".join(radio.label for radio in used)
            click.echo("\n".join([*trace_lines(trace, idle, path), f"radio   {labels}", "", _table(compared)]))
            click.echo(f"\n{_together(ratio)}")
    for words in notes:
        click.echo(words, err=True)


def _on_the_clock(trace: Trace, begins_at: str | None, path: Path) -> Trace:
    if begins_at is not None:
        try:
            begins = datetime.fromisoformat(begins_at)
        except ValueError:
            raise WirelabError(f"'{begins_at}' is not a time", "--begins-at", "2026-03-01T12:00:00.5Z") from None
        begins = begins if begins.tzinfo is not None else begins.replace(tzinfo=UTC)
        return trace.shifted(begins.timestamp() - trace.start_s, since_1970=True)
    if not trace.since_1970:
        what = "has no clock's times, so that no trial can be found in it"
        raise WirelabError(what, Where(str(path)), "--begins-at 2026-03-01T12:00:00.5Z says when it began (UTC)")
    return trace


def _pooled(compared: Sequence[Compared], trace: Trace) -> Estimate | None:
    """The sum of the model over the sum of the measurement, with a bootstrap interval over trials."""
    from wirelab.stats.estimate.pooled_ratio import pooled_ratio

    pairs = [(each.model_j.typical, each.measured.above_idle_j.typical) for each in compared if each.ratio is not None]
    return pooled_ratio(pairs, seed=len(trace.times_s)) if pairs else None


def _table(compared: Sequence[Compared]) -> str:
    from wirelab_energy.trace.answer import MUCH_MISSING

    head = ("trial", "measured [range]", "model [range]", "model / measured", "")
    rows = [
        (
            each.trial,
            each.measured.above_idle_j.said(format_energy),
            each.model_j.said(format_energy),
            "–" if each.ratio is None else f"{each.ratio:.3g}",
            "not all of it sampled" if each.measured.missing_s > MUCH_MISSING * each.measured.duration_s else "",
        )
        for each in compared
    ]
    return columns([head, *rows], right=(3,))


def _together(ratio: Estimate | None) -> str:
    if ratio is None or ratio.point is None:
        return "together: nothing measured stands out of idle, so there is no ratio"
    interval = f" [{ratio.low:.3g}, {ratio.high:.3g}]" if ratio.low is not None and ratio.high is not None else ""
    trials = f"{ratio.n} trial{'s' * (ratio.n != 1)}"
    return f"together: model / measured {ratio.point:.3g}{interval}, {ratio.method}, {trials}"


def _row(each: Compared) -> dict[str, Any]:
    return {
        "trial": each.trial, "start_s": each.measured.from_s, "end_s": each.measured.to_s,
        "measured_j": asdict(each.measured.above_idle_j), "missing_s": each.measured.missing_s,
        "model_j": asdict(each.model_j), "ratio": each.ratio,
    }  # fmt: skip


def _csv(compared: Sequence[Compared]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    bounds = ("low", "typical", "high")
    names = [f"{what}_{bound}_j" for what in ("measured", "model") for bound in bounds]
    writer.writerow(["trial", "start_s", "end_s", *names, "missing_s", "ratio"])
    for each in compared:
        row = _row(each)
        joules = [f"{row[f'{what}_j'][bound]:.9g}" for what in ("measured", "model") for bound in bounds]
        ratio = "" if each.ratio is None else f"{each.ratio:.6g}"
        writer.writerow([each.trial, f"{row['start_s']:.6f}", f"{row['end_s']:.6f}", *joules, row["missing_s"], ratio])
    return text.getvalue()
