"""A measured trace beside a campaign's trials: model against measurement, trial by trial and together."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wirelab.cli.campaigns import existing
from wirelab.cli.table import columns
from wirelab.errors import Where, WirelabError
from wirelab.launcher import launched
from wirelab.schema.campaign import RESULT, TRIALS, read_result
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


def tell_trials(
    path: Path,
    voltage_v: float | None,
    sections: Sections,
    beside: tuple[Path, str | None, EnergyRecord | None],
    format_: str,
) -> None:
    """Print what was measured during each trial that lies within the trace, beside the model's."""
    from wirelab_energy.trace import read_trace
    from wirelab_energy.trace.answer import idle_of, trace_lines, trace_notes

    campaign, begins_at, record = beside
    folder = existing(campaign)
    trace = _on_the_clock(read_trace(path, voltage_v), begins_at, path)
    idle = idle_of(trace, sections, path)
    settings = _settings(folder, record)
    trials = dict(_times(folder))
    within = {trial: time for trial, time in trials.items() if trace.start_s <= time[0] and time[1] <= trace.end_s}
    if not within:
        raise WirelabError(
            f"no trial of {folder} ran while the trace was taken ({_said(trace.start_s)} to {_said(trace.end_s)})",
            Where(str(path)),
            f"its {len(trials)} trials ran from {_said(min(t for t, _, _ in trials.values()))}"
            if trials
            else "the campaign has no finished trial",
        )
    _assert_one_after_another(within, folder)
    compared = list(_compared(folder, trace, idle, settings, within))
    ratio = _pooled(compared, trace)
    notes = [WHAT_IS_IN, *trace_notes(trace, idle, None)]
    if not settings.radio.validated:
        notes.append(
            f"unvalidated: {settings.radio.name} reproduces no published figure of traffic that it was not set from"
        )
    if left_out := len(trials) - len(within):
        notes.append(f"{left_out} of {len(trials)} trials did not run wholly within the trace, and are left out")
    match format_:
        case "json":
            rows = [_row(each) for each in compared]
            pooled = None if ratio is None else ratio.record()
            click.echo(json.dumps({"radio": settings.radio.name, "trials": rows, "ratio": pooled, "notes": notes}))
            return
        case "csv":
            click.echo(_csv(compared), nl=False)
        case _:
            click.echo(
                "\n".join([*trace_lines(trace, idle, path), f"radio   {settings.radio.label}", "", _table(compared)])
            )
            click.echo(f"\n{_together(ratio)}")
    for words in notes:
        click.echo(words, err=True)


def _assert_one_after_another(within: Mapping[str, tuple[float, float, int]], folder: Path) -> None:
    """One meter cannot tell what runs side by side."""
    for (first, (_, end_s, _)), (second, (from_s, _, _)) in pairwise(sorted(within.items(), key=lambda each: each[1])):
        if from_s < end_s:
            what = f"{first} and {second} of {folder} ran side by side: what was measured is of both"
            raise WirelabError(what, hint=f"measure one trial at a time: {launched('run FILE --jobs 1')}")


def _on_the_clock(trace: Trace, begins_at: str | None, path: Path) -> Trace:
    if begins_at is not None:
        try:
            begins = datetime.fromisoformat(begins_at)
        except ValueError:
            raise WirelabError(f"'{begins_at}' is no time", "--begins-at", "2026-03-01T12:00:00.5Z") from None
        begins = begins if begins.tzinfo is not None else begins.replace(tzinfo=UTC)
        return trace.shifted(begins.timestamp() - trace.start_s, since_1970=True)
    if not trace.since_1970:
        what = "has no clock's times, so that no trial can be found in it"
        raise WirelabError(what, Where(str(path)), "--begins-at 2026-03-01T12:00:00.5Z says when it began (UTC)")
    return trace


def _settings(folder: Path, record: EnergyRecord | None) -> Any:
    from wirelab.metrics.energy_settings import Settings
    from wirelab.schema.campaign import read_plan

    if record is not None:
        return Settings.of(record)
    planned = read_plan(folder).experiment.energy
    if planned is None:
        raise WirelabError("the campaign names no radio", hint=f"--radio NAME ({launched('list radios')})")
    return Settings.of_campaign(planned, folder)


def _times(folder: Path) -> Iterator[tuple[str, tuple[float, float, int]]]:
    """Of each trial that is done: its begin and end by the clock, and what its monotonic time is behind that."""
    from wirelab.metrics.dataset import done_trials

    for trial in done_trials(folder):
        result = read_result(folder / TRIALS / trial / RESULT)
        ahead_ns = result.start_realtime_ns - result.start_ns
        yield trial, ((result.start_ns + ahead_ns) / 1e9, (result.end_ns + ahead_ns) / 1e9, ahead_ns)


def _compared(
    folder: Path, trace: Trace, idle: Any, settings: Any, within: Mapping[str, tuple[float, float, int]]
) -> Iterator[Compared]:
    from wirelab.metrics.radio import read_packets
    from wirelab_energy.trace import work
    from wirelab_energy.trace.against import Compared, above_rest

    for trial, packets in zip(within, read_packets(folder, list(within)), strict=True):
        from_s, to_s, ahead_ns = within[trial]
        shifted = [replace(packet, time_ns=packet.time_ns + ahead_ns) for packet, _ in packets]
        model = above_rest(settings.radio, shifted, round(from_s * 1e9), round(to_s * 1e9))
        yield Compared(trial, work(trace, idle, from_s, to_s), model)


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


def _said(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
