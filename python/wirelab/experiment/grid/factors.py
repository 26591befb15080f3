"""Factors: which paths can be varied, and what their levels may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from pydantic import BaseModel, ValidationError

from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.experiment.file.congestion import congestion_controls
from wirelab.experiment.file.model import EndpointTable, ExperimentFile
from wirelab.experiment.file.pages import PageParts
from wirelab.experiment.file.positions import Path
from wirelab.experiment.file.problems import field_names, problems, quoted_path, shown
from wirelab.experiment.file.source import Source
from wirelab.experiment.file.topology import TrafficTable
from wirelab.experiment.file.workload import WorkloadTable
from wirelab.experiment.grid.points import Factor, VaryChoices, meet
from wirelab.experiment.library import BUILTIN, profiles, who_plays
from wirelab.experiment.link import MERGED, WAYS, LinkConflictError, LinkTable, check_conflicts
from wirelab.experiment.programs.implementations import own_settings
from wirelab.experiment.programs.settings import PLAYED_BY, ROLES, HasSettings, having, setting_error
from wirelab.launcher import launched
from wirelab.schema import Description

_LISTED = frozenset({"link", "protocol", "implementation"})
"""What `wirelab list` names."""
_OWN_LINK = '[links] mine = { rtt = "50 ms", loss = "1 %" }'


def read_factors(source: Source, file: ExperimentFile, known: Description) -> tuple[list[Factor], list[WirelabError]]:
    """Factors, choices and levels of interpretations, and everything that is wrong with their paths and levels."""
    found = [
        Factor(path, tuple(levels), (table, path))
        for table, entries in (("factors", file.factors), ("choices", file.choices))
        for path, levels in entries.items()
    ]
    found += [
        Factor(path, (level,), ("interpretations", name, path))
        for name, levels in file.interpretations.items()
        for path, level in levels.items()
    ]
    wrong: list[WirelabError] = []
    for factor in found:
        wrong += _repeated(source, factor)
        try:
            wrong += _LevelCheck(source, file, known, factor).errors()
        except WirelabError as error:
            wrong.append(error)
    several = {factor.path for factor in found if factor.table == "factors" and len(factor.levels) > 1}
    wrong += [
        WirelabError("is already a factor", source.where(factor.origin), hint="remove it from one of the two")
        for factor in found
        if factor.table != "factors" and factor.path in several
    ]
    return found, [*wrong, *_hidden(source, found, file.vary_choices), *_unnamed(source, file)]


def _hidden(source: Source, factors: Sequence[Factor], vary_choices: VaryChoices) -> list[WirelabError]:
    """Factors of all protocols or links whose key another factor varies for one of them at the same points: scenarios
    would stand at levels that they do not have.
    """
    wrong = []
    for factor in factors:
        table, *keys = factor.parts
        if table not in {"protocols", "links"} or len(keys) < 2:
            continue
        own_workload = factor.workload_key()
        of_all = (table[:-1], *keys[1:]) if own_workload is None else ("workload", *own_workload)
        for wide in factors:
            if wide.parts == of_all and meet(wide, factor, vary_choices):
                named, other = (wide, factor) if wide.path in source.sets else (factor, wide)
                what = f"varies what {other.path} varies too"
                hint = f"vary {other.path} instead, or leave it out"
                wrong.append(WirelabError(what, source.where(named.origin), hint))
    return wrong


def _unnamed(source: Source, file: ExperimentFile) -> list[WirelabError]:
    """Interpretations without a name of their own for their levels."""
    first: dict[str, str] = {}
    wrong = []
    for name, levels in file.interpretations.items():
        where = source.where(("interpretations", name))
        if not name.strip() or not name.isprintable():
            wrong.append(WirelabError(f"has no name that fits a line ({shown(name)})", where, "such as lan"))
        other = first.setdefault(repr(sorted(levels.items(), key=str)), name)
        if other != name:
            wrong.append(WirelabError(f"has the same levels as '{other}'", where, "leave one of them out"))
    return wrong


def _repeated(source: Source, factor: Factor) -> list[WirelabError]:
    """Levels that stand twice: a reader would look for what tells them apart."""
    wrong = []
    for index, level in enumerate(factor.levels):
        if any(type(level) is type(other) and level == other for other in factor.levels[:index]):
            where = source.where((*factor.origin, index))
            wrong.append(WirelabError(f"occurs twice ({shown(level)})", where, hint="each level has one place"))
    return wrong


def named(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that a path of background traffic means: `ping-*` is all that begin with `ping-`."""
    return [name for name in names if fnmatchcase(name, pattern)]


def nested(parts: tuple[str, ...], level: Any) -> dict[str, Any]:
    """A table that holds the level at the path."""
    for part in reversed(parts):
        level = {part: level}
    return dict(level)


@dataclass(frozen=True)
class _LevelCheck:
    """Reads each level of one factor on its own, so that an error points at it."""

    source: Source
    file: ExperimentFile
    known: Description
    factor: Factor

    def errors(self) -> list[WirelabError]:
        [first, *_] = self.factor.levels
        if self.factor.interpretation is not None and "." not in self.factor.path and isinstance(first, dict):
            where = self.source.where(self.factor.origin)
            raise WirelabError(f"is not a path ({shown(first)})", where, quoted_path(self.factor.path, first))
        match self.factor.parts:
            case ("protocol" | "link" | "workload" | "congestion-control" as what,):
                wrong = self._names(self._words(what), what.replace("-", " "))
            case ("client" | "server" as role, "implementation"):
                wrong = self._programs([role], self.file.factors.get("protocol", []))
            case ("client" | "server", "cpu"):
                wrong = self._table(EndpointTable, ("cpu",))
            case ("implementation",):
                wrong = self._programs(ROLES, self.file.factors.get("protocol", [])) or self._idle()
            case ("protocols", name, *rest) if rest:
                self._one(name, [protocol.name for protocol in self.known.protocols], "protocol")
                wrong = self._of_protocol(name, rest)
            case ("protocol", setting):
                wrong = self._settings(setting, having(setting, self.file.factors, self.known.protocols))
            case ("programs", name, setting):
                programs = own_settings(self.source.programs)
                self._one(name, programs, "program with its own settings")
                wrong = self._settings(setting, [programs[name]])
            case ("workload", *rest) if rest:
                wrong = self._workload(tuple(rest))
            case ("link", *rest) if rest:
                wrong = self._table(LinkTable, tuple(rest))
            case ("links" | "traffic" as table, name, *rest) if rest:
                wrong = self._entry(table, name, tuple(rest))
            case _:
                raise self._cannot_be_varied()
        return wrong

    def _cannot_be_varied(self) -> WirelabError:
        hint = did_you_mean(self.factor.path, _PATHS)
        return WirelabError("cannot be varied", self.source.where(self.factor.origin), hint)

    def _of_protocol(self, name: str, parts: Sequence[str]) -> list[WirelabError]:
        match parts:
            case ["implementation"]:
                return self._programs(ROLES, [name])
            case ["client" | "server" as role, "implementation"]:
                return self._programs([role], [name])
            case ["workload", "kind"]:
                what = "the kind of a workload is the same for every protocol"
                raise WirelabError(what, self.source.where(self.factor.origin), "workload.kind varies it for all")
            case ["workload", *key] if key:
                return self._workload(tuple(key))
            case [setting]:
                return self._settings(setting, [each for each in self.known.protocols if each.name == name])
        raise self._cannot_be_varied()

    def _words(self, what: str) -> Sequence[str]:
        """The names that a factor of names may have."""
        names: dict[str, Sequence[str]] = {
            "protocol": [protocol.name for protocol in self.known.protocols],
            "link": [*self.file.links, *profiles()],
            "workload": [*self.file.workloads],
            "congestion-control": congestion_controls(),
        }
        return names[what]

    def _programs(self, roles: Sequence[str], protocols: Sequence[str]) -> list[WirelabError]:
        """Of roles of these protocols."""
        known = "; ".join(who_plays(self.source.programs, role, protocols, self.file.kinds) for role in roles)
        return self._names([BUILTIN, *self.source.programs], "implementation", known if protocols else None)

    def _names(self, words: Sequence[str], what: str, hint: str | None = None) -> list[WirelabError]:
        wrong = []
        for index, level in enumerate(self.factor.levels):
            if not isinstance(level, str):
                wrong.append(WirelabError(f"should be the name of a {what} ({shown(level)})", self._where(index)))
            elif level not in words:
                listing = launched(f"list {what}s") if what in _LISTED else None
                known = hint or did_you_mean(level, words, listing)
                if what == "link" and listing is not None and listing in known:
                    known += f"; a link of your own: {_OWN_LINK}"
                wrong.append(WirelabError(f"unknown {what} ({shown(level)})", self._where(index), known))
        return wrong

    def _idle(self) -> list[WirelabError]:
        """Implementations that have no role of any protocol in the experiment."""
        protocols = self.file.factors.get("protocol", [])
        return [
            WirelabError(f"has no role of {', '.join(map(str, protocols))} ({shown(level)})", self._where(index))
            for index, level in enumerate(self.factor.levels)
            if level != BUILTIN and not any(self.source.programs[level].roles_of(protocol) for protocol in protocols)
        ]

    def _entry(self, table: str, name: str, parts: tuple[str, ...]) -> list[WirelabError]:
        """Levels of a key of an entry of `[links]` or `[traffic]`."""
        if table == "links":
            self._one(name, self.file.links, "link")
            return self._table(LinkTable, parts)
        meant = named(name, self.file.traffic)
        self._one(name, [*self.file.traffic, *([name] if meant else [])], table)
        tables = [self.source.document[table][each] for each in meant]
        return [error for each in tables for error in self._table(TrafficTable, parts, each)]

    def _workload(self, parts: tuple[str, ...]) -> list[WirelabError]:
        # What parts of a page come to together is known when the scenario is made.
        inside = parts[0] == "page" and len(parts) > 1
        return self._table(PageParts if inside else WorkloadTable, parts[inside:])

    def _table(
        self, model: type[BaseModel], parts: tuple[str, ...], rest: Mapping[str, Any] | None = None
    ) -> list[WirelabError]:
        """Levels of a key, `rest` being what the table cannot do without. What lies inside a link's table can only be
        judged with the rest of that table, when the scenario is made.
        """
        if parts[0] not in field_names(model):
            prefix = self.factor.path.removesuffix(".".join(parts))
            near = did_you_mean(parts[0], field_names(model))
            raise WirelabError(f"{prefix[:-1]} has no key '{parts[0]}'", self.source.where(self.factor.origin), near)
        inside = model is LinkTable and len(parts) > (2 if parts[0] in WAYS else 1)
        wrong = []
        for index, level in enumerate(self.factor.levels):
            if inside or (model is LinkTable and parts[0] in MERGED and isinstance(level, dict)):
                if not _is_plain(level):
                    wrong.append(WirelabError(f"has no place in a link ({shown(level)})", self._where(index)))
                continue
            table = {**(rest or {}), **nested(parts, level)}
            try:
                model.model_validate(table, context=self.source.files)
                if model is LinkTable:
                    check_conflicts(table)
            except ValidationError as error:
                wrong += problems(error, model, partial(self._inside, index, len(parts)))
            except LinkConflictError as error:
                wrong.append(WirelabError(f"{error} ({shown(level)})", self._where(index), error.hint))
        return wrong

    def _settings(self, name: str, protocols: Sequence[HasSettings]) -> list[WirelabError]:
        if not any(protocol.setting(name) for protocol in protocols):
            names = {setting.name for protocol in protocols for setting in protocol.settings}
            if self.factor.parts[0] == "protocols":
                names |= PLAYED_BY
            what = f"{protocols[0].name} has no" if len(protocols) == 1 else "no protocol has a"
            where = self.source.where(self.factor.origin)
            raise WirelabError(f"{what} setting '{name}'", where, did_you_mean(name, names))
        wrong = []
        for index, level in enumerate(self.factor.levels):
            if (error := setting_error(name, level, protocols)) is not None:
                wrong.append(WirelabError(f"{error} ({shown(level)})", self._where(index), error.hint))
        return wrong

    def _one(self, name: str, words: Iterable[str], what: str) -> None:
        if name not in words:
            raise WirelabError(
                f"unknown {what} '{name}'", self.source.where(self.factor.origin), did_you_mean(name, words)
            )

    def _inside(self, index: int, depth: int, path: Path) -> Where:
        """The place of a level, with the path of what is wrong inside it."""
        where = self._where(index)
        return replace(where, key=".".join([str(where.key), *map(str, path[depth:])]))

    def _where(self, index: int) -> Where:
        return self.source.where((*self.factor.origin, index))


def _is_plain(level: Any) -> bool:
    """Whether a level is text, whole numbers and truth values all through."""
    match level:
        case list():
            return all(map(_is_plain, level))
        case dict():
            return all(map(_is_plain, level.values()))
    return isinstance(level, str | int)


_PATHS = (
    "protocol",
    "link",
    "workload",
    "implementation",
    "client.implementation",
    "server.implementation",
    "client.cpu",
    "server.cpu",
    "congestion-control",
    *(f"workload.{key}" for key in field_names(WorkloadTable)),
    *(f"link.{key}" for key in field_names(LinkTable)),
)
