"""What every type of the border is held to."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from wirelab.schema import HostFacts
from wirelab.schema.base import Border, Received, canonical_json
from wirelab.schema.plan import Plan

UNITS = ("_ns", "_ns_per_byte", "_s", "_bytes", "_bps", "_hz", "_mah", "_v", "_in_unit")
"""The last: in the unit that the record's field `unit` names."""
RATIOS = {"relative", "share", "probability", "loss", "frame_loss", "first", "again", "design_effect", "variance"}


def _types(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _types(kind)


def test_every_float_of_the_border_has_a_unit_or_bounds() -> None:
    """Invariant 7: a unit in the name, or bounds that make it a probability."""
    types = {*_types(Border), *_types(Received)}
    assert {Plan, HostFacts} <= types
    floats = [
        (f"{kind.__name__}.{name}", bool(field.metadata))
        for kind in types
        for name, field in kind.model_fields.items()
        if field.annotation in {float, float | None}
    ]
    assert ("Loss.probability", True) in floats
    assert [
        path for path, is_bounded in floats if not (is_bounded or path.endswith(UNITS) or path.split(".")[1] in RATIOS)
    ] == []


def test_canonical_json_does_not_depend_on_the_order_of_keys() -> None:
    assert canonical_json({"b": 1, "a": [2, {"d": 3, "c": 4}]}) == canonical_json({"a": [2, {"c": 4, "d": 3}], "b": 1})
