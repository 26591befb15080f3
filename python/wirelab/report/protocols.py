"""The data plane's description of each registered protocol, with a fallback for unknown ones."""

from __future__ import annotations

from wirelab.errors import RunError
from wirelab.schema import ProtocolDescription, registered
from wirelab.schema.record import CampaignRecord

BUILTIN, TO = "builtin", " to "


def describe(protocol: str) -> ProtocolDescription | None:
    """The description of a protocol, None if this version does not know it."""
    try:
        return registered().protocol(protocol)
    except RunError:
        return None


def provider(protocol: str, implementation: str, record: CampaignRecord | None) -> str:
    """The programs of client and server, with versions as far as the campaign recorded them."""
    programs = {} if record is None else record.implementations

    def words(name: str) -> str:
        version = (programs[name].version if name in programs else None) or "version not recorded"
        return f"builtin ({libraries(protocol)})" if name == BUILTIN else f"{name} ({version})"

    client, _, server = implementation.partition(TO)
    return f"client {words(client)}, server {words(server)}" if server else words(client)


def by_proxy(origin: str | None) -> str:
    """The words for a proxy that speaks another protocol to the server."""
    return f"by a proxy, {origin} to the server"


def libraries(protocol: str) -> str:
    """The libraries of a built-in protocol, with versions."""
    described = describe(protocol)
    return ", ".join(described.libraries) if described and described.libraries else "library versions not recorded"


def title(protocol: str) -> str:
    """A protocol's layers, or its name."""
    described = describe(protocol)
    return described.title if described else protocol


def is_secure(protocol: str) -> bool | None:
    """Whether it encrypts; None if unknown."""
    described = describe(protocol)
    return described.secure if described else None


def is_reference(protocol: str) -> bool:
    """Whether it is a reference without an application protocol: the lower bound for all others."""
    described = describe(protocol)
    return described is not None and described.echo
