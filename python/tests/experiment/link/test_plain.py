from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import ValidationError

from wirelab.errors import Where
from wirelab.experiment.file.problems import problems
from wirelab.experiment.link.plain import plain_keys
from wirelab.schema import DropTail
from wirelab.schema.base import Border, Probability, Unsigned, Unsigned32


class DropEvery(Border):
    """Every so many packets one is lost."""

    kind: Literal["drop-every"] = "drop-every"
    n: Unsigned32


class Stall(Border):
    """Packets that wait."""

    kind: Literal["stall"] = "stall"
    by_ns: Unsigned
    share: Probability
    above_bytes: Unsigned | None = None
    below_bps: Unsigned = 0
    first_only: bool = False


class Behind(Border):
    """One that has a queue."""

    kind: Literal["behind"] = "behind"
    queue: DropTail


KEYS = plain_keys([DropEvery, Stall, Behind])


def read(**table: Any) -> Any:
    return KEYS.model_validate({key.replace("_", "-"): value for key, value in table.items()})


def refusal(**table: Any) -> str:
    with pytest.raises(ValidationError) as raised:
        read(**table)
    return str(problems(raised.value, KEYS, lambda key: Where("link.toml", key=".".join(map(str, key))))[0])


def test_an_impairments_key_is_its_kind_with_its_parameters() -> None:
    assert read(drop_every={"n": 10}).drop_every == DropEvery(n=10)
    assert read().drop_every is None


def test_a_single_parameter_needs_no_table() -> None:
    assert read(drop_every=10).drop_every == DropEvery(n=10)


def test_a_later_layer_can_remove_it() -> None:
    assert read(drop_every="none").drop_every is None


def test_parameters_have_the_units_of_their_names() -> None:
    found = read(stall={"by": "5 ms", "share": "10 %", "above": "1 kB", "below": "8 kbit/s", "first-only": True})
    assert found.stall == Stall(by_ns=5_000_000, share=0.1, above_bytes=1000, below_bps=8000, first_only=True)
    assert read(stall={"by": "5 ms", "share": "10 %"}).stall == Stall(by_ns=5_000_000, share=0.1)


def test_an_impairment_with_more_than_single_values_has_no_such_key() -> None:
    assert set(KEYS.model_fields) == {"drop_every", "stall"}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"drop_every": {"n": "ten"}}, "drop-every.n: "),
        ({"drop_every": {"n": -1}}, "drop-every.n: "),
        ({"drop_every": {"m": 1}}, "drop-every.m: unknown key"),
        ({"drop_every": {}}, "drop-every.n: "),
        ({"stall": {"by": "5", "share": "1 %"}}, "stall.by: "),
        ({"stall": {"by": "5 ms", "share": "200 %"}}, "stall.share: is more than 100 %"),
        ({"stall": "5 ms"}, "stall: should be a table"),
    ],
)
def test_a_wrong_value_is_refused_with_its_key(table: dict[str, Any], message: str) -> None:
    assert f"link.toml: {message}" in refusal(**table)


def test_the_schema_for_editors_has_all_forms() -> None:
    schema = KEYS.model_json_schema(by_alias=True)
    assert {"type": "integer", "minimum": 0, "exclusiveMaximum": 2**32} in schema["properties"]["drop-every"]["anyOf"]
    assert schema["properties"]["stall"]["description"] == "Packets that wait."
