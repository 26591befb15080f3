"""What leads the page of a replication: its first sentences, and the tally of several papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from wirelab.report.replication.reasons import leading
from wirelab.report.replication.words import effect, flipped, interpretation, leads, paper, standing, title_of
from wirelab.report.statement import Statement, listed
from wirelab.schema.replication import ReplicatedClaim, Replication
from wirelab.schema.verdicts import Standing, Verdict

KINDS: tuple[Standing, ...] = ("confirmed", "contradicted", "inconclusive", "depends-on-outlier-rule", "fitted")


def lead(record: Replication) -> list[Statement]:
    """What is confirmed and what decides it, first of all."""
    claims, primary = record["claims"], record["primary"]
    found = [Statement(" ".join(f"{each}." for each in _first(record)), href="#claims")]
    if primary and any(claim["verdict"] is not None for claim in claims):
        found.append(Statement(f"The verdicts are of the interpretation: {interpretation(primary, record)}."))
    unusable = [
        claim["id"] for claim in claims
        if claim["verdict"] == "inconclusive" and claim["link"] is not None and claim["link"]["flag"] == "unusable"
    ]  # fmt: skip
    if unusable:
        be = "is" if len(unusable) == 1 else "are"
        found.append(Statement(f"{listed(unusable)} {be} inconclusive on data of unusable quality.", href="#claims"))
    kinds: list[Verdict] = ["confirmed", "contradicted"] if primary else ["contradicted"]
    robust = [(kind, listed(same)) for kind in kinds if (same := _robust(claims, kind))]
    if robust:
        words = "; ".join(f"{kind} at every point that was run: {same}" for kind, same in robust)
        found.append(Statement(f"{_upper(words)}.", href="#grid"))
    return found


def _upper(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _first(record: Replication) -> Iterator[str]:
    """What is confirmed, how far it ranges without a primary interpretation, what decides it, and whether the paper
    agrees with itself.
    """
    yield from _confirmed(record)
    yield from _ranges(record)
    yield _upper(_deciding_most(record))
    against = sum(len(each["against"]) for each in record["inside"])
    if against:
        pairs = sum(each["compared"] for each in record["inside"])
        yield f"The paper's own numbers contradict one another in {against} of {pairs} pairs"


def _ranges(record: Replication) -> Iterator[str]:
    """Of a paper without a primary interpretation: the range of each claim with a printed number; if it prints none,
    that of each claim that turns.
    """
    if leads(record):
        return
    printed = [claim for claim in record["claims"] if isinstance(claim["paper"], float | int)]
    for claim in printed or filter(flipped, record["claims"]):
        found = effect(claim, leading(claim))
        if found.reason is None:
            figure = f", where the paper prints {paper(claim).text}" if printed else ""
            yield f"{claim['id']} ranges over {_range(found.text)}{figure}"


def _range(text: str) -> str:
    """`1.00 to 2.53 (W1.2)` of `W1.2: 1.00 to 2.53`."""
    name, _, numbers = text.rpartition(": ")
    return f"{numbers} ({name})" if name else numbers


def _robust(claims: Sequence[ReplicatedClaim], kind: Verdict) -> list[str]:
    """Claims with this verdict at every point."""
    sure = [(claim["id"], over) for claim in claims if (over := claim["over_grid"]) is not None and over["robust"]]
    return [name for name, over in sure if (over["confirmed"] > 0) == (kind == "confirmed")]


def _confirmed(record: Replication) -> Iterator[str]:
    claims, name = record["claims"], record["paper"]
    kinds = Counter(claim["verdict"] for claim in claims)
    if len(claims) == kinds[None]:
        why = "was not run in its primary interpretation" if leads(record) else "has no primary interpretation"
        yield f"{name} {why}, so that its {len(claims)} claims have no verdict"
        if always := _robust(claims, "confirmed"):
            yield f"{listed(always)} {'is' if len(always) == 1 else 'are'} confirmed at every point that was run"
        return
    confirmed = [claim["id"] for claim in claims if claim["verdict"] == "confirmed"]
    first = f"{len(confirmed)} confirmed ({listed(confirmed)})" if confirmed else "none confirmed"
    rest = [_number(kinds[kind], kind) for kind in (*KINDS, None) if kinds[kind] and kind != "confirmed"]
    yield f"Of {len(claims)} claims of {name}, {listed([first, *rest])}"


def _deciding_most(record: Replication) -> str:
    """The choice that turns most verdicts by itself, and which verdicts turn with others."""
    by_itself = {
        claim["id"]: over["deciding"]
        for claim in record["claims"]
        if (over := claim["over_grid"]) is not None and over["deciding"] is not None
    }
    most, _ = next(iter(Counter(each["path"] for each in by_itself.values()).most_common(1)), ("", 0))
    alone = [name for name, each in by_itself.items() if each["path"] == most]
    others = [claim["id"] for claim in record["claims"] if flipped(claim) and claim["id"] not in alone]
    turn = f"{listed(others)} turn{'s' * (len(others) == 1)} with" if others else ""
    if not alone:
        silent = "no choice turns a claim from confirmed to contradicted"
        return f"{turn} several choices together" if others else silent
    title = title_of(most, record)
    more = f"; {turn} other choices" * bool(others)
    if len(alone) > 1:
        return f"the {title} decides most: changing it alone turns {listed(alone)}{more}"
    flips, every = by_itself[alone[0]]["flips"], by_itself[alone[0]]["pairs"]
    pairs = f"{flips} of {every} pair{'s' * (every != 1)}"
    return f"changing only the {title} turns {alone[0]} ({pairs}){more}"


def _number(count: int, kind: Standing | None) -> str:
    words = standing(kind)
    return f"{count} {words if count == 1 else words.replace('depends', 'depend')}"


def tally(records: Sequence[Replication]) -> str:
    """Verdicts of several papers in words."""
    claims = [claim for record in records for claim in record["claims"]]
    kinds = Counter(claim["verdict"] for claim in claims)
    counts = [_number(kinds[kind], kind) for kind in KINDS if kinds[kind]]
    silent = Counter(leads(record) for record in records for claim in record["claims"] if claim["verdict"] is None)
    more = [
        f"{silent[led]} {words}"
        for led, words in ((True, "not run"), (False, "without a primary interpretation"))
        if silent[led]
    ]
    return f"Of {len(claims)} claims, {listed([*counts, *more])}."
