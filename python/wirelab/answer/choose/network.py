"""What the operator of a network decides and a device's owner does not know: each setting with its levels, and all
their combinations. The levels are those that the link's profile and the radio's file have, with their sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from wirelab.answer.choose.candidates import Candidate, Forgets
from wirelab.experiment.library import Profile
from wirelab.metrics.energy_settings import Equipment
from wirelab.schema.choose import OperatorAxis
from wirelab.units import duration_ns
from wirelab_energy.radio import Input

GRANTS, NAT = "link that the operator grants", "time after which the NAT forgets"
_NO_SOURCE = "no source"


@dataclass(frozen=True)
class Nat:
    """How long a NAT keeps a silent flow, as a profile writes it; None of a transport that it does not translate."""

    udp: str | None
    tcp: str | None

    @property
    def words(self) -> str:
        """`UDP 120 s, TCP 20 min`."""
        return ", ".join(f"{name} {text}" for name, text in (("UDP", self.udp), ("TCP", self.tcp)) if text is not None)

    def table(self) -> dict[str, str]:
        """As a link's `nat` is written."""
        return {name: text for name, text in (("udp", self.udp), ("tcp", self.tcp)) if text is not None}


@dataclass(frozen=True)
class Place:
    """One combination: the link, its NAT, and the name of the radio's settings."""

    levels: tuple[str, ...]
    link: str
    nat: Nat | None
    radio: str


@dataclass(frozen=True)
class Network:
    """`links`, `nats` and `radios` (inputs by name) have the typical level first."""

    links: tuple[str, ...]
    nats: tuple[Nat, ...]
    radios: Mapping[str, Mapping[str, str]]
    axes: tuple[OperatorAxis, ...]

    @classmethod
    def of(cls, profile: Profile, radio: Equipment | None) -> Network:
        """Of a link, and the radio on it."""
        links = (profile.name, *profile.grants)
        nats = tuple(_nats(profile))
        inputs = {} if radio is None else radio.radio.ranges
        axes = list[OperatorAxis]()
        if len(links) > 1:
            axes.append(_axis(GRANTS, links, profile.sources.get("grants"), "always"))
        if len(nats) > 1:
            keys = [key for key in ("nat.udp", "nat.tcp") if key in profile.ranges]
            sources = "; ".join(dict.fromkeys(profile.sources.get(key, _NO_SOURCE) for key in keys))
            axes.append(_axis(NAT, [nat.words for nat in nats], sources, "always"))
        levels = dict[str, tuple[str, ...]]()
        for name, others in inputs.items():
            assert radio is not None, "it has the inputs"
            own = radio.radio.inputs[name]
            levels[name] = (own.written, *(level for level in others.levels if level != own.written))
            axes.append(_axis(_about(own), levels[name], others.source, "never"))
        return cls(links, nats, {_radio(each): each for each in _combined(levels)}, tuple(axes))

    def without_runs(self) -> Network:
        """As far as it can be known of packets that flowed under the typical settings."""
        return Network(
            self.links[:1], self.nats[:1], self.radios, tuple(each for each in self.axes if each["runs"] == "never")
        )

    def variants(self, equipment: Equipment) -> dict[str, Equipment]:
        """A radio with each of the settings, by their names. An input is changed where it is as on the link that was
        asked for: another link may have other timers.
        """
        radio, found = equipment.radio, dict[str, Equipment]()
        typical = next(iter(self.radios.values()))
        for name, inputs in self.radios.items():
            own = {key: radio.inputs[key].written for key in inputs if key in radio.inputs}
            changed = {key: inputs[key] for key, value in own.items() if value == typical[key] != inputs[key]}
            found[name] = replace(equipment, radio=radio.with_inputs(changed) if changed else radio)
        return found

    def changed(self, radio: str) -> list[str]:
        """The inputs in which settings of the radio, by their name, are not the typical ones."""
        typical = next(iter(self.radios.values()))
        return [key for key, value in self.radios[radio].items() if typical[key] != value]

    @property
    def forgets(self) -> Forgets:
        """When the NAT forgets, typically and at the least."""

        def times(texts: Sequence[str | None]) -> tuple[int, int] | None:
            known = [duration_ns(text) for text in texts if text is not None]
            return (known[0], min(known)) if known else None

        return Forgets(times([nat.udp for nat in self.nats]), times([nat.tcp for nat in self.nats]))

    def places(self) -> Iterator[Place]:
        """Every combination, the typical one first."""
        for link, nat, radio in product(self.links, self.nats or (None,), self.radios):
            levels = [link] if len(self.links) > 1 else []
            if len(self.nats) > 1 and nat is not None:
                levels.append(nat.words)
            yield Place((*levels, *self.radios[radio].values()), link, nat, radio)

    def nats_of(self, candidate: Candidate) -> tuple[Nat | None, ...]:
        """Those with which it has to be run: a connection for each message is over before any NAT forgets it."""
        if not self.nats:
            return (None,)
        if candidate.connection != "persistent":
            return self.nats[:1]
        first: dict[str | None, Nat] = {}
        for nat in self.nats:
            first.setdefault(_time(nat, candidate), nat)
        return tuple(first.values())

    def run_at(self, candidate: Candidate, nat: Nat | None) -> Nat | None:
        """With which of those it was run, to know it with this one."""
        same = (each for each in self.nats_of(candidate) if each is not None and nat is not None)
        found = next((each for each in same if _time(each, candidate) == _time(nat, candidate)), None)
        return found or self.nats_of(candidate)[0]


def label(of: Input) -> str:
    """What a radio's input is, in a few words: `RRC inactivity timer`."""
    return of.about.partition(":")[0].partition(";")[0]


def _about(of: Input) -> str:
    """Its label, and what else is to be known of it."""
    more = of.about.removeprefix(label(of)).lstrip(":; ")
    return f"{label(of)}: {more}" if more else label(of)


def _time(nat: Nat | None, candidate: Candidate) -> str | None:
    if nat is None:
        return None
    return nat.udp if candidate.transport == "udp" else nat.tcp


def _axis(name: str, levels: Sequence[str], source: str | None, runs: Literal["always", "never"]) -> OperatorAxis:
    return OperatorAxis(name=name, levels=[*levels], source=source or _NO_SOURCE, runs=runs)


def _nats(profile: Profile) -> Iterator[Nat]:
    """As the profile has it, and with both of its times at the least and at the most of any operator."""
    own = profile.link.get("nat")
    if not isinstance(own, Mapping):
        return
    typical = Nat(_text(own, "udp"), _text(own, "tcp"))
    yield typical
    for end in (0, 1):
        other = Nat(_end(profile, "udp", typical.udp, end), _end(profile, "tcp", typical.tcp, end))
        if other != typical:
            yield other


def _text(table: Mapping[str, object], key: str) -> str | None:
    found = table.get(key)
    return found if isinstance(found, str) else None


def _end(profile: Profile, key: str, typical: str | None, end: int) -> str | None:
    ends = profile.ranges.get(f"nat.{key}")
    return typical if ends is None or typical is None else ends[end]


def _combined(levels: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    for chosen in product(*levels.values()):
        yield dict(zip(levels, chosen, strict=True))


def _radio(inputs: Mapping[str, str]) -> str:
    """The name of a radio's settings."""
    return ", ".join(f"{name} {value}" for name, value in inputs.items())
