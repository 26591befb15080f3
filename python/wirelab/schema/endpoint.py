"""The parameter file of an endpoint (`crates/wirelab-schema/src/endpoint.rs`, `docs/contract.md`)."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from wirelab.schema.base import SCHEMA_VERSION, Border, Unsigned
from wirelab.schema.workload import WorkloadSpec

SettingValue = bool | int | str


class Role(StrEnum):
    """The role of an endpoint in its trial."""

    CLIENT = "client"
    SERVER = "server"
    PUBLISHER = "publisher"
    PROXY = "proxy"


class ServerAddress(Border):
    """Where the server listens; `name` is the one in its certificate."""

    address: str
    port: int
    name: str


class ClientCertificate(Border):
    """PEM files of the clients' certificate."""

    chain: Path
    key: Path


class Certificates(Border):
    """PEM files of the campaign."""

    authority: Path
    chain: Path
    key: Path
    client: ClientCertificate | None = None


class PageFiles(Border):
    """The paths of the page for endpoints of the workload `page`."""

    manifest: Path
    folder: Path
    """Of the resources' files; a client reads the manifest alone."""


class EndpointParameters(Border):
    """All that an endpoint gets."""

    schema_version: int = SCHEMA_VERSION
    protocol: str
    role: Role
    server: ServerAddress
    upstream: ServerAddress | None = None
    settings: dict[str, SettingValue]
    workload: WorkloadSpec
    page: PageFiles | None = None
    certificates: Certificates | None = None
    output: Path
    seed: Unsigned
