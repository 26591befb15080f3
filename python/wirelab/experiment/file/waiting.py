"""How a subscriber waits, as written, and the `Wait` that it means."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from wirelab.schema.workload import CheckIn, Connected, Poll, Wait
from wirelab.units import UnitError, duration_ns, format_duration

STAY = "2 s"
"""How long a check-in stays without a message, unless it says."""
FORMS = '"connected", { check-in = "10 min", stay = "2 s" }, { poll = "10 min" }'


def read_wait(value: object) -> Wait:
    """`"connected"`, or a table with the time from one contact to the next."""
    match value:
        case "connected":
            return Connected()
        case {"check-in": every, **rest} if not rest.keys() - {"stay"}:
            every_ns, stay_ns = _positive("a check-in", every), _positive("a stay", rest.get("stay", STAY))
            if stay_ns >= every_ns:
                stays, checks_in = format_duration(stay_ns), format_duration(every_ns)
                raise UnitError(f"stays {stays}, and checks in every {checks_in}", hint="a shorter stay")
            return CheckIn(every_ns=every_ns, stay_ns=stay_ns)
        case {"poll": every, **rest} if not rest:
            return Poll(every_ns=_positive("a poll", every))
    raise UnitError("is not a way of waiting", hint=f"write {FORMS}")


def _positive(what: str, value: object) -> int:
    found = duration_ns(value, "min")
    if found == 0:
        raise UnitError(f"{what} needs a time of more than 0", hint='such as "10 min"')
    return found


WrittenWait = Annotated[
    Wait,
    BeforeValidator(read_wait),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["connected"]},
                {
                    "type": "object",
                    "required": ["check-in"],
                    "properties": {key: {"type": "string"} for key in ("check-in", "stay")},
                },
                {"type": "object", "required": ["poll"], "properties": {"poll": {"type": "string"}}},
            ]
        }
    ),
]
