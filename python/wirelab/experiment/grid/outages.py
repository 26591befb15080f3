"""Outages of links and of the server that no message of the experiment would meet."""

from __future__ import annotations

from collections.abc import Callable

from wirelab.errors import WirelabError
from wirelab.experiment.file.positions import Path
from wirelab.experiment.file.source import Source
from wirelab.experiment.grid.scenario import Scenario
from wirelab.schema import IdleStart, Outage
from wirelab.schema.sends_for import sends_for_ns
from wirelab.units import format_duration


def check_outages(source: Source, scenario: Scenario, origin: Callable[[str, Path], Path]) -> None:
    """Raise `WirelabError` for an outage that is longer than the experiment, or begins after it."""
    sends_ns = sends_for_ns(scenario.workload)
    if sends_ns is not None:
        for name, outage in _outages(scenario):
            _check_outage(source, name, outage, sends_ns, origin)
    restart = scenario.restart
    if restart is None:
        return
    where = source.where(("endpoints", "server", "restart"))
    if isinstance(getattr(scenario.workload, "arrival", None), IdleStart):
        what = "an idle start puts the clock of the link forward, and the server restarts by this machine's"
        raise WirelabError(what, where, hint='arrival = "periodic" and clock = "virtual"')
    if sends_ns is None:
        what = "nothing says when the experiment ends (arrival is closed)"
        raise WirelabError(what, where, hint='[workload] interval = "1 min"')
    if restart.after_ns >= sends_ns:
        what = f"begins after {format_duration(restart.after_ns)}, and {_sends(sends_ns)}"
        raise WirelabError(what, source.where(("endpoints", "server", "restart", "after")))
    if restart.down_ns >= sends_ns:
        what = f"lasts {format_duration(restart.down_ns)}, and {_sends(sends_ns)}"
        raise WirelabError(what, source.where(("endpoints", "server", "restart", "down")))


def _outages(scenario: Scenario) -> list[tuple[str, Outage]]:
    """Those of each link, with its name."""
    names = [scenario.link_name, *(each.name for each in scenario.topology if each.link is not None)]
    return [
        (name, stage)
        for name, link in zip(names, scenario.links, strict=True)
        for stage in (*link.uplink, *link.downlink)
        if isinstance(stage, Outage)
    ]


def _check_outage(
    source: Source, name: str, outage: Outage, sends_ns: int, origin: Callable[[str, Path], Path]
) -> None:
    own: Path = ("links", name, "outage")
    table = origin("link.outage", own if own in source.index else ("link", "outage"))
    if outage.duration_ns >= sends_ns:
        what = f"lasts {format_duration(outage.duration_ns)}, and {_sends(sends_ns)}"
        raise WirelabError(what, source.where(table))
    if outage.start_ns >= sends_ns:
        what = f"begins after {format_duration(outage.start_ns)}, and {_sends(sends_ns)}"
        raise WirelabError(what, source.where((*table, "start")))


def _sends(sends_ns: int) -> str:
    return f"the experiment sends for {format_duration(sends_ns)}"
