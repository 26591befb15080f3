"""Other timers of the network's, where they put the radio to sleep at other times and so move packets: such runs have a
link of their own. Without a deadline they are not run, for delays rank nothing then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wirelab.answer.choose.evidence import Run
from wirelab.answer.choose.measured import OfChoice
from wirelab.answer.choose.timers import Rest, retimed, waking_s
from wirelab.cli.choose.levers import TO_KEEP_DEADLINE
from wirelab.cli.choose.work import OTHERWISE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirelab.cli.choose.work import Work
    from wirelab.metrics.energy_settings import Equipment

Moved = tuple[Run, str]
"""What was run under the usual timers, and the name of the radio's settings that move its packets."""


@dataclass
class _Retimed:
    """A link that puts the radio to sleep at other times, the settings that do so, and what is run over it in place of
    which runs.
    """

    table: Mapping[str, Any]
    radios: dict[str, Equipment] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)


def timed(work: Work) -> dict[Moved, OfChoice | None]:
    """What was measured with these timers, of choices that deliver; None of what was not run: the budget did not allow
    it, or the link's sleeps are not the radio's.
    """
    links, found = _links(work)
    skipped = list[int]()
    for link, one in links.items():
        work.links[link], work.radios[link] = one.table, one.radios
        members = [each for each in work.candidates if any(each.name == name for name, _, _ in one.runs)]
        nats = {each.name: [nat for name, _, nat in one.runs if name == each.name] for each in members}
        folder = f"timers-{link.replace(', ', '-').replace(' ', '-')}"
        runs = work.run(folder, members, [link], nats, _replicates(work, one))
        if runs is None or work.lacking:
            skipped.append(work.lacking_trials)
        for name, usual, nat in one.runs:
            measured = (runs or {}).get((name, link, nat))
            found |= {((name, usual, nat), radio): measured for radio in one.radios}
    if skipped:
        work.left_out("other timers of the radio that move packets", sum(skipped))
    return found


def _replicates(work: Work, one: _Retimed) -> int:
    """More of what may keep a deadline that no choice keeps: the nearest choice with one other setting."""
    evidence = work.evidence()
    nearest = evidence.nearest(evidence.typical)
    tried = (nearest, evidence.typical.link, evidence.typical.nat)
    alone = any(len(work.network.changed(radio)) == 1 for radio in one.radios)
    return TO_KEEP_DEADLINE if alone and tried in one.runs else OTHERWISE


def _links(work: Work) -> tuple[dict[str, _Retimed], dict[Moved, OfChoice | None]]:
    """By the name of a link of their own: settings of the radio that move packets of what was run. And those of which
    no link is known.
    """
    found, unknown = dict[str, _Retimed](), dict[Moved, OfChoice | None]()
    if work.asked.deadline_ns is None or not work.virtual:
        return found, unknown
    delivers, work.delays_known = work.evidence().delivering(), True
    for link, equipment in work.equipments.items():
        profile = work.profile(link)
        if "radio" not in profile.link:
            # No packet waits for it.
            continue
        usual, waking = Rest.of(equipment.radio), waking_s(profile.link)
        mine = [run for run in work.runs if run[1] == link and run in delivers]
        for radio, other in work.network.variants(equipment).items():
            rest = Rest.of(other.radio)
            moved = [run for run in mine if usual.moves(rest, work.runs[run].silences, waking)]
            if not moved:
                continue
            if (table := retimed(profile.link, usual, rest)) is None:
                unknown |= {(run, radio): None for run in moved}
                continue
            written = {"profile": work.written(link), "radio": table}
            # Several settings of the radio may put it to sleep alike, and then move the same runs.
            name = next((each for each, of in found.items() if of.table == written), f"{link}, {radio}")
            one = found.setdefault(name, _Retimed(written, runs=moved))
            one.radios[radio] = other
    return found, unknown
