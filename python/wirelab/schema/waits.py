"""Whether a protocol's subscribers can wait as a workload says, by its description."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from wirelab.schema.describe import ProtocolDescription
from wirelab.schema.endpoint import SettingValue
from wirelab.schema.workload import PubSub, WorkloadSpec

_WHAT = {"check-in": "keeps nothing for a subscriber that is away", "poll": "fetches nothing by request"}
_HINT = {"check-in": 'wait = { check-in = "10 min" }', "poll": 'wait = { poll = "10 min" }'}


class Refusal(NamedTuple):
    """Why it does not go, and what does."""

    what: str
    hint: str


def lacks_wait(protocol: ProtocolDescription, workload: WorkloadSpec) -> Refusal | None:
    """Of a protocol that has no such way of waiting. Of one of the user's own nothing is known."""
    by = _way(workload)
    if by is None or not protocol.builtin or protocol.waiting(by) is not None:
        return None
    hint = " or ".join(_HINT[each.by] for each in protocol.waits) or 'wait = "connected"'
    return Refusal(f"{protocol.name} {_WHAT[by]}", hint)


def lacks_setting(
    protocol: ProtocolDescription, workload: WorkloadSpec, settings: Mapping[str, SettingValue]
) -> Refusal | None:
    """Of a way of waiting that a setting takes away."""
    by = _way(workload)
    known = None if by is None else protocol.waiting(by)
    for need in () if known is None else known.needs:
        setting = protocol.setting(need.setting)
        value = settings.get(need.setting, None if setting is None else setting.default)
        if value not in need.values:
            what = f"a {by} needs {need.what} ({need.setting} = {json.dumps(value)})"
            return Refusal(what, f"[protocols.{protocol.name}] {need.setting} = {json.dumps(need.values[0])}")
    return None


def _way(workload: WorkloadSpec) -> str | None:
    """How its subscribers wait, if they do not stay connected."""
    by = workload.wait.by if isinstance(workload, PubSub) else "connected"
    return None if by == "connected" else by
