"""From points of the grid to scenarios: what the file, its profiles and a point's levels come to together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from pydantic import ValidationError

from wirelab.errors import Where, WirelabError
from wirelab.experiment.file.arrival import WorkloadKeyError
from wirelab.experiment.file.model import ExperimentFile
from wirelab.experiment.file.positions import Path
from wirelab.experiment.file.problems import problems
from wirelab.experiment.file.quantities import cpu_share
from wirelab.experiment.file.source import Source
from wirelab.experiment.file.topology import (
    SERVER,
    TrafficTable,
    check_traffic,
    chooses,
    clients_link,
    link_of,
    ordered,
    taken_links,
)
from wirelab.experiment.file.workload import KEYS, WorkloadTable
from wirelab.experiment.grid.checks import check_scenario
from wirelab.experiment.grid.factors import named, nested
from wirelab.experiment.grid.naming import Naming
from wirelab.experiment.grid.points import Factor, Point
from wirelab.experiment.grid.scenario import Scenario, shorten
from wirelab.experiment.library import Profile, profiles
from wirelab.experiment.link import LinkConflictError, LinkTable, default_queues, link_spec, merge
from wirelab.experiment.programs.implementations import own_settings
from wirelab.experiment.programs.players import Players
from wirelab.experiment.programs.settings import ROLES, resolve_settings
from wirelab.schema import Description, LinkSpec, ProtocolDescription, WorkloadSpec
from wirelab.schema.endpoint import SettingValue
from wirelab.schema.link_answer import AskLink
from wirelab.schema.topology import Origin, TopologyLink, Traffic

DEFAULT_LINK = "link"


@dataclass(frozen=True)
class Resolver:
    """Turns points of one experiment's grid into scenarios. `notes` collects what it chose because nobody did."""

    source: Source
    file: ExperimentFile
    known: Description
    factors: tuple[Factor, ...]
    ask: AskLink
    notes: dict[str, None] = field(default_factory=dict)

    @cached_property
    def _naming(self) -> Naming:
        return Naming(self.factors)

    @property
    def _players(self) -> Players:
        return Players(self.source, self.file, self.known)

    def scenario(self, point: Point) -> Scenario:
        """The scenario at one point."""
        protocol = self._protocol(point)
        link_name = self._link_name(point)
        implementation = self._players.implementation(point, protocol, partial(self._origin, point))
        levels = {
            path: shorten(level)
            for path, level in point.items()
            if self._touches(point, path, protocol, link_name) and self._is_played(path, implementation)
        }
        restart = self.file.endpoints.server.restart
        scenario = Scenario(
            name=self._naming.name(levels),
            levels=levels,
            points=({path: shorten(level) for path, level in point.items()},),
            protocol=protocol.name,
            settings=self._settings(point, protocol),
            implementation=implementation,
            program_settings=self._program_settings(point, implementation),
            link_name=link_name,
            link=self._link(point, link_name),
            workload=self._workload(point, protocol.name),
            congestion_control=point.get("congestion-control", self.file.congestion_control),
            topology=self._topology(point),
            traffic=self._traffic(point),
            origin=self._behind(point, protocol),
            cpu=self._cpu(point),
            restart=None if restart is None else restart.plan(),
        )
        scenario = replace(scenario, facts=tuple(self.ask(link) for link in scenario.links))
        check_scenario(self.source, self.file, protocol, scenario, partial(self._origin, point))
        return scenario

    def _protocol(self, point: Point) -> ProtocolDescription:
        protocol = self.known.protocol(point["protocol"])
        if protocol is None:
            raise AssertionError(point["protocol"])
        return protocol

    def _link_name(self, point: Point) -> str:
        """That of the client's link."""
        if not self.file.topology:
            return self._chosen_link(point)
        name = clients_link(self.file.topology)
        return link_of(name, self.file.topology[name], self.file.links) or self._chosen_link(point)

    def _chosen_link(self, point: Point) -> str:
        """The link that the factor `link` chooses, or the only one there is to choose."""
        if "link" in point:
            return str(point["link"])
        taken = taken_links(self.file.topology, self.file.links)
        links = [name for name in self.file.links if name not in taken]
        if len(links) > 1:
            names = ", ".join(f'"{name}"' for name in links)
            raise WirelabError(
                f"{len(links)} links and no factor that chooses among them",
                self.source.where(("links",)),
                hint=f"add to [factors]: link = [{names}]",
            )
        return next(iter(links), DEFAULT_LINK)

    def _link(self, point: Point, name: str) -> LinkSpec:
        document = self.source.document
        own = document.get("links", {}).get(name, {})
        varied = self._varied(point, name)
        levels = [nested(inner, point[factor.path]) for factor, inner in varied]
        base = document.get("link", {})
        try:
            # A link that is named after a profile is that one, whatever the default of every link.
            named = {"profile": name} if name not in self.file.links and name in profiles() else {}
            layers = (*reversed(levels), own, named, base)
            profile = next((layer["profile"] for layer in layers if "profile" in layer), None)
            below = [self._profile(point, name, profile).link] if isinstance(profile, str) else []
            merged = merge([base, *below, own, *levels])
            table = LinkTable.model_validate(merged, context=self.source.files)
            spec = link_spec(table, self.ask)
        except LinkConflictError as error:
            where = self.source.where(self._link_origin(point, name, tuple(error.key.split("."))))
            raise WirelabError(str(error), where, error.hint) from None
        except ValidationError as error:
            raise problems(error, LinkTable, lambda key: self.source.where(self._link_origin(point, name, key)))[
                0
            ] from None
        self.notes.update(dict.fromkeys(f"link {name}, {words}" for words in default_queues(table)))
        return spec

    def _topology(self, point: Point) -> tuple[TopologyLink, ...]:
        found = []
        for index, (name, near, far) in enumerate(ordered(self.file.topology) if self.file.topology else []):
            table = self.file.topology[name]
            own = link_of(name, table, self.file.links) or self._chosen_link(point)
            link = self._link(point, own) if index else None
            found.append(TopologyLink(name=name, near=tuple(near), far=tuple(far), link=link))
        return tuple(found)

    def _behind(self, point: Point, protocol: ProtocolDescription) -> Origin | None:
        """The server behind the proxy, where this protocol's clients ask one."""
        proxy = self.file.endpoints.proxy
        if proxy is None or protocol.name not in proxy.protocols:
            return None
        origin = self._players.played(SERVER, protocol)
        return Origin(protocol=origin.name, settings=self._settings(point, origin))

    def _traffic(self, point: Point) -> tuple[Traffic, ...]:
        """The background traffic; traffic without flows is left out."""
        found: dict[str, TrafficTable] = {}
        for name, table in self.source.document.get("traffic", {}).items():
            varied = {f.parts[2]: point[f.path] for f in self._factors(point, "traffic") if named(f.parts[1], [name])}
            found[name] = TrafficTable.model_validate({**table, **varied})

        def where(path: Path) -> Where:
            return self.source.where(self._origin(point, ".".join(map(str, path)), path))

        # Each level is right by itself; what they make together is known only now.
        if (wrong := next(check_traffic(self.file.topology, found, where), None)) is not None:
            raise wrong
        traffic = (table.traffic(name) for name, table in found.items())
        return tuple(each for each in traffic if each.flows)

    def _profile(self, point: Point, name: str, profile: str) -> Profile:
        try:
            return self.source.profile(profile)
        except WirelabError as error:
            where = error.where or self.source.where(self._link_origin(point, name, ("profile",)))
            raise WirelabError(error.what, where, error.hint) from None

    def _varied(self, point: Point, name: str) -> list[tuple[Factor, tuple[str, ...]]]:
        """Factors of a link, weakest first, each with the path that it varies inside the link's table."""
        varied = [(factor, factor.parts[1:]) for factor in self._factors(point, "link")]
        varied += [(factor, factor.parts[2:]) for factor in self._factors(point, "links") if factor.parts[1] == name]
        return varied

    def _link_origin(self, point: Point, name: str, key: Path) -> Path:
        """Where a key of a link was written: the level that has it, the link's table, or the defaults."""
        for factor, inner in reversed(self._varied(point, name)):
            if inner[: len(key)] == key[: len(inner)] and point[factor.path] in factor.levels:
                return (*factor.origin, factor.levels.index(point[factor.path]))
        tables: tuple[Path, ...] = (("links", name), ("link",))
        for table in tables:
            if (*table, *key[:1]) in self.source.index:
                return (*table, *key)
        return ("links", name, *key) if name in self.file.links else ("factors", "link")

    def _workload(self, point: Point, protocol: str) -> WorkloadSpec:
        table = self._workload_table(point)
        varied = self._varied_workload(point, protocol)
        whole = {key[0] for _, key in varied if len(key) == 1}
        for factor, key in varied:
            level = nested(key, point[factor.path])
            if len(key) > 1 and isinstance(table.get(key[0]), dict):
                level = {key[0]: {**table[key[0]], **level[key[0]]}}
            elif len(key) > 1 and key[0] in whole:
                of = "a page" if key[0] == "page" else f"workload.{key[0]}"
                what = f'is a part of {of}, and "{table[key[0]]}" has none to vary'
                raise WirelabError(what, self.source.where(self._factor_origin(point, factor)))
            table |= level

        def where(key: Path) -> Where:
            # What parts come to together is said of the last of them.
            parts = (factor for factor, inner in reversed(varied) if inner[: len(key)] == key)
            found = next(parts, None)
            return self.source.where(("workload", *key) if found is None else self._factor_origin(point, found))

        try:
            return WorkloadTable.model_validate(table, context=self.source.files).spec(self.source.pages)
        except WorkloadKeyError as error:
            raise WirelabError(str(error), where(tuple(error.key.split("."))), error.hint) from None
        except ValidationError as error:
            raise problems(error, WorkloadTable, where)[0] from None

    def _varied_workload(self, point: Point, protocol: str) -> list[tuple[Factor, tuple[str, ...]]]:
        """Factors of the workload, weakest first, each with the path that it varies inside the workload's table."""
        of_all = [*self._factors(point, "workload"), *self._factors(point, "protocols")]
        varied = [(factor, key) for factor in of_all if (key := factor.workload_key(protocol)) is not None]
        # A table before its parts, whichever was written first.
        return sorted(
            varied, key=lambda pair: (pair[0].parts[0] != "workload", pair[0].table != "factors", len(pair[1]))
        )

    def _workload_table(self, point: Point) -> dict[str, Any]:
        """The defaults of every workload, and the named one's own."""
        name = point.get("workload", next(iter(self.file.workloads), None))
        if len(self.file.workloads) > 1 and "workload" not in point:
            names = ", ".join(f'"{each}"' for each in self.file.workloads)
            what = f"{len(self.file.workloads)} workloads and no factor that chooses among them"
            hint = f"add to [factors]: workload = [{names}]"
            raise WirelabError(what, self.source.where(("workloads",)), hint)
        return {**self.source.document.get("workload", {}), **self.source.document.get("workloads", {}).get(name, {})}

    def _kind(self, point: Point) -> str:
        kind: str = point.get("workload.kind") or self._workload_table(point).get("kind", self.file.workload.kind)
        return kind

    def _settings(self, point: Point, protocol: ProtocolDescription) -> dict[str, SettingValue]:
        layers = [self.file.protocol, self.file.protocols.get(protocol.name, {})]
        layers += [{factor.parts[1]: point[factor.path]} for factor in self._factors(point, "protocol")]
        layers += [
            {factor.parts[2]: point[factor.path]}
            for factor in self._factors(point, "protocols")
            if factor.parts[1] == protocol.name and len(factor.parts) == 3
        ]
        return resolve_settings(protocol, layers)

    def _program_settings(self, point: Point, implementation: Mapping[str, str]) -> dict[str, dict[str, SettingValue]]:
        """Of the programs that play and have some."""
        known, played = own_settings(self.source.programs), sorted({*implementation.values()})
        varied = self._factors(point, "programs")
        return {
            name: resolve_settings(
                known[name],
                [
                    self.file.programs.get(name, {}),
                    *({factor.parts[2]: point[factor.path]} for factor in varied if factor.parts[1] == name),
                ],
            )
            for name in played
            if name in known
        }

    def _cpu(self, point: Point) -> dict[str, float]:
        """Of the hosts that have a limit."""
        found = {}
        for role in ROLES:
            written = [point[path] for path in (f"{role}.cpu", f"endpoints.{role}.cpu") if path in point]
            shares = [cpu_share(level) for level in written] or [getattr(self.file.endpoints, role).cpu]
            found[role] = shares[-1]
        return {role: share for role, share in found.items() if share is not None}

    def _factors(self, point: Point, head: str) -> list[Factor]:
        """The point's factors below one table, the grid's before those around it; of a path the one with the level."""
        found: dict[str, Factor] = {}
        for factor in self.factors:
            if factor.path in point and (factor.path not in found or point[factor.path] in factor.levels):
                found[factor.path] = factor
        return [factor for factor in found.values() if factor.parts[0] == head and len(factor.parts) > 1]

    def _is_played(self, path: str, implementation: Mapping[str, str]) -> bool:
        """Whether a factor is not that of a program which plays no role."""
        table, *names = path.split(".")
        return table != "programs" or names[0] in implementation.values()

    def _touches(self, point: Point, path: str, protocol: ProtocolDescription, link_name: str) -> bool:
        touches = True
        match path.split("."):
            case ["implementation"]:
                touches = bool(self._players.roles(point[path], protocol.name))
            case ["protocol", setting]:
                touches = protocol.setting(setting) is not None
            case ["protocols", name, *rest]:
                touches = name == protocol.name and (rest[:1] != ["workload"] or self._has(point, rest[1:]))
            case ["links", name, *_]:
                touches = name in {link_name, *taken_links(self.file.topology, self.file.links)}
            case ["link"]:
                touches = not self.file.topology or chooses(self.file.topology, self.file.links)
            case ["workload", *key]:
                touches = self._has(point, key)
        return touches

    def _has(self, point: Point, key: Sequence[str]) -> bool:
        """Whether the point's kind of workload has a key."""
        return key[:1] in ([], ["kind"]) or key[0] in KEYS[self._kind(point)]

    def _origin(self, point: Point, path: str, otherwise: Path) -> Path:
        paths = {path, f"protocols.{point['protocol']}.{path}"} if path.startswith("workload.") else {path}
        for factor in self.factors:
            if ".".join(factor.parts) in paths and factor.path in point and point[factor.path] in factor.levels:
                return self._factor_origin(point, factor)
        return otherwise

    def _factor_origin(self, point: Point, factor: Factor) -> Path:
        """Where the level of a factor that the point has was written."""
        return (*factor.origin, factor.levels.index(point[factor.path]))
