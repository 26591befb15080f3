"""Other timers of the network's, where they put the radio to sleep at other times and so move packets: such runs have a
link of their own. Without a deadline they are not run, for delays rank nothing then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wirelab.answer.choose.evidence import Run
from wirelab.answer.choose.measured import OfChoice
from wirelab.answer.choose.timers import Rest, retimed, waking_s
from wirelab.cli.choose.work import OTHERWISE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirelab.cli.choose.work import Work
    from wirelab.metrics.energy_settings import Equipment

Moved = tuple[Run, str]
"""What was run under the usual timers, and the name of the radio's settings that move its packets."""


@dataclass
class _Retimed:
    """A link that puts the radio to sleep at other times, the settings that do so, and what is run over it."""

    table: Mapping[str, Any]
    radios: dict[str, Equipment] = field(default_factory=dict)
    runs: set[Run] = field(default_factory=set)


def timed(work: Work) -> dict[Moved, OfChoice | None]:
    """What was measured with these timers, of choices that deliver; None of what the budget did not allow."""
    found: dict[Moved, OfChoice | None] = {}
    skipped = 0
    for link, retimed_link in _links(work).items():
        work.links[link], work.radios[link] = retimed_link.table, retimed_link.radios
        members = [each for each in work.candidates if any(each.name == name for name, _, _ in retimed_link.runs)]
        nats = {each.name: [nat for name, _, nat in retimed_link.runs if name == each.name] for each in members}
        runs = work.run(f"timers-{link.replace(', ', '-').replace(' ', '-')}", members, [link], nats, OTHERWISE)
        if runs is None or work.lacking:
            skipped += OTHERWISE * len(retimed_link.runs)
        for name, usual, nat in retimed_link.runs:
            measured = (runs or {}).get((name, link, nat))
            found |= {((name, usual, nat), radio): measured for radio in retimed_link.radios}
    if skipped:
        work.left_out("other timers of the radio that move packets", skipped)
    return found


def _links(work: Work) -> dict[str, _Retimed]:
    """By the name of a link of their own: settings of the radio that move packets of what was run."""
    found: dict[str, _Retimed] = {}
    if work.asked.deadline_ns is None or not work.virtual:
        return found
    delivers, work.delays_known = work.evidence().delivering(), True
    for link, equipment in work.equipments.items():
        profile = work.profile(link)
        usual, waking = Rest.of(equipment.radio), waking_s(profile.link)
        for radio, other in work.network.variants(equipment).items():
            rest = Rest.of(other.radio)
            moved = {
                run for run in delivers
                if run[1] == link and run in work.runs and usual.moves(rest, work.runs[run].silences, waking)
            }  # fmt: skip
            if not moved:
                continue
            if (table := retimed(profile.link, usual, rest)) is None:
                work.delays_known = False
                continue
            written = {"profile": work.written(link), "radio": table}
            # Several settings of the radio may put it to sleep alike.
            name = next((each for each, of in found.items() if of.table == written), f"{link}, {radio}")
            one = found.setdefault(name, _Retimed(written))
            one.radios[radio] = other
            one.runs |= moved
    return found
