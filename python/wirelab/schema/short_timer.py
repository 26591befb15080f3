"""First retransmissions that come before the answer can: as `plan.json` has them, and in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

from wirelab.schema.base import Border, Unsigned
from wirelab.units import format_duration

MARGIN = 2
"""A proposed time-out is so many times what an answer takes."""
NAMED = 3
"""So many protocols or links are named in one line."""


class ShortTimer(Border):
    """A first retransmission time-out that is shorter than an answer takes."""

    name: str
    """The setting, or what has the time-out."""
    is_setting: bool
    """Whether `name` is a setting of the protocol, so that it can be longer."""
    timer_ns: Unsigned
    """The time-out."""
    answer_ns: Unsigned
    """From the first packet to its answer."""
    takes: str
    """What `answer_ns` consists of, such as "waking and a round trip"."""

    @property
    def excess_ns(self) -> int:
        """How much longer the answer takes."""
        return self.answer_ns - self.timer_ns

    @property
    def enough_s(self) -> int:
        """A time-out that is long enough, with a margin."""
        return ceil(MARGIN * self.answer_ns / 1e9)


def short_timer_lines(found: Iterable[tuple[str, str, ShortTimer | None]]) -> Iterator[str]:
    """A line for each time-out that is too short, from protocols, names of links and their timers."""
    worst: dict[tuple[str, str, str], ShortTimer] = {}
    for protocol, link_name, timer in found:
        if timer is not None:
            key = protocol, link_name, timer.name
            worst[key] = max(worst.get(key, timer), timer, key=lambda each: each.excess_ns)
    alike: dict[tuple[str, int], dict[tuple[str, str], ShortTimer]] = {}
    for (protocol, link_name, name), timer in worst.items():
        alike.setdefault((name, timer.timer_ns), {})[protocol, link_name] = timer
    for where in alike.values():
        yield _line(where)


def _line(where: dict[tuple[str, str], ShortTimer]) -> str:
    """One time-out with the protocols and links where it is too short."""
    protocols, links = (list(dict.fromkeys(names)) for names in zip(*where, strict=True))
    longest = max(where.values(), key=lambda each: each.answer_ns)
    timer, up_to = format_duration(longest.timer_ns), "up to " * (len(where) > 1)
    takes = f"{longest.takes} ({up_to}{format_duration(longest.answer_ns)})"
    subject = f"{_named(protocols)} on {_named(links)}: {longest.name}"
    if not longest.is_setting:
        return f"{subject} is retransmitted after {timer}, sooner than {takes}; no setting changes that"
    sets = " ".join(f"--set protocols.{protocol}.{longest.name}={longest.enough_s}s" for protocol in protocols)
    return f"{subject} ({timer}) is shorter than {takes}: messages may be sent twice. {sets}"


def _named(names: list[str]) -> str:
    return ", ".join(names[:NAMED] + ["…"] * (len(names) > NAMED))
