"""One point of the grid, resolved: everything that determines what its trials do."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wirelab.experiment.grid.points import Point
from wirelab.schema import LinkFacts, LinkSpec, RestartPlan, WorkloadSpec, canonical_json
from wirelab.schema.endpoint import SettingValue
from wirelab.schema.request import OWN, own_words
from wirelab.schema.topology import Origin, TopologyLink, Traffic
from wirelab.site import page_words

IDENTITY_VERSION = 1
"""Of what `Scenario.identity` says. Seeds of trials are drawn from its link and this version, the order of trials and
the random numbers of estimates from all of it. Another vocabulary or another form of the same scenario needs a
translation to this one, or a new version.
"""


def link_identity(link: LinkSpec) -> dict[str, Any]:
    """The link's part of an identity, from which the seeds of trials are drawn: protocols on one link share them."""
    return link.to_json()


@dataclass(frozen=True)
class Scenario:
    """A resolved point. `points` are the places of the grid that it stands for: a factor that does not touch it (a loss
    direction where nothing is lost) makes several; `levels` are those of the first that do."""

    name: str
    levels: Mapping[str, Any]
    points: tuple[Point, ...]
    protocol: str
    settings: Mapping[str, SettingValue]
    implementation: Mapping[str, str]
    link_name: str
    link: LinkSpec
    workload: WorkloadSpec
    congestion_control: str
    topology: tuple[TopologyLink, ...] = ()
    """The client's link first; none where a client and a server are alone."""
    traffic: tuple[Traffic, ...] = ()
    origin: Origin | None = None
    """The server that a proxy asks; without a proxy none."""
    cpu: Mapping[str, float] = field(default_factory=dict)
    """Share of one CPU that a role's host has, where it has less than the machine."""
    program_settings: Mapping[str, Mapping[str, SettingValue]] = field(default_factory=dict)
    """Settings of the programs, in addition to those of the protocol."""
    restart: RestartPlan | None = None
    """Outages of the server."""
    facts: tuple[LinkFacts, ...] = field(default=(), compare=False, repr=False)
    """What is known of its `links`, in their order. They follow from the links and identify nothing."""

    @property
    def links(self) -> tuple[LinkSpec, ...]:
        """What its links are like, the client's first."""
        return (self.link, *(each.link for each in self.topology if each.link is not None))

    def identity(self) -> dict[str, Any]:
        """What determines the scenario's trials, without any name that is only for people. Equal ones are one
        scenario.
        """
        identity: dict[str, Any] = {
            "version": IDENTITY_VERSION,
            "stack": self.protocol,
            "settings": dict(self.settings),
            "implementation": dict(self.implementation),
            "link": link_identity(self.link),
            "workload": _in_version_1(_without_page_name(self.workload.to_json())),
            "congestion_control": self.congestion_control,
        }
        if self.topology:
            identity["topology"] = [link.to_json() for link in self.topology]
        if self.traffic:
            identity["traffic"] = [each.to_json() for each in self.traffic]
        if self.origin is not None:
            identity["origin"] = {"stack": self.origin.protocol, "settings": dict(self.origin.settings)}
        if self.cpu:
            identity["cpu"] = dict(self.cpu)
        if self.program_settings:
            identity["program_settings"] = {name: dict(each) for name, each in self.program_settings.items()}
        if self.restart is not None:
            identity["restart"] = self.restart.model_dump(mode="json")
        return identity

    def digest(self) -> str:
        """SHA-256 of the identity's canonical JSON, in hexadecimal."""
        return hashlib.sha256(canonical_json(self.identity()).encode()).hexdigest()


_KINDS = {"telemetry": "deliver", "pubsub": "notify"}
_POLICIES = {"new": "fresh", "persistent": "kept"}
"""Words of version 1 for what has another name now: a new name changes no draw."""


def path_in_version_1(path: str) -> str:
    """A factor's path in the words of version 1."""
    return re.sub(r"^protocol(?=s?(\.|$))", "stack", path)


def _in_version_1(workload: dict[str, Any]) -> dict[str, Any]:
    """A workload in the words of version 1 of identities."""
    found = {**workload, "kind": _KINDS.get(workload["kind"], workload["kind"])}
    if (connection := workload.get("connection")) is not None:
        found["connection"] = {**connection, "policy": _POLICIES.get(connection["policy"], connection["policy"])}
    return found


def _without_page_name(workload: dict[str, Any]) -> dict[str, Any]:
    """A page is its digest."""
    page = workload.get("page")
    return workload if page is None else {**workload, "page": {key: page[key] for key in page if key != "name"}}


def shorten(level: Any) -> str | int | float | bool:
    """A level as written; a table or list as one line of text."""
    return level if isinstance(level, str | int | float | bool) else json.dumps(level, ensure_ascii=False)


def label(path: str, level: Any) -> str:
    """A level for people."""
    if path == "workload.page":
        return page_words(str(level))
    if path in OWN:
        return own_words(str(level))
    return str(level).lower() if isinstance(level, bool) else str(level)
