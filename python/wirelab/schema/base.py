"""The base of all border models."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1
"""`SCHEMA_VERSION` of `crates/wirelab-schema`; part of every scenario's key."""

Unsigned = Annotated[int, Field(ge=0)]
Unsigned32 = Annotated[int, Field(ge=0, lt=2**32)]
Probability = Annotated[float, Field(ge=0, le=1)]


def is_default(value: object) -> bool:
    """Whether a number or a switch is 0 or off: the data plane skips it then."""
    return not value


class Border(BaseModel):
    """A frozen model that refuses unknown keys and writes JSON as the data plane reads it.

    Its validator is built when it is used first: a verb uses few of the models that it imports.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; keys that the data plane skips when absent are left out."""
        return self.model_dump(mode="json", exclude_none=True)


class Received(BaseModel):
    """A frozen model of what the data plane writes; keys that a newer one adds are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


def canonical_json(value: Any) -> str:
    """One text for one value: sorted keys, no spaces. Digests and seeds are taken from it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
