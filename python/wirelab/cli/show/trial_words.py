"""What is said of a trial, in a line each: the link's timing error, what its endpoints used, its radio's energy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.schema.campaign import RESULT, read_result
from wirelab.schema.host import EndpointResult
from wirelab.units import format_duration, format_energy, with_bounds

if TYPE_CHECKING:
    from wirelab.schema.estimates import DeviceRecord
    from wirelab.schema.plan import Scenario


def link_words(folder: Path) -> Iterator[str]:
    """How late the emulator was for this trial's packets, by its histogram in result.json."""
    from wirelab.metrics.link import DIRECTIONS, lateness_quantile

    path = folder / RESULT
    if not path.exists():
        return
    for name, direction in zip(DIRECTIONS, read_result(path).link.directions, strict=False):
        p50, p99 = (lateness_quantile([direction.lateness], level) for level in (0.5, 0.99))
        if p50 is not None and p99 is not None:
            largest = direction.lateness.max_ns / 1e3
            yield f"emulator timing error, {name}link: p50 {p50 / 1e3:.3g}, p99 {p99 / 1e3:.3g}, max {largest:.3g} µs"


def resource_lines(folder: Path) -> Iterator[str]:
    """Of a trial's folder; nothing of one that has no result."""
    path = folder / RESULT
    if not path.exists():
        return
    for endpoint in read_result(path).endpoints:
        if parts := list(_parts(endpoint)):
            yield f"{endpoint.name} used {', '.join(parts)}"


def energy_words(campaign: Path, scenario: Scenario, trial: str, exchanges: Sequence[Mapping[str, Any]]) -> str | None:
    """Of the exchange if it is one alone, else of the trial; None without a radio, or without its packets."""
    import polars as pl

    from wirelab.metrics.dataset import TRIAL_TABLE
    from wirelab.metrics.energy_names import RADIO, TRIAL
    from wirelab.metrics.radio import ENERGY
    from wirelab.metrics.tables import read_table
    from wirelab.schema.estimates import radio_of, read_energy_model
    from wirelab.stats.energy import labelled

    path = campaign / ENERGY
    if not path.exists():
        return None
    what = RADIO if len(exchanges) == 1 else TRIAL
    if what == RADIO:
        row = exchanges[0]
    else:
        row = next(read_table(campaign / TRIAL_TABLE).filter(pl.col("trial") == trial).iter_rows(named=True), {})
    joules, model = _joules(row, what), read_energy_model(path)
    used = radio_of(model, scenario.link_name)
    if joules is None or used is None:
        return None
    radio = labelled(used["radio"]["name"], used["radio"])
    if what == RADIO:
        words = f"radio energy {joules} by {radio}, from an idle radio to the end of the tail"
        words = "; ".join([words, *_more_of_exchange(row, scenario, used["device"])])
    else:
        words = f"radio energy of the whole trial {joules} by {radio}{_parts_of_trial(row)}"
    why = model["no_day"].get(scenario.key)
    return words if why is None else f"{words}\nno battery life: {why}"


def _more_of_exchange(row: Mapping[str, Any], scenario: Scenario, device: DeviceRecord | None) -> Iterator[str]:
    """What else is known of an exchange."""
    from wirelab.metrics.energy_names import INTERVAL, MESSAGE, SETUP
    from wirelab.stats.energy import labelled

    gap_ns = scenario.workload.gap_ns
    if gap_ns is not None and (interval := _joules(row, INTERVAL)) is not None:
        yield f"with its interval of {format_duration(gap_ns)} {interval}"
    if (setup := _joules(row, SETUP)) is not None:
        yield f"its set-up {setup}"
    if device is not None and (whole := _joules(row, MESSAGE)) is not None:
        yield f"with the processor of {labelled(device['name'], device)} {whole}"


def _parts_of_trial(row: Mapping[str, Any]) -> str:
    """`: set-ups 1 J, messages 2 J, closing 0.1 J`."""
    from wirelab.metrics.energy_names import TRIAL_CLOSING, TRIAL_MESSAGES, TRIAL_SETUP

    named = {"set-ups": TRIAL_SETUP, "messages": TRIAL_MESSAGES, "closing": TRIAL_CLOSING}
    found = [f"{name} {joules}" for name, what in named.items() if (joules := _joules(row, what)) is not None]
    return f": {', '.join(found)}" if found else ""


def _parts(endpoint: EndpointResult) -> Iterator[str]:
    user, system, idle = endpoint.cpu_user_ns, endpoint.cpu_system_ns, endpoint.cpu_ready_ns
    before = "" if idle is None else f", of which {idle / 1e6:.3g} before the first exchange"
    if user is not None and system is not None:
        yield f"{(user + system) / 1e6:.3g} ms of CPU time ({user / 1e6:.3g} user, {system / 1e6:.3g} system{before})"
    if (peak := endpoint.peak_memory_bytes) is not None:
        yield f"{peak / 1e6:.3g} MB at its peak"
    if (shared := endpoint.proportional_memory_bytes) is not None:
        samples = endpoint.memory_samples
        yield f"{shared / 1e6:.3g} MB with shared pages divided (PSS, {samples} sample{'s' * (samples != 1)})"
    if (waited := endpoint.voluntary_switches) is not None:
        yield f"{waited} voluntary and {endpoint.involuntary_switches} involuntary context switches"
    if (instructions := endpoint.instructions) is not None:
        yield f"{instructions / 1e6:.3g} million instructions"


def _joules(row: Mapping[str, Any], what: str) -> str | None:
    """`2 mJ [1 mJ, 4 mJ]`; None where it is not known."""
    from wirelab.metrics.energy_names import metric_column

    typical, low, high = (row.get(metric_column(what, bound)) for bound in ("typical", "low", "high"))
    if typical is None or low is None or high is None:
        return None
    return with_bounds(*(format_energy(each) for each in (typical, low, high)))
