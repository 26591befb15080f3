"""What the data plane says of each registered stack; words for stacks that it does not know."""

from __future__ import annotations

from typing import Any

from wirelab.errors import RunError
from wirelab.schema import StackDescription, registered

BUILTIN, TO = "builtin", " to "


def describe(stack: str) -> StackDescription | None:
    """The description of a stack, None if this version has none of that name."""
    try:
        return registered().stack(stack)
    except RunError:
        return None


def provider(stack: str, implementation: str, record: dict[str, Any]) -> str:
    """Whose code plays client and server, with versions as far as the campaign recorded them."""
    programs = record.get("implementations") or {}

    def words(name: str) -> str:
        version = (programs.get(name) or {}).get("version") or "version not recorded"
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
