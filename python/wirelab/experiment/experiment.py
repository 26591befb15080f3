"""The parsed and resolved experiment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wirelab.errors import Where, WirelabError, did_you_mean, nearest
from wirelab.experiment.file.energy import EnergyTable, check_battery, check_energy
from wirelab.experiment.file.expect import expectations, never_decided
from wirelab.experiment.file.model import ExperimentFile, StopTable
from wirelab.experiment.file.problems import problems, shown
from wirelab.experiment.file.sets import apply_sets
from wirelab.experiment.file.source import Source, dotted, read_source
from wirelab.experiment.file.topology import check_proxy, check_topology
from wirelab.experiment.file.validate import (
    combined,
    in_order,
    is_apart,
    is_whole,
    kinds_are_known,
    validate,
    without_echoes,
)
from wirelab.experiment.grid.factors import read_factors
from wirelab.experiment.grid.kinds import check_workload
from wirelab.experiment.grid.parts import check_parts
from wirelab.experiment.grid.points import ONE_AT_A_TIME, Factor, Point, VaryChoices, grid, grid_size
from wirelab.experiment.grid.resolver import DEFAULT_LINK, Resolver
from wirelab.experiment.grid.scenario import Scenario
from wirelab.experiment.library import BUILTIN, is_profile_file, who_plays
from wirelab.experiment.link import LinkConflictError, LinkTable, check_conflicts, merge
from wirelab.experiment.programs.contents import program_digests
from wirelab.experiment.programs.implementations import RoleEntry, own_settings
from wirelab.experiment.programs.own_protocols import own_protocols
from wirelab.experiment.programs.players import one_for_each
from wirelab.experiment.programs.settings import IMPLEMENTATION, PLAYED_BY, ROLES, HasSettings, having, setting_error
from wirelab.opened import NO_FILE, open_file
from wirelab.schema import Clock, Description, PageLoads, Role, canonical_json, registered
from wirelab.schema.expectation import Expectation
from wirelab.schema.link_answer import AskLink
from wirelab.site import Page, Site
from wirelab.statistic import too_few

MAX_POINTS = 20_000


@dataclass(frozen=True)
class Experiment:
    """What is to be found out. `claims` is where its file is on this machine; `factors`, `choices` and
    `interpretations` are levels as written.
    """

    name: str
    title: str
    metric: str
    statistic: str
    doi: str | None
    claims: Path | None
    file: str
    factors: Mapping[str, tuple[Any, ...]]
    choices: Mapping[str, tuple[Any, ...]]
    vary_choices: VaryChoices
    interpretations: Mapping[str, Mapping[str, Any]]
    sets: Mapping[str, tuple[Any, ...]]
    seed: int
    clock: Clock
    capture: bool
    offloads: bool
    stop: StopTable
    expect: tuple[Expectation, ...]
    energy: EnergyTable | None
    scenarios: tuple[Scenario, ...]
    known: Description
    source: Source

    def fixed(self) -> bool:
        """Whether the number of replicates was set beforehand."""
        least, most = self.stop.replicates
        return least == most

    def pages(self) -> dict[str, Page]:
        """The pages that its scenarios load, with their bodies, by digest."""
        return {digest: self.source.pages.page(digest) for digest in self.sites()}

    def sites(self) -> dict[str, Site]:
        """Their manifests alone."""
        named = {
            scenario.workload.page.sha256 for scenario in self.scenarios if isinstance(scenario.workload, PageLoads)
        }
        return {digest: site for digest, site in self.source.pages.sites.items() if digest in named}

    def program_digests(self) -> dict[str, str]:
        """The digest of every third-party program of the plan, by its current contents."""
        names = {name for scenario in self.scenarios for name in scenario.implementation.values()}
        return program_digests(names, self.source.folder)

    def starts_in_ns(self, scenario: Scenario, role: Role) -> int:
        """How long a program of a scenario is known to take until it is ready; 0 where nobody said."""
        entry = self._entry(scenario, role)
        return 0 if entry is None else round(entry.starts_in_s * 1e9)

    def each_takes_ns(self, scenario: Scenario) -> int:
        """What a scenario's client is known to take for each exchange besides; 0 where nobody said."""
        entry = self._entry(scenario, Role.CLIENT)
        return 0 if entry is None else round(entry.each_takes_s * 1e9)

    def client_cpu_ns(self, scenario: Scenario) -> int:
        """CPU time that a scenario's client is known to take in a trial; 0 where nobody said."""
        entry = self._entry(scenario, Role.CLIENT)
        return 0 if entry is None else round(entry.each_computes_s * 1e9) * scenario.workload.rows

    def _entry(self, scenario: Scenario, role: Role) -> RoleEntry | None:
        program = self.source.programs.get(scenario.implementation[role.value])
        return None if program is None else program.role(role)


Check = Callable[[Source, ExperimentFile], Iterable[WirelabError]]
"""What others know to be wrong with a file."""


def load_experiment(
    name: str, sets: Iterable[str], ask: AskLink, known: Description | None = None, check: Check | None = None
) -> Experiment:
    """Read an experiment by its path or shipped name; everything wrong with it is raised at once. `ask` knows links.

    What only a scenario shows is reported with the rest as long as nothing is wrong that could make a scenario differ.
    """
    source = apply_sets(read_source(name), sets)
    return resolve(source, (known or registered()).with_protocols(own_protocols(source.folder)), ask, check)


def resolve(written: Source, known: Description, ask: AskLink, check: Check | None = None) -> Experiment:
    """The experiment that a text means; everything wrong with it is raised at once."""
    file, source, wrong = validate(written)
    factors, found = read_factors(source, file, known)
    found += _check_protocols(source, file, known)
    found += _check_programs(source, file)
    found += _check_links(source, file)
    if is_whole("topology", wrong):
        found += check_topology(source, file.topology, file.traffic, file.links)
        found += check_proxy(source, file.endpoints.proxy, file.topology, known)
    found += check_parts(source, file, factors)
    if kinds_are_known([*wrong, *found]):
        found += check_workload(source, file, factors)
    found += _check_endpoints(source, file)
    found += _check_claims(source, file)
    found += check_energy(written, file.energy, _link_names(file, factors))
    found += _check_stop(source, file)
    expect, misread = expectations(source, file)
    found += misread
    more = list(check(source, file)) if check is not None else []
    misspelt = "factors" not in written.document and nearest("factors", written.document) is not None
    if not misspelt and not any(factor.origin == ("factors", "protocol") for factor in factors):
        where = source.where(("factors",))
        found.append(WirelabError("no factor 'protocol'", where, hint='add to [factors]: protocol = ["http1", "h2"]'))
    found += _check_size(source, factors, file.vary_choices)
    wrong += without_echoes(found, wrong)
    scenarios: tuple[Scenario, ...] = ()
    if all(is_apart(error) for error in wrong):
        resolver = Resolver(source, file, known, tuple(factors), ask)
        scenarios, unmade = _scenarios(resolver, grid(factors, file.vary_choices))
        notes = (*resolver.notes, *_without_radio(file.energy, scenarios))
        source = replace(source, notes=(*source.notes, *notes))
        gaps_ns = [each.workload.gap_ns for each in scenarios]
        wrong += unmade or [
            *_same_links(source, scenarios), *_too_few_values(source, file, scenarios),
            *_never_decided(source, file, expect, scenarios),
            *check_battery(source, file.energy, gaps_ns),
        ]  # fmt: skip
    if wrong or more:
        raise combined([*in_order(wrong), *more])
    return Experiment(
        name=source.name,
        title=file.title,
        metric=file.metric,
        statistic=file.statistic,
        doi=file.doi,
        claims=None if file.claims is None else source.folder / file.claims,
        file=source.shown,
        factors={factor.path: factor.levels for factor in factors if factor.table == "factors"},
        choices={factor.path: factor.levels for factor in factors if factor.table == "choices"},
        vary_choices=file.vary_choices,
        interpretations=file.interpretations,
        sets={path: tuple(levels) for path, levels in source.sets.items()},
        seed=file.seed,
        clock=Clock(file.clock),
        capture=file.capture,
        offloads=file.offloads,
        stop=file.stop,
        expect=tuple(expect.values()),
        energy=file.energy,
        scenarios=scenarios,
        known=known,
        source=source,
    )


def _check_size(source: Source, factors: Sequence[Factor], vary_choices: VaryChoices) -> Iterator[WirelabError]:
    """A grid that nobody would run; nor would this program end with it soon."""
    size, alone = grid_size(factors, vary_choices), grid_size(factors)
    if size > MAX_POINTS:
        place, hint = ("factors",), f"at most {MAX_POINTS:,}"
        if alone <= MAX_POINTS:
            place, hint = ("choices",), f'{hint}; vary-choices = "{ONE_AT_A_TIME}" makes {alone:,}'
        yield WirelabError(f"{size:,} combinations of levels", source.where(place), hint)


def _scenarios(resolver: Resolver, points: list[Point]) -> tuple[tuple[Scenario, ...], list[WirelabError]]:
    """One scenario for each distinct identity, in the grid's order, and why others cannot be made."""
    found: dict[str, Scenario] = {}
    wrong: dict[str, WirelabError] = {}
    for point in points:
        try:
            scenario = resolver.scenario(point)
        except WirelabError as error:
            wrong.setdefault(str(error), error)
            continue
        identity = canonical_json(scenario.identity())
        if identity in found:
            first = found[identity]
            found[identity] = replace(first, points=first.points + scenario.points)
        else:
            found[identity] = scenario
    return tuple(found.values()), one_for_each(wrong.values(), resolver.source.programs, resolver.file.kinds)


def _without_radio(energy: EnergyTable | None, scenarios: Iterable[Scenario]) -> Iterator[str]:
    """Links whose clients have no radio, where others have one."""
    record = None if energy is None else energy.record()
    for name in dict.fromkeys(scenario.link_name for scenario in scenarios):
        if record is not None and record.of(name) is None:
            yield f"energy: link {name} has no radio, so its scenarios have no energy"


def _link_names(file: ExperimentFile, factors: Iterable[Factor]) -> set[str]:
    """Names that a scenario's link may have, without those of shipped links."""
    chosen = (level for factor in factors if factor.path == "link" for level in factor.levels)
    return {DEFAULT_LINK, *file.links, *map(str, chosen)}


def _check_stop(source: Source, file: ExperimentFile) -> Iterator[WirelabError]:
    """The rule that ends a scenario watches the statistic that ranks: another may be narrow long before."""
    rule = file.stop.interval
    if rule is not None and rule.of not in (None, file.statistic):
        what = f"the interval is that of the {rule.of}, and protocols are ranked by the {file.statistic}"
        hint = f'write "{rule.relative * 100:g} % of {file.statistic}", or statistic = "{rule.of}"'
        yield WirelabError(what, source.where(("stop", "interval")), hint)


def _too_few_values(source: Source, file: ExperimentFile, scenarios: Iterable[Scenario]) -> Iterator[WirelabError]:
    """A percentile that no scenario's values are enough for."""
    most = file.stop.replicates[1]
    if what := too_few(file.statistic, (most * scenario.workload.rows for scenario in scenarios)):
        yield WirelabError(what, source.where(("statistic",)), "more exchanges or more replicates")


def _never_decided(
    source: Source, file: ExperimentFile, expect: Mapping[str, Expectation], scenarios: Sequence[Scenario]
) -> Iterator[WirelabError]:
    """Expectations about no scenario, or about one with too few values."""
    for key, each in expect.items():
        if (error := never_decided(each, scenarios, file.stop.replicates[1])) is not None:
            yield WirelabError(error.what, source.where(("expect", key)), error.hint)


def _same_links(source: Source, scenarios: Iterable[Scenario]) -> list[WirelabError]:
    """Links by two names that come to the same wherever they stand: a reader would take them for two."""
    found: dict[str, set[int]] = {}
    for index, scenario in enumerate(scenarios):
        for point in scenario.points:
            if "link" in point:
                found.setdefault(str(point["link"]), set()).add(index)
    first: dict[frozenset[int], str] = {}
    wrong = []
    for name, indices in found.items():
        other = first.setdefault(frozenset(indices), name)
        if other != name:
            places = [
                source.where(("links", each) if ("links", each) in source.index else ("factors", "link"))
                for each in (other, name)
            ]
            what = f"link '{name}' is equivalent to link '{other}' at {places[0]}"
            wrong.append(WirelabError(what, places[1], "leave one of them out"))
    return wrong


def _check_protocols(source: Source, file: ExperimentFile, known: Description) -> list[WirelabError]:
    wrong = []
    for key, value in file.protocol.items():
        wrong += _check_setting(source, ("protocol", key), having(key, file.factors, known.protocols), value)
    for name, table in file.protocols.items():
        protocol = known.protocol(name)
        if protocol is None:
            near = did_you_mean(name, (protocol.name for protocol in known.protocols))
            wrong.append(WirelabError("unknown protocol", source.where(("protocols", name)), near))
            continue
        for key, value in table.items():
            path = ("protocols", name, key)
            if key == IMPLEMENTATION:
                wrong += _check_implementation(source, path, value, [name], file.kinds)
            elif key in ROLES and protocol.setting(key) is None:
                wrong += _check_role(source, path, value, file.kinds)
            elif key == "workload" and protocol.setting(key) is None:
                hint = f'[factors] "protocols.{name}.workload.connection" = ["new"] sets a key for one protocol'
                wrong.append(WirelabError("is a table that protocols share", source.where(path), hint))
            else:
                wrong += _check_setting(source, path, (protocol,), value, PLAYED_BY)
    return wrong


def _check_programs(source: Source, file: ExperimentFile) -> list[WirelabError]:
    wrong = []
    known = own_settings(source.programs)
    for name, table in file.programs.items():
        if name not in known:
            what = "no program with its own settings"
            wrong.append(WirelabError(what, source.where(("programs", name)), did_you_mean(name, known)))
            continue
        for key, value in table.items():
            wrong += _check_setting(source, ("programs", name, key), (known[name],), value)
    return wrong


def _check_role(source: Source, path: tuple[str, ...], table: Any, kinds: Collection[str]) -> list[WirelabError]:
    """The table of one role in that of a protocol."""
    key = f"{path[-1]}.{IMPLEMENTATION}"
    if not isinstance(table, dict):
        what = f"should be a table ({shown(table)})"
        return [WirelabError(what, source.where(path), f"{key} = {shown(table)}")]
    wrong = [
        WirelabError(f"unknown key ({shown(table[name])})", source.where((*path, name)), did_you_mean(name, [key]))
        for name in table
        if name != IMPLEMENTATION
    ]
    if IMPLEMENTATION in table:
        wrong += _check_implementation(source, (*path, IMPLEMENTATION), table[IMPLEMENTATION], [path[1]], kinds)
    return wrong


def _check_setting(
    source: Source, path: tuple[str, ...], protocols: Sequence[HasSettings], value: Any, more: Iterable[str] = ()
) -> list[WirelabError]:
    """`more` are keys of the table that are no settings."""
    if not any(protocol.setting(path[-1]) for protocol in protocols):
        names = {*more, *(setting.name for protocol in protocols for setting in protocol.settings)}
        return [WirelabError(f"unknown setting ({shown(value)})", source.where(path), did_you_mean(path[-1], names))]
    if (error := setting_error(path[-1], value, protocols)) is None:
        return []
    return [WirelabError(f"{error} ({shown(value)})", source.where(path), error.hint)]


def _check_implementation(
    source: Source, path: tuple[str, ...], value: Any, protocols: Sequence[str] = (), kinds: Collection[str] = ()
) -> list[WirelabError]:
    """Of the role that the path names, or of both, of these protocols."""
    names = [BUILTIN, *source.programs]
    if value in names:
        return []
    roles = [part for part in path if part in ROLES] or ROLES
    known = "; ".join(who_plays(source.programs, role, protocols, kinds) for role in roles)
    hint = known if protocols else did_you_mean(str(value), names)
    return [WirelabError(f"unknown implementation ({shown(value)})", source.where(path), hint)]


def _check_links(source: Source, file: ExperimentFile) -> list[WirelabError]:
    wrong = []
    layers: list[tuple[tuple[str, ...], LinkTable]] = [(("link",), file.link)]
    layers += [(("links", name), link) for name, link in file.links.items()]
    for path, link in layers:
        table: Any = source.document
        for part in path:
            table = table.get(part, {})
        try:
            check_conflicts(table)
        except LinkConflictError as error:
            wrong.append(WirelabError(str(error), source.where((*path, *error.key.split("."))), error.hint))
        if link.profile is not None:
            wrong += _check_profile(source, (*path, "profile"), link.profile)
    return wrong


def _check_profile(source: Source, path: tuple[str, ...], name: str) -> list[WirelabError]:
    """An unknown profile, or what is wrong in a file of the user's own."""
    try:
        link = source.profile(name).link
        if is_profile_file(name):
            check_conflicts(link)
            LinkTable.model_validate(merge([link]), context=source.files)
    except WirelabError as error:
        return [error if error.where is not None else WirelabError(error.what, source.where(path), error.hint)]
    except LinkConflictError as error:
        return [WirelabError(str(error), Where(name, key=f"link.{error.key}"), error.hint)]
    except ValidationError as error:
        return problems(error, LinkTable, lambda key: Where(name, key=dotted(("link", *key))))
    return []


def _check_endpoints(source: Source, file: ExperimentFile) -> list[WirelabError]:
    wrong = []
    for role in ROLES:
        path = ("endpoints", role, IMPLEMENTATION)
        wrong += _check_implementation(
            source, path, getattr(file.endpoints, role).implementation, file.factors.get("protocol", []), file.kinds
        )
    return wrong


def _check_claims(source: Source, file: ExperimentFile) -> list[WirelabError]:
    if file.claims is None:
        return []
    where = source.where(("claims",))
    try:
        open_file(source.folder / file.claims, where).close()
    except WirelabError as error:
        hint = "it is sought next to the experiment file" if error.what == NO_FILE else error.hint
        return [WirelabError(f"{error.what} ({shown(file.claims)})", where, hint)]
    return []
