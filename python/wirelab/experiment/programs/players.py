"""Who plays each role of a scenario: the implementations that a file and a point of its grid name.

The last of these that says something holds: `[endpoints]`, `[protocols.NAME] implementation`, its
`client.implementation` and `server.implementation`; then factors: `implementation`, `protocols.NAME.implementation`,
`ROLE.implementation`, `protocols.NAME.ROLE.implementation`. What names no role is for those that the program has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wirelab.errors import Where, WirelabError
from wirelab.experiment.file.model import ExperimentFile
from wirelab.experiment.file.positions import Path
from wirelab.experiment.file.source import Source
from wirelab.experiment.file.topology import SERVER
from wirelab.experiment.grid.points import Point
from wirelab.experiment.library import BUILTIN, who_plays
from wirelab.experiment.programs.implementations import CATALOGUE, Implementation
from wirelab.experiment.programs.settings import IMPLEMENTATION, ROLES
from wirelab.schema import Description, ProtocolDescription


class NoPlayerError(WirelabError):
    """A program has no such role of a protocol; `more` is what else to do about it."""

    def __init__(self, name: str, role: str, protocol: str, where: Where, more: str = "") -> None:
        super().__init__(f"{name} is not a {role} of {protocol}", where)
        self.name, self.role, self.protocol, self.more = name, role, protocol, more


def one_for_each(
    errors: Iterable[WirelabError], programs: Mapping[str, Implementation], kinds: Collection[str]
) -> list[WirelabError]:
    """The same, with one for all the protocols of which a program that stands in one place has no role."""
    wrong: list[WirelabError] = []
    found: dict[tuple[str, str, str], list[NoPlayerError]] = {}
    for error in errors:
        if not isinstance(error, NoPlayerError):
            wrong.append(error)
            continue
        alike = found.setdefault((error.name, error.role, str(error.where)), [])
        alike.append(error)
        if len(alike) == 1:
            wrong.append(error)
    for (name, role, _), alike in found.items():
        protocols = list(dict.fromkeys(error.protocol for error in alike))
        alike[0].what = f"{name} is not a {role} of {' or '.join(protocols)}"
        alike[0].hint = who_plays(programs, role, protocols, kinds) + alike[0].more
    return wrong


@dataclass(frozen=True)
class Players:
    """Finds them for the scenarios of one experiment."""

    source: Source
    file: ExperimentFile
    known: Description

    def implementation(
        self, point: Point, protocol: ProtocolDescription, origin: Callable[[str, Path], Path]
    ) -> dict[str, str]:
        """Role to implementation; `origin(path, otherwise)` is where a factor's level was written, or the latter."""
        self._check_both(point, protocol, origin)
        return {role: self._player(role, point, protocol, origin) for role in ROLES}

    def played(self, role: str, protocol: ProtocolDescription) -> ProtocolDescription:
        """What a role speaks: a server behind a proxy another protocol than the client."""
        proxy = self.file.endpoints.proxy
        if role != SERVER or proxy is None or protocol.name not in proxy.protocols:
            return protocol
        origin = self.known.protocol(proxy.origin)
        assert origin is not None, "checked"
        return origin

    def roles(self, implementation: str, protocol: str) -> tuple[str, ...]:
        """The roles of a protocol that it can play."""
        return ROLES if implementation == BUILTIN else self.source.programs[implementation].roles_of(protocol)

    def _check_both(self, point: Point, protocol: ProtocolDescription, origin: Callable[[str, Path], Path]) -> None:
        """Refuse one for a protocol of which it has no role."""
        own = f"protocols.{protocol.name}.{IMPLEMENTATION}"
        named = point.get(own) or self.file.protocols.get(protocol.name, {}).get(IMPLEMENTATION)
        if named is not None and not self.roles(named, protocol.name):
            where = self.source.where(origin(own, ("protocols", protocol.name, IMPLEMENTATION)))
            hint = "; ".join(who_plays(self.source.programs, role, [protocol.name], self.file.kinds) for role in ROLES)
            raise WirelabError(f"{named} has no role of {protocol.name}", where, hint)

    def _player(
        self, role: str, point: Point, protocol: ProtocolDescription, origin: Callable[[str, Path], Path]
    ) -> str:
        spoken = self.played(role, protocol)
        named: tuple[str, Path] | None = None
        for name, both, place in self._said(role, point, protocol, origin):
            if not both or role in self.roles(name, spoken.name):
                named = name, place
        if named is None:
            return self._only(role, spoken)
        name, place = named
        if role not in self.roles(name, spoken.name):
            able = [each for each in self.file.factors.get("protocol", []) if role in self.roles(name, each)]
            alone = f'; for one protocol only: [protocols.{able[0]}] {role}.{IMPLEMENTATION} = "{name}"' if able else ""
            more = alone if place[0] == "endpoints" else ""
            raise NoPlayerError(name, role, spoken.name, self.source.where(place), more)
        return name

    def _said(
        self, role: str, point: Point, protocol: ProtocolDescription, origin: Callable[[str, Path], Path]
    ) -> Iterator[tuple[str, bool, Path]]:
        """What is said of a role, weakest first, whether it is of both roles, and where."""
        table: dict[str, Any] = self.file.protocols.get(protocol.name, {})
        below: Path = ("protocols", protocol.name)
        of_role: str = getattr(self.file.endpoints, role).implementation
        if of_role != BUILTIN:
            yield of_role, False, ("endpoints", role, IMPLEMENTATION)
        if (named := table.get(IMPLEMENTATION)) is not None:
            yield named, True, (*below, IMPLEMENTATION)
        if protocol.setting(role) is None and (named := table.get(role, {}).get(IMPLEMENTATION)) is not None:
            yield named, False, (*below, role, IMPLEMENTATION)
        for path, both in (
            (IMPLEMENTATION, True),
            (f"protocols.{protocol.name}.{IMPLEMENTATION}", True),
            (f"{role}.{IMPLEMENTATION}", False),
            (f"endpoints.{role}.{IMPLEMENTATION}", False),
            (f"protocols.{protocol.name}.{role}.{IMPLEMENTATION}", False),
        ):
            if path in point:
                yield point[path], both, origin(path.removeprefix("endpoints."), ("factors", path))

    def _only(self, role: str, protocol: ProtocolDescription) -> str:
        """Who plays a role of which nothing is said; of a protocol of the user's own, its only program."""
        if protocol.builtin:
            return BUILTIN
        programs = [name for name, program in self.source.programs.items() if program.serves(role, protocol.name)]
        if len(programs) == 1:
            return programs[0]
        hint = (
            who_plays(self.source.programs, role, [protocol.name], self.file.kinds)
            if programs
            else f"say so in {CATALOGUE}: [NAME.roles.{role}]"
        )
        what = f"{len(programs) or 'no'} programs play the {role} of {protocol.name}"
        raise WirelabError(what, self.source.where(("endpoints", role)), hint)
