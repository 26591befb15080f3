"""What the data plane says of each registered stack; words for stacks that it does not know."""

from __future__ import annotations

from wirelab.errors import RunError
from wirelab.schema import StackDescription, registered
from wirelab.schema.record import CampaignRecord

BUILTIN, TO = "builtin", " to "


def describe(stack: str) -> StackDescription | None:
    """The description of a stack, None if this version has none of that name."""
    try:
        return registered().stack(stack)
    except RunError:
        return None


def provider(stack: str, implementation: str, record: CampaignRecord | None) -> str:
    """Whose code plays client and server, with versions as far as the campaign recorded them."""
    programs = {} if record is None else record.implementations

    def words(name: str) -> str:
        version = (programs[name].version if name in programs else None) or "version not recorded"
        return f"builtin ({libraries(stack)})" if name == BUILTIN else f"{name} ({version})"

    client, _, server = implementation.partition(TO)
    return f"client {words(client)}, server {words(server)}" if server else words(client)


def by_proxy(origin: str | None) -> str:
    """How a stack reaches a server that speaks another one."""
    return f"by a proxy, {origin} to the server"


def libraries(stack: str) -> str:
    """The libraries of a built-in stack, with versions."""
    described = describe(stack)
    return ", ".join(described.libraries) if described and described.libraries else "library versions not recorded"


def title(stack: str) -> str:
    """A stack's layers, or its name."""
    described = describe(stack)
    return described.title if described else stack


def is_secure(stack: str) -> bool | None:
    """Whether it encrypts; None if unknown."""
    described = describe(stack)
    return described.secure if described else None


def is_reference(stack: str) -> bool:
    """Whether a stack has no application protocol: it shows how fast anything could be."""
    described = describe(stack)
    return described is not None and described.echo
