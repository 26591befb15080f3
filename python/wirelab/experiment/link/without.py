"""A link without some of what it does to packets."""

from __future__ import annotations

from wirelab.schema import LinkSpec
from wirelab.schema.exact import WAYS
from wirelab.schema.link_spec import SLOTS

SCHEDULE = "schedule"
"""It stands where a rate stands, and changes delay and loss as well."""


def without_slots(link: LinkSpec, *slots: str) -> LinkSpec:
    """Without the stages of these slots. A schedule stays."""
    stages: dict[str, object] = {
        way: tuple(stage for stage in getattr(link, way) if SLOTS[stage.kind] not in slots or stage.kind == SCHEDULE)
        for way in WAYS
    }
    return link.model_copy(update=stages)


def without_schedule(link: LinkSpec) -> LinkSpec:
    """Without what changes with time."""
    stages: dict[str, object] = {
        way: tuple(stage for stage in getattr(link, way) if stage.kind != SCHEDULE) for way in WAYS
    }
    return link.model_copy(update=stages)
