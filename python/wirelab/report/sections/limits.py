"""Limitations: notes of the analysis, and assumptions that follow from the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from wirelab.report.blocks import Items, Section
from wirelab.report.campaign import Campaign
from wirelab.report.model import Scenario, level_words
from wirelab.report.protocols import by_proxy, is_secure
from wirelab.schema import Clock, LinkSpec, link_key
from wirelab.schema.back_to_back import back_to_back
from wirelab.schema.connections import loss_lines
from wirelab.schema.short_timer import short_timer_lines

ONE_VALUE = (
    "Intervals of means are descriptive where each trial has one exchange: of 10 trials with losses, those at 95 % "
    "covered 92 % in simulations."
)
"""What intervals do not cover (`docs/concepts/coverage.md`)."""


def section(campaign: Campaign) -> Section:
    """A sentence for each limitation."""
    return Section("limits", "Limits", [Items(list(dict.fromkeys(_limits(campaign))))])


def _limits(campaign: Campaign) -> Iterator[str]:
    yield from campaign.estimates["notes"]
    doi = campaign.experiment.doi
    if doi or campaign.claims:
        if chosen := _unstated(campaign):
            publication = f"publication (doi {doi})" if doi else "publication"
            yield f"Chosen here, since the {publication} does not state it: {chosen}."
        yield "The publication's protocols, sizes and channels are replicated, not its programs and hardware."
    yield from _loss(campaign)
    yield from _retransmissions(campaign)
    yield from _implementations(campaign)
    if proxied := [f"{s.label} ({by_proxy(s.origin)})" for s in campaign.series if s.origin is not None]:
        yield f"A difference to another protocol may come from the proxy and its protocol: {', '.join(proxied)}."
    yield from _clock(campaign)
    if (missed := back_to_back(campaign.plan)) is not None:
        yield f"{missed.what[:1].upper()}{missed.what[1:]}. For messages minutes apart: {missed.hint}."
    yield (
        f"The link is emulated between processes on one machine: {_radios(campaign)}, {_air(campaign)}, no constrained "
        "device. Client and server share its processors."
    )
    if any(_one_value(scenario) for scenario in campaign.scenarios):
        yield ONE_VALUE
    if any(len(campaign.trials.get(scenario.key, [])) == 1 for scenario in campaign.scenarios):
        yield "A scenario has a single trial, so its intervals do not include the spread between trials."


def _one_value(scenario: Scenario) -> bool:
    counts = scenario.outcomes
    return counts is not None and 0 < counts["exchanges"] <= counts["trials"]


def _clock(campaign: Campaign) -> Iterator[str]:
    """What simulated time means, where it was used."""
    if campaign.plan.clock is Clock.LIVE:
        return
    record = campaign.record
    kernel = record.kernel if record is not None else None
    on = f"Linux {kernel.version}, {kernel.hertz} Hz, one CPU" if kernel is not None else "Linux"
    yield (
        f"Real protocol stacks in simulated time, CPU cost zero: they run on {on}, whose clock jumps over idle time. "
        "Computing takes no time, so applications answer at once, and an acknowledgement rides on the answer."
    )
    yield "CPU time, memory, load and saturation cannot be measured in simulated time."


def _loss(campaign: Campaign) -> Iterator[str]:
    used = ((s.series.protocol, s.plan.link_name, s.plan.connections) for s in campaign.scenarios)
    if lines := list(loss_lines(used)):
        yield "Random loss, not the link's rate, limits these connections, as computed before the run:"
        yield from lines


def _retransmissions(campaign: Campaign) -> Iterator[str]:
    measured = (each for each in campaign.scenarios if each.key not in campaign.unsupported)
    timers = ((each.series.protocol, each.plan.link_name, each.plan.short_timer) for each in measured)
    if lines := list(short_timer_lines(timers)):
        yield "First retransmissions come before an answer can, as computed before the run:"
        yield from lines


def _radios(campaign: Campaign) -> str:
    sleeping = _links(campaign, lambda link: link.radio is not None)
    return "no radio" if sleeping is None else f"a model of radio sleep and wake-up{sleeping}"


def _air(campaign: Campaign) -> str:
    known = campaign.plan.link_facts
    shared = _links(
        campaign, lambda link: link_key(link) in known and any(each.contends for each in known[link_key(link)].shared)
    )
    if shared is None:
        return "no contention on a medium"
    return f"a model of frames and contention on the shared medium{shared}"


def _links(campaign: Campaign, has: Callable[[LinkSpec], bool]) -> str | None:
    """The links that have it: empty if all do, None if none does."""
    names = {s.plan.link_name: has(s.plan.link) for s in campaign.scenarios}
    some = [name for name, true in names.items() if true]
    if not some:
        return None
    return "" if len(some) == len(names) else f" ({', '.join(some)})"


def _implementations(campaign: Campaign) -> Iterator[str]:
    kinds: dict[str, set[str]] = {}
    for series in campaign.series:
        kinds.setdefault(series.protocol, set()).add(series.implementation)
    single = [protocol for protocol, implementations in kinds.items() if len(implementations) == 1]
    if len(single) == len(kinds) and {i for group in kinds.values() for i in group} == {"builtin"}:
        yield (
            "Only the built-in implementation of each protocol: a difference between two protocols may come from their "
            "libraries."
        )
    elif single:
        yield f"Only one implementation of {', '.join(single)}: a difference to others may come from libraries."
    secure = {protocol: is_secure(protocol) for protocol in kinds}
    if True in secure.values() and False in secure.values():
        plain = [protocol for protocol, value in secure.items() if value is False]
        yield f"Not encrypted: {', '.join(plain)}. Comparing them with the others compares security too."


def _unstated(campaign: Campaign) -> str:
    judged = {path for claim in campaign.claims for choice in claim["choices"] for path in choice["levels"]}
    return ", ".join(level_words(*pair) for pair in campaign.constant_levels if pair[0] in judged)
