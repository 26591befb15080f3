"""Two enumerations: probabilities by their bounds, and packets by what losing each costs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from wirelab import __version__
from wirelab.answer.compare.record import NO_CPU
from wirelab.errors import WirelabError
from wirelab.schema.changes import (
    CHANGES_VERSION,
    Change,
    EnumeratedChange,
    ExactChanges,
    Outcome,
    PriceChange,
    ProbabilityChange,
)
from wirelab.schema.exact import Exact, ExactBounds, ExactScenario, PacketPrice

EQUAL_S = 1e-6
"""Delays that differ by less are the same: each look at the clock takes 256 ns."""


def exact_changes(old: Exact, new: Exact, names: tuple[str, str], margin: float) -> ExactChanges:
    """Scenarios that both have, by name and seed. Raises `WirelabError` if the links or the exchanges differ, or if no
    scenario is in both.
    """
    for what, before, after in (
        ("links", old["links"], new["links"]), ("exchanges", old["workloads"], new["workloads"]),
    ):  # fmt: skip
        if before != after:
            words = f"{names[0]} has the {what} {', '.join(before)}, and {names[1]} {', '.join(after)}"
            raise WirelabError(words, hint="enumerate the same exchange over the same link twice")
    olds, news = ({(each["name"], each["seed"]): each for each in side["scenarios"]} for side in (old, new))
    found = [_scenario(olds[key], each, margin) for key, each in news.items() if key in olds]
    if not found:
        what = f"{names[0]} and {names[1]} have no scenario in common"
        raise WirelabError(what, hint=f"the first has {_listed(olds)}, the second {_listed(news)}")
    asked = [{each["name"] for each in side["losses"] if each["within"] is not None} for side in (old, new)]
    return {
        "schema_version": CHANGES_VERSION,
        "version": __version__,
        "old": names[0],
        "new": names[1],
        "margin": margin,
        "asked": [each["name"] for each in new["losses"] if each["name"] in asked[0] & asked[1]],
        "verdict": _verdict(found),
        "scenarios": found,
        "only_old": [name for name, _ in olds.keys() - news.keys()],
        "only_new": [name for name, _ in news.keys() - olds.keys()],
        "warnings": [*_warnings(old, new)],
    }


def change_of(old: ExactBounds, new: ExactBounds, margin: float) -> Change:
    """By the bounds alone: larger if the least of the new one is above the most of the old one and the margin."""
    more = 1 + margin
    if new["low"] > old["high"] * more:
        return "larger"
    if new["high"] * more < old["low"]:
        return "smaller"
    same = old == new
    return (
        "unchanged"
        if same or (new["high"] <= old["low"] * more and new["low"] * more >= old["high"])
        else ("inconclusive")
    )


def _scenario(old: ExactScenario, new: ExactScenario, margin: float) -> EnumeratedChange:
    index = _first_difference(old["packets"], new["packets"])
    until = min(len(old["packets"]), len(new["packets"])) if index is None else index
    return {
        "name": new["name"],
        "seed": new["seed"],
        "delay_s": [old["delay_s"], new["delay_s"]],
        "packets": [len(old["packets"]), len(new["packets"])],
        "first": None if index is None else _words(index, old["packets"], new["packets"]),
        "prices": [*_prices(old["packets"][:until], new["packets"][:until])],
        "probabilities": [*_probabilities(old, new, margin)],
    }


def _first_difference(old: Sequence[PacketPrice], new: Sequence[PacketPrice]) -> int | None:
    for index, (one, other) in enumerate(zip_longest(old, new)):
        if one is None or other is None or _seen(one) != _seen(other) or abs(one["at_s"] - other["at_s"]) > EQUAL_S:
            return index
    return None


def _seen(packet: PacketPrice) -> tuple[str, int, str]:
    return packet["direction"], packet["size"], packet["words"]


def _words(index: int, old: Sequence[PacketPrice], new: Sequence[PacketPrice]) -> str:
    """`packet 4: uplink, UDP 500 (540 B), at 20 ms, becomes …`."""
    before, after = (_packet(side[index]) if index < len(side) else None for side in (old, new))
    head = f"packet {index + 1}"
    if before is None:
        return f"{head} is one more: {after}"
    return f"{head} is gone: {before}" if after is None else f"{head}: {before}, becomes {after}"


def _packet(packet: PacketPrice) -> str:
    return f"{packet['direction']}, {packet['words']} ({packet['size']:,} B), at {packet['at_s'] * 1e3:,.3f} ms"


def _prices(old: Sequence[PacketPrice], new: Sequence[PacketPrice]) -> Iterator[PriceChange]:
    for one, other in zip(old, new, strict=True):
        if not one["run"] or not other["run"]:
            continue
        ends = one["delay_s"], other["delay_s"]
        known = [each for each in ends if each is not None]
        if len(known) == 1 or (len(known) == 2 and abs(known[0] - known[1]) > EQUAL_S):
            yield {"packet": other["number"], "words": other["words"], "old_s": ends[0], "new_s": ends[1]}


def _probabilities(old: ExactScenario, new: ExactScenario, margin: float) -> Iterator[ProbabilityChange]:
    before = {(each["loss"], each["delay_s"]): each["bounds"] for each in old["beyond"]}
    for each in new["beyond"]:
        if (bounds := before.get((each["loss"], each["delay_s"]))) is not None:
            change = change_of(bounds, each["bounds"], margin)
            yield {
                "loss": each["loss"], "delay_s": each["delay_s"], "old": bounds, "new": each["bounds"],
                "change": change,
            }  # fmt: skip


def _verdict(scenarios: Sequence[EnumeratedChange]) -> Outcome:
    found = [each["change"] for scenario in scenarios for each in scenario["probabilities"]]
    if "larger" in found:
        return "slower"
    if "smaller" in found or any(each["first"] is not None or each["prices"] for each in scenarios):
        return "changed"
    return "inconclusive" if "inconclusive" in found else "unchanged"


def _warnings(old: Exact, new: Exact) -> Iterator[str]:
    yield NO_CPU
    if old["kernel"] != new["kernel"]:
        yield f"The kernels differ: {old['kernel']}, then {new['kernel']}."
    for words, side in (("old", old), ("new", new)):
        if not side["bounded"]:
            yield f"The {words} enumeration ended before each probability was as narrow as was asked for."


def _listed(keys: dict[tuple[str, int], ExactScenario]) -> str:
    return ", ".join(dict.fromkeys(name for name, _ in keys))
