"""The manifest of a page: what a browser would fetch for it, in which order, and when it can know of each.

Positions are in bytes of bodies, so that a client finds out what to fetch next as the bytes arrive.
"""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import Literal, Self
from urllib.parse import unquote

from pydantic import Field, ValidationError, field_validator, model_validator

from wirelab.errors import Where, WirelabError
from wirelab.schema.base import Border, Unsigned, canonical_json

VERSION: Literal[1] = 1


class Kind(StrEnum):
    """What a resource is used as: a browser's priorities go by it, whatever the file's name says."""

    DOCUMENT = "document"
    STYLESHEET = "stylesheet"
    SCRIPT = "script"
    IMAGE = "image"
    FONT = "font"
    OTHER = "other"


class Reason(StrEnum):
    """Why what a page names is not among its resources."""

    ELSEWHERE = "elsewhere"
    """Its URL names a host, or a scheme other than HTTP."""
    EMBEDDED = "embedded"
    """Video, audio, tracks, plug-ins: how much of them is fetched is up to a player."""


class Resource(Border):
    """One answer that a page needs."""

    path: str
    """Path and query as a request has them: percent-encoded, from the root."""
    body_bytes: Unsigned
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """Of the body."""
    media_type: str
    kind: Kind
    parent: Unsigned | None = None
    """Index of the resource that names it; none for the page's own document."""
    at_bytes: Unsigned = 0
    """It is known as soon as so many bytes of the parent's body have arrived."""
    blocking: bool = False
    """Rendering cannot begin before it is there."""

    @property
    def file(self) -> str:
        """The name of its file, relative to the site's folder."""
        return unquote(self.path.partition("?")[0]).lstrip("/")

    @field_validator("path")
    @classmethod
    def _stays_inside(cls, path: str) -> str:
        names = unquote(path.partition("?")[0]).split("/")
        if not path.startswith("/") or not path.isascii() or names[-1] == "" or "\0" in path:
            raise ValueError("is not the path of a file")
        if {".", ".."} & set(names):
            raise ValueError("has a dot segment")
        return path


class LeftOut(Border):
    """A URL that a page names and that is not among its resources."""

    url: str
    parent: Unsigned
    why: Reason


class Site(Border):
    """What a page is made of. The document is first, and each resource stands behind its parent, in the order of
    discovery: a parent's by their places in it, the document's before those of what it names.
    """

    schema_version: Literal[1] = VERSION
    resources: tuple[Resource, ...] = Field(min_length=1)
    left_out: tuple[LeftOut, ...] = ()

    @property
    def document(self) -> Resource:
        return self.resources[0]

    @property
    def body_bytes(self) -> int:
        """Of all resources."""
        return sum(resource.body_bytes for resource in self.resources)

    @property
    def digest(self) -> str:
        """SHA-256 of the manifest, and with it of every body: the same page has the same on every machine."""
        return hashlib.sha256(canonical_json(self.to_json()).encode()).hexdigest()

    @classmethod
    def from_json(cls, text: str | bytes, where: Where) -> Self:
        """Read what `to_json` gave."""
        hint = "have the manifest written anew"
        try:
            version = json.loads(text)["schema_version"]
        except (ValueError, RecursionError) as error:
            raise WirelabError(f"is not JSON: {error}", where, hint) from None
        except (TypeError, KeyError):
            raise WirelabError("is not a manifest of a page: it has no schema_version", where, hint) from None
        if version != VERSION:
            raise WirelabError(f"its schema_version is {version}, this build's is {VERSION}", where, hint)
        try:
            return cls.model_validate_json(text, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(map(str, first["loc"])) or None
            raise WirelabError(first["msg"].removeprefix("Value error, "), Where(where.source, key=key), hint) from None

    @model_validator(mode="after")
    def _is_a_tree(self) -> Self:
        seen: set[str] = set()
        for index, resource in enumerate(self.resources):
            if resource.path in seen:
                raise ValueError(f"{resource.path} is there twice")
            seen.add(resource.path)
            if index == 0:
                if resource.parent is not None or resource.kind is not Kind.DOCUMENT or resource.at_bytes:
                    raise ValueError(f"{resource.path} is first and no page's document")
            elif resource.parent is None or resource.parent >= index:
                raise ValueError(f"{resource.path} does not follow its parent")
            elif resource.at_bytes > (most := self.resources[resource.parent].body_bytes):
                raise ValueError(f"{resource.path} is found at byte {resource.at_bytes} of {most}")
        if stray := [each.url for each in self.left_out if each.parent >= len(self.resources)]:
            raise ValueError(f"{stray[0]} has no parent")
        return self
