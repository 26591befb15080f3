"""What leads the page of a replication: its first sentences, and the tally of several papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from wirelab.claims.over_grid import FITTED, differ
from wirelab.report.numbers import plain
from wirelab.report.replication.reasons import RATIOS, leading
from wirelab.report.replication.words import (
    NOT_MEASURED,
    begun,
    effect,
    flipped,
    interpretation,
    kind,
    leads,
    opposite,
    paper,
    shown,
    standing,
    title_of,
)
from wirelab.report.statement import Statement, listed
from wirelab.schema.host import Clock
from wirelab.schema.replication import ReplicatedClaim, Replication
from wirelab.schema.verdicts import Verdict

MOST_WORDS = 14
"""Of a claim's text in a sentence on it."""
KINDS = ("confirmed", "contradicted", "inconclusive", "depends-on-outlier-rule", "fitted", NOT_MEASURED)


def lead(record: Replication) -> list[Statement]:
    """What is confirmed and what decides it, first of all."""
    claims, primary = record["claims"], record["primary"]
    quick = any(each["quick"] for each in record["campaigns"])
    found = [Statement("A quick run, not conclusive.")] * quick
    found += [Statement(" ".join(f"{each}." for each in _first(record)), href="#claims")]
    if primary and any(claim["verdict"] is not None for claim in claims):
        found.append(Statement(f"The verdicts are of the interpretation: {interpretation(primary, record)}."))
        if _is_virtual(record):
            found.append(Statement("They are of the virtual clock, under which computing takes no time."))
    unusable = [
        claim["id"] for claim in claims
        if claim["verdict"] == "inconclusive" and claim["link"] is not None and claim["link"]["flag"] == "unusable"
    ]  # fmt: skip
    if unusable:
        be = "is" if len(unusable) == 1 else "are"
        found.append(Statement(f"{listed(unusable)} {be} inconclusive on data of unusable quality.", href="#claims"))
    kinds: list[Verdict] = ["confirmed", "contradicted"] if primary else ["contradicted"]
    kinds = [] if quick else kinds
    robust = [(kind, listed(same)) for kind in kinds if (same := _robust(claims, kind))]
    if robust:
        words = "; ".join(f"{kind} at every point that counts: {same}" for kind, same in robust)
        found.append(Statement(f"{begun(words)}.", href="#grid"))
    return found


def _at_points(claim: ReplicatedClaim) -> str:
    """`M1 at 2 of 41 points`; the name alone of a claim that every point confirms."""
    over = claim["over_grid"]
    if over is None or over["confirmed"] == over["points"]:
        return claim["id"]
    return f"{claim['id']} at {over['confirmed']} of {over['points']} points"


def _is_virtual(record: Replication) -> bool:
    """Whether all verdicts rest on the virtual clock."""
    campaigns = {part["campaign"] for claim in record["claims"] if claim["verdict"] for part in claim["parts"]}
    return all(record["campaigns"][each]["clock"] == Clock.VIRTUAL for each in campaigns)


def _first(record: Replication) -> Iterator[str]:
    """What is confirmed, how far it ranges without a primary interpretation, what decides it, and whether the paper
    agrees with itself.
    """
    yield from _confirmed(record)
    yield from _ranges(record)
    if not any(each["quick"] for each in record["campaigns"]):
        yield begun(_deciding_most(record))
    yield from _not_live(record)
    yield from _clocks(record)
    against = sum(len(each["against"]) for each in record["inside"])
    if against:
        pairs = sum(each["compared"] for each in record["inside"])
        yield f"The paper's own numbers contradict one another in {against} of {pairs} pairs"


def _clocks(record: Replication) -> Iterator[str]:
    """Parts on which the clocks disagree."""
    against = [
        part["id"]
        for claim in record["claims"]
        for part in claim["parts"]
        if part["decides"] and (live := part.get("live")) is not None and opposite(part, live)
    ]
    if against:
        have = "has" if len(against) == 1 else "have"
        yield f"{listed(against)} {have} the opposite verdict in real time, where computing takes time"


def _not_live(record: Replication) -> Iterator[str]:
    """Claims that are confirmed under the virtual clock, and not in real time."""
    found = [
        claim["id"]
        for claim in record["claims"]
        if claim["verdict"] == "confirmed"
        and any(part["decides"] and part.get("live", part)["verdict"] != "confirmed" for part in claim["parts"])
    ]
    if found:
        yield f"In real time {listed(found)} {'is' if len(found) == 1 else 'are'} not confirmed"


def _ranges(record: Replication) -> Iterator[str]:
    """Of a paper without a primary interpretation: the range of each claim with a printed number, and what it is where
    it was fitted; if it prints none, that of each claim that turns, or whose range contains 1.
    """
    if leads(record):
        return
    printed = [claim for claim in record["claims"] if isinstance(claim["paper"], float | int)]
    for claim in printed or filter(_ranges_over_one, record["claims"]):
        part = shown(claim, leading(claim))
        found = effect(claim, part)
        if found.reason is None:
            name, text = (claim["id"], claim["text"]) if part is None else (part["id"], part["text"])
            what = name if "(" in text or len(text.split()) > MOST_WORDS else f"{name} ({text})"
            figure = f", where the paper prints {paper(claim).text}" if printed else ""
            yield f"{what} ranges over {found.text.rpartition(': ')[2]}{figure}"
            fitted = sorted(each["value"] for each in claim["points"] if each["standing"] == FITTED and each["value"])
            if printed and fitted:
                yield f"At points that were fitted to it, it is {listed([plain(each) for each in fitted])}"


def _ranges_over_one(claim: ReplicatedClaim) -> bool:
    """Whether it turns, or its ratio is below 1 at one point and above at another."""
    part = shown(claim, leading(claim))
    over = claim["over_grid"]
    found = part.get("range") if part is not None else over and over["effect"]
    if found is None or (part or claim)["form"] not in RATIOS:
        return flipped(claim)
    least, largest = found["least"]["value"], found["largest"]["value"]
    return flipped(claim) or (least < 1 < largest and differ(least, largest))


def _robust(claims: Sequence[ReplicatedClaim], kind: Verdict) -> list[str]:
    """Claims with this verdict at every point."""
    sure = [(claim["id"], over) for claim in claims if (over := claim["over_grid"]) is not None and over["robust"]]
    return [name for name, over in sure if (over["confirmed"] > 0) == (kind == "confirmed")]


def _confirmed(record: Replication) -> Iterator[str]:
    claims, name = record["claims"], record["paper"]
    kinds = Counter(map(kind, claims))
    if len(claims) == kinds[None]:
        why = "was not run in its primary interpretation" if leads(record) else "has no primary interpretation"
        yield f"{name} {why}, so that its {len(claims)} claims have no verdict"
        if always := _robust(claims, "confirmed"):
            yield f"{listed(always)} {'is' if len(always) == 1 else 'are'} confirmed at every point that counts"
        return
    confirmed = [_at_points(claim) for claim in claims if claim["verdict"] == "confirmed"]
    first = f"{len(confirmed)} confirmed ({listed(confirmed)})" if confirmed else "none confirmed"
    rest = [_number(kinds[each], each) for each in KINDS if kinds[each] and each != "confirmed"]
    rest += [f"{kinds[None]} not run in the primary interpretation"] * (kinds[None] > 0)
    yield f"Of {len(claims)} claims of {name}, {listed([first, *rest])}"


def _deciding_most(record: Replication) -> str:
    """The choices that turn verdicts by themselves, that with most of them first, and which turn with others."""
    by_itself = {
        claim["id"]: over["deciding"]
        for claim in record["claims"]
        if (over := claim["over_grid"]) is not None and over["deciding"] is not None
    }
    together = [claim["id"] for claim in record["claims"] if flipped(claim) and claim["id"] not in by_itself]
    more = f"{listed(together)} turn{'s' * (len(together) == 1)} with several choices together" if together else ""
    more += "".join(f"; {words}" for words in _between_interpretations(record, together))
    if not by_itself:
        return more or "no choice turns a claim from confirmed to contradicted"
    parts = []
    for path, _ in Counter(each["path"] for each in by_itself.values()).most_common():
        alone = [name for name, each in by_itself.items() if each["path"] == path]
        every = by_itself[alone[-1]]["pairs"]
        if len(alone) == 1:
            counts = f"{by_itself[alone[0]]['flips']} of {every}"
        else:
            counts = listed([f"{name} in {by_itself[name]['flips']} of {by_itself[name]['pairs']}" for name in alone])
        parts.append(f"{listed(alone)}: {title_of(path, record)} ({counts} pair{'s' * (every != 1)})")
    return "; ".join(filter(None, [f"one choice alone turns {parts[0]}", *parts[1:], more]))


def _between_interpretations(record: Replication, names: Sequence[str]) -> Iterator[str]:
    """Of claims that several choices turn, the named interpretations that confirm and contradict them."""
    found: dict[tuple[str, str], list[str]] = {}
    for claim in record["claims"]:
        over = claim["over_grid"]
        if claim["id"] in names and over is not None:
            confirm, contradict = (
                [name for name, each in over["interpretations"].items() if each == kind]
                for kind in ("confirmed", "contradicted")
            )
            if confirm and contradict:
                found.setdefault((listed(confirm), listed(contradict)), []).append(claim["id"])
    for (for_it, against_it), claims in found.items():
        be = "is" if len(claims) == 1 else "are"
        yield f"{listed(claims)} {be} confirmed with {for_it} and contradicted with {against_it}"


def _number(count: int, of: str | None) -> str:
    words = standing(of)
    return f"{count} {words if count == 1 else words.replace('depends', 'depend')}"


def tally(records: Sequence[Replication]) -> str:
    """Verdicts of several papers in words."""
    claims = [claim for record in records for claim in record["claims"]]
    kinds = Counter(map(kind, claims))
    counts = [_number(kinds[each], each) for each in KINDS if kinds[each]]
    silent = Counter(leads(record) for record in records for claim in record["claims"] if claim["verdict"] is None)
    more = [
        f"{silent[led]} {words}"
        for led, words in ((True, "not run in the primary interpretation"), (False, "without a primary interpretation"))
        if silent[led]
    ]
    return f"Of {len(claims)} claims, {listed([*counts, *more])}."
