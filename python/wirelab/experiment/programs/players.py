"""Who plays each role of a scenario: the implementations that a file and a point of its grid name.

The last of these that says something holds: `[endpoints]`, `[stacks.NAME] implementation`, its `client.implementation`
and `server.implementation`; then factors: `implementation`, `stacks.NAME.implementation`, `ROLE.implementation`,
`stacks.NAME.ROLE.implementation`. What names no role is for those that the program has.
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
from wirelab.experiment.grid.factors import Point
from wirelab.experiment.library import BUILTIN, who_plays
from wirelab.experiment.programs.implementations import CATALOGUE, Implementation
from wirelab.experiment.programs.settings import IMPLEMENTATION, ROLES
from wirelab.schema import Description, StackDescription


class NoPlayerError(WirelabError):
    """A program has no such role of a stack; `more` is what else to do about it."""

    def __init__(self, name: str, role: str, stack: str, where: Where, more: str = "") -> None:
        super().__init__(f"{name} is no {role} of {stack}", where)
        self.name, self.role, self.stack, self.more = name, role, stack, more


def one_for_each(
    errors: Iterable[WirelabError], programs: Mapping[str, Implementation], kinds: Collection[str]
) -> list[WirelabError]:
    """The same, with one for all the stacks of which a program that stands in one place has no role."""
    told: list[WirelabError] = []
    found: dict[tuple[str, str, str], list[NoPlayerError]] = {}
    for error in errors:
        if not isinstance(error, NoPlayerError):
            told.append(error)
            continue
        alike = found.setdefault((error.name, error.role, str(error.where)), [])
        alike.append(error)
        if len(alike) == 1:
            told.append(error)
    for (name, role, _), alike in found.items():
        stacks = list(dict.fromkeys(error.stack for error in alike))
        alike[0].what = f"{name} is no {role} of {' or '.join(stacks)}"
        alike[0].hint = who_plays(programs, role, stacks, kinds) + alike[0].more
    return told


@dataclass(frozen=True)
class Players:
    """Finds them for the scenarios of one experiment."""

    source: Source
    file: ExperimentFile
    known: Description

    def implementation(
        self, point: Point, stack: StackDescription, origin: Callable[[str, Path], Path]
    ) -> dict[str, str]:
        """Role to implementation; `origin(path, otherwise)` is where a factor's level was written, or the latter."""
        self._check_both(point, stack, origin)
        return {role: self._player(role, point, stack, origin) for role in ROLES}

    def played(self, role: str, stack: StackDescription) -> StackDescription:
        """What a role speaks: a server behind a proxy another stack than the client."""
        proxy = self.file.endpoints.proxy
        if role != SERVER or proxy is None or stack.name not in proxy.stacks:
            return stack
        origin = self.known.stack(proxy.origin)
        assert origin is not None, "checked"
        return origin

    def roles(self, implementation: str, stack: str) -> tuple[str, ...]:
        """The roles of a stack that it can play."""
        return ROLES if implementation == BUILTIN else self.source.programs[implementation].roles_of(stack)

    def _check_both(self, point: Point, stack: StackDescription, origin: Callable[[str, Path], Path]) -> None:
        """Refuse one for a stack of which it has no role."""
        own = f"stacks.{stack.name}.{IMPLEMENTATION}"
        named = point.get(own) or self.file.stacks.get(stack.name, {}).get(IMPLEMENTATION)
        if named is not None and not self.roles(named, stack.name):
            where = self.source.where(origin(own, ("stacks", stack.name, IMPLEMENTATION)))
            hint = who_plays(self.source.programs, "client", [stack.name], self.file.kinds)
            raise WirelabError(f"{named} has no role of {stack.name}", where, hint)

    def _player(self, role: str, point: Point, stack: StackDescription, origin: Callable[[str, Path], Path]) -> str:
        spoken = self.played(role, stack)
        named: tuple[str, Path] | None = None
        for name, both, place in self._said(role, point, stack, origin):
            if not both or role in self.roles(name, spoken.name):
                named = name, place
        if named is None:
            return self._only(role, spoken)
        name, place = named
        if role not in self.roles(name, spoken.name):
            able = [each for each in self.file.factors.get("stack", []) if role in self.roles(name, each)]
            alone = f'; for one stack alone: [stacks.{able[0]}] {role}.{IMPLEMENTATION} = "{name}"' if able else ""
            more = alone if place[0] == "endpoints" else ""
            raise NoPlayerError(name, role, spoken.name, self.source.where(place), more)
        return name

    def _said(
        self, role: str, point: Point, stack: StackDescription, origin: Callable[[str, Path], Path]
    ) -> Iterator[tuple[str, bool, Path]]:
        """What is said of a role, weakest first, whether it is of both roles, and where."""
        table: dict[str, Any] = self.file.stacks.get(stack.name, {})
        below: Path = ("stacks", stack.name)
        of_role: str = getattr(self.file.endpoints, role).implementation
        if of_role != BUILTIN:
            yield of_role, False, ("endpoints", role, IMPLEMENTATION)
        if (named := table.get(IMPLEMENTATION)) is not None:
            yield named, True, (*below, IMPLEMENTATION)
        if stack.setting(role) is None and (named := table.get(role, {}).get(IMPLEMENTATION)) is not None:
            yield named, False, (*below, role, IMPLEMENTATION)
        for path, both in (
            (IMPLEMENTATION, True),
            (f"stacks.{stack.name}.{IMPLEMENTATION}", True),
            (f"{role}.{IMPLEMENTATION}", False),
            (f"endpoints.{role}.{IMPLEMENTATION}", False),
            (f"stacks.{stack.name}.{role}.{IMPLEMENTATION}", False),
        ):
            if path in point:
                yield point[path], both, origin(path.removeprefix("endpoints."), ("factors", path))

    def _only(self, role: str, stack: StackDescription) -> str:
        """Who plays a role of which nothing is said; of a stack of the user's own, its only program."""
        if stack.builtin:
            return BUILTIN
        programs = [name for name, program in self.source.programs.items() if program.serves(role, stack.name)]
        if len(programs) == 1:
            return programs[0]
        hint = (
            who_plays(self.source.programs, role, [stack.name], self.file.kinds)
            if programs
            else f"say so in {CATALOGUE}: [NAME.roles.{role}]"
        )
        what = f"{len(programs) or 'no'} programs play the {role} of {stack.name}"
        raise WirelabError(what, self.source.where(("endpoints", role)), hint)
