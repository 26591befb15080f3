"""Outages of links and of the server whose end no message of the experiment would see, or that its workload cannot
survive.
"""

from __future__ import annotations

from collections.abc import Callable

from wirelab.errors import Where, WirelabError
from wirelab.experiment.file.positions import Path
from wirelab.experiment.file.source import Source
from wirelab.experiment.grid.scenario import Scenario
from wirelab.schema import IdleStart, Outage, PageLoads, PubSubWorkload, RestartPlan, WorkloadSpec
from wirelab.schema.sends_for import sends_for_ns
from wirelab.units import format_duration

_RESTART: Path = ("endpoints", "server", "restart")


def check_outages(source: Source, scenario: Scenario, origin: Callable[[str, Path], Path]) -> None:
    """Raise `WirelabError` for an outage whose first time begins or ends after the experiment, and for a restart of a
    server that publishes.
    """
    workload = scenario.workload
    sends_ns = sends_for_ns(workload)
    if sends_ns is not None:
        for name, outage in _outages(scenario):
            own: Path = ("links", name, "outage")
            table = origin("link.outage", own if own in source.index else ("link", "outage"))
            starts = source.where((*table, "start"))
            _check_times(workload, outage.start_ns, outage.duration_ns, starts, source.where(table))
    if scenario.restart is not None:
        _check_restart(source, workload, scenario.restart)


def _check_restart(source: Source, workload: WorkloadSpec, restart: RestartPlan) -> None:
    where = source.where(_RESTART)
    if isinstance(workload, PubSubWorkload):
        raise WirelabError("a server that restarts begins publishing anew", where, hint='kind = "telemetry"')
    if isinstance(getattr(workload, "arrival", None), IdleStart):
        what = "an idle start puts the clock of the link forward, and the server restarts by this machine's"
        raise WirelabError(what, where, hint='arrival = "periodic" and clock = "virtual"')
    if isinstance(workload, PageLoads):
        what = "nothing says when the experiment ends (page loads follow each other)"
        raise WirelabError(what, where, hint='kind = "telemetry"')
    if sends_for_ns(workload) is None:
        what = "nothing says when the experiment ends (arrival is closed)"
        raise WirelabError(what, where, hint='[workload] interval = "1 min"')
    starts, lasts = (source.where((*_RESTART, key)) for key in ("after", "down"))
    _check_times(workload, restart.after_ns, restart.down_ns, starts, lasts)


def _check_times(workload: WorkloadSpec, start_ns: int, lasts_ns: int, starts: Where, lasts: Where) -> None:
    """The first outage must end while messages come. Later ones may be cut off: they repeat what the first shows."""
    sends_ns = sends_for_ns(workload)
    assert sends_ns is not None, "the caller knows when the experiment ends"
    sends = f"the experiment sends for {format_duration(sends_ns)}"
    more = f"more workload.{'messages' if isinstance(workload, PubSubWorkload) else 'exchanges'}"
    if lasts_ns >= sends_ns:
        what = f"lasts {format_duration(lasts_ns)}, and {sends}"
        raise WirelabError(what, lasts, hint=f"{more}, or a shorter outage")
    if start_ns >= sends_ns:
        what = f"begins after {format_duration(start_ns)}, and {sends}"
        raise WirelabError(what, starts, hint=f"{more}, or an earlier outage")
    if start_ns + lasts_ns >= sends_ns:
        what = f"ends after {format_duration(start_ns + lasts_ns)}, and {sends}, so no recovery is seen"
        raise WirelabError(what, lasts, hint=f"{more}, or a shorter outage")


def _outages(scenario: Scenario) -> list[tuple[str, Outage]]:
    """Those of each link, with its name."""
    names = [scenario.link_name, *(each.name for each in scenario.topology if each.link is not None)]
    return [
        (name, stage)
        for name, link in zip(names, scenario.links, strict=True)
        for stage in (*link.uplink, *link.downlink)
        if isinstance(stage, Outage)
    ]
