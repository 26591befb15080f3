"""What the data plane says of each registered protocol; words for protocols that it does not know."""

from __future__ import annotations

from wirelab.errors import RunError
from wirelab.schema import ProtocolDescription, registered
from wirelab.schema.record import CampaignRecord

BUILTIN, TO = "builtin", " to "


def describe(protocol: str) -> ProtocolDescription | None:
    """The description of a protocol, None if this version has none of that name."""
    try:
        return registered().protocol(protocol)
    except RunError:
        return None


def provider(protocol: str, implementation: str, record: CampaignRecord | None) -> str:
    """Whose code plays client and server, with versions as far as the campaign recorded them."""
    programs = {} if record is None else record.implementations

    def words(name: str) -> str:
        version = (programs[name].version if name in programs else None) or "version not recorded"
        return f"builtin ({libraries(protocol)})" if name == BUILTIN else f"{name} ({version})"

    client, _, server = implementation.partition(TO)
    return f"client {words(client)}, server {words(server)}" if server else words(client)


def by_proxy(origin: str | None) -> str:
    """How a protocol reaches a server that speaks another one."""
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
    """Whether a protocol has no application protocol: it shows how fast anything could be."""
    described = describe(protocol)
    return described is not None and described.echo
