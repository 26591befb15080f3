"""Layers of a link as written, merged to one table.

Each layer overrides the one before: the `[link]` defaults, a named profile, `[links.NAME]`, then the levels of factors.
Some keys say the same thing in several ways (`rtt` and `delay`, the kinds of loss, the kinds of rate): a later layer's
key replaces all of them. What a later layer says of the link it says of both directions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from wirelab.experiment.link.signal import resolve
from wirelab.schema.link_spec import SLOTS
from wirelab.units import UnitError, level_dbm

DELAYS = ("rtt", "delay")
LOSSES = tuple(kind for kind, slot in SLOTS.items() if slot == "loss")
RATES = ("rate", "trace", "schedule")
WAYS = ("uplink", "downlink")
MERGED = ("medium", "radio", "nat")
"""Tables of which a layer may have a part; the whole is judged when the layers are merged."""

_COMPANIONS = {"loss": ("loss-correlation",), "rate": ("burst", "duty-cycle")}
"""Keys that belong to one key of a group and go with it."""
_SAME = (DELAYS, LOSSES, RATES, ("burst", "duty-cycle"))
_TAGS = ("kind", "discipline", "distribution")
_SOURCES = {
    "jitter": ("offsets", "file"),
    "loss-pattern": ("every", "pattern", "file"),
    "schedule": ("points", "file"),
}


class LinkConflictError(ValueError):
    """Keys of one link that contradict one another; `key` is dotted from the link's table."""

    def __init__(self, key: str, what: str, hint: str | None) -> None:
        super().__init__(what)
        self.key = key
        self.hint = hint


def merge(layers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One table out of layers as written; a later layer wins."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for part in (_by_signal(merged, layer), layer):
            _lay(merged, part)
    return merged


def without_parts(layer: Any) -> Any:
    """A layer as written without what can only be judged with the layers below it."""
    if not isinstance(layer, Mapping):
        return layer
    return {key: value for key, value in layer.items() if not (key in MERGED and isinstance(value, Mapping))}


def check_conflicts(table: Mapping[str, Any]) -> None:
    """Refuse keys of one layer that contradict one another."""
    _one_of(table, DELAYS, "give the round trip or the one-way delay")
    _check_side(table, "")
    for way in WAYS:
        side = table.get(way)
        if not isinstance(side, Mapping):
            continue
        _check_side(side, f"{way}.")
        if "delay" in side and "rtt" in table:
            raise LinkConflictError(
                "rtt", f"rtt is split equally, but {way} has its own delay", "give uplink.delay and downlink.delay"
            )
        if table.get("direction", "both") != "both" and any(key in side for key in LOSSES):
            raise LinkConflictError(
                "direction", f"direction says which way loss acts, and {way} does too", "remove one of them"
            )


def _check_side(side: Mapping[str, Any], prefix: str) -> None:
    _one_of(side, LOSSES, "give one kind of loss", prefix)
    _one_of(side, RATES, "give one kind of rate", prefix)
    _one_of(side, ("burst", "duty-cycle"), "a rate is a token bucket or has a duty cycle", prefix)
    for group, hint in ((LOSSES, "it belongs to loss"), (RATES, "it belongs to rate")):
        for key in group[1:]:
            _one_of(side, (key, *_COMPANIONS[group[0]]), hint, prefix)


def _one_of(table: Mapping[str, Any], keys: tuple[str, ...], hint: str, prefix: str = "") -> None:
    present = [key for key in keys if key in table]
    if len(present) > 1:
        raise LinkConflictError(prefix + present[1], f"{present[0]} and {present[1]} exclude one another", hint)


def _by_signal(merged: Mapping[str, Any], layer: Mapping[str, Any]) -> dict[str, Any]:
    """What the signal level means, at the layer that completes it."""
    if "signal" not in layer and "technology" not in layer:
        return {}
    level, technology = (layer.get(key, merged.get(key)) for key in ("signal", "technology"))
    if level is None or technology is None:
        return {}
    key = "signal" if "signal" in layer else "technology"
    media = [table for table in (merged.get("medium"), layer.get("medium")) if isinstance(table, Mapping)]
    if [table["kind"] for table in media if "kind" in table][-1:] != ["wifi"]:
        raise LinkConflictError(key, f"{key} needs a medium of kind wifi", 'such as profile = "wifi-n"')
    try:
        return {"medium": {"kind": "wifi", **resolve(str(technology), level_dbm(level))}}
    except UnitError as error:
        raise LinkConflictError(key, str(error), error.hint) from None


def _lay(merged: dict[str, Any], layer: Mapping[str, Any]) -> None:
    _displace(merged, layer, keep=layer)
    for way in WAYS:
        if isinstance(merged.get(way), Mapping):
            own = layer.get(way)
            merged[way] = dict(merged[way])
            _displace(merged[way], layer, keep={})
            if isinstance(own, Mapping):
                _displace(merged[way], own, keep=own)
    _overlay(merged, layer)


def _displace(below: dict[str, Any], above: Mapping[str, Any], *, keep: Mapping[str, Any]) -> None:
    """Drop what `above` decides again, but not the keys of `keep`, which are laid over."""
    for key in above:
        if key in WAYS:
            continue
        group = next((group for group in _SAME if key in group), (key,))
        for other in group:
            if other not in keep:
                below.pop(other, None)
            if other != key:
                for companion in _COMPANIONS.get(other, ()):
                    below.pop(companion, None)


def _overlay(below: dict[str, Any], above: Mapping[str, Any]) -> None:
    for key, value in above.items():
        own = below.get(key)
        if isinstance(value, Mapping) and isinstance(own, Mapping) and _goes_on(key, own, value):
            below[key] = dict(own)
            _overlay(below[key], value)
        else:
            below[key] = value


def _goes_on(key: str, below: Mapping[str, Any], above: Mapping[str, Any]) -> bool:
    """Whether `above` changes parts of the same table; another kind or another source is another table."""
    if any(source in above for source in _SOURCES.get(key, ())):
        return False
    return all(above[tag] == below.get(tag) for tag in _TAGS if tag in above)
