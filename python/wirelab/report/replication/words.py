"""Claims of a replication in cells and sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from wirelab.report.blocks import Cell, dash
from wirelab.report.figures.replicated import Tone
from wirelab.report.model import level_words
from wirelab.report.numbers import COUNT, Estimate, interval, plain
from wirelab.report.sections.common import LINK_TONES
from wirelab.report.statement import Statement, listed
from wirelab.schema.replication import Needed, ReplicatedClaim, Replication
from wirelab.schema.verdicts import EffectAt, OverGrid, Standing

WORDS: dict[Standing, str] = {"depends-on-outlier-rule": "depends on the outlier rule"}
TONES: dict[Standing, Tone] = {"confirmed": "good", "contradicted": "bad"}
KINDS: tuple[Standing, ...] = ("confirmed", "contradicted", "inconclusive", "depends-on-outlier-rule", "fitted")
RAW = " The paper removed outliers before it printed; ours are without its rule."
LONGEST = 200
"""Letters of a reason in a table, of its whole clauses; its tooltip has all of it."""


def without_rule(records: Sequence[Replication]) -> str:
    """What a caption of our numbers adds for papers with an outlier rule."""
    return RAW if any(record["outlier_rule"] for record in records) else ""


def standing(value: Standing | None) -> str:
    """A verdict in words."""
    return "not run" if value is None else WORDS.get(value, value)


def tone(value: Standing | None) -> Tone:
    """The tone of a verdict."""
    return "none" if value is None else TONES.get(value, "unsure")


def title_of(path: str, record: Replication) -> str:
    """A choice in words."""
    return next((each["title"] for each in record["grid"]["choices"] if each["path"] == path), path)


def interpretation(name: str | None, record: Replication) -> str:
    """An interpretation in words."""
    found = (each["title"] for each in record["grid"]["interpretations"] if each["name"] == name)
    return next(found, "each choice at its first level")


def levels(at: Mapping[str, str]) -> str:
    """A point of the grid in words."""
    return ", ".join(level_words(path, level) for path, level in at.items()) or "as run"


def verdict(claim: ReplicatedClaim, record: Replication) -> Cell:
    """The verdict in the primary interpretation; a dash if there is none."""
    if claim["verdict"] is not None:
        return Cell(standing(claim["verdict"]), tone=tone(claim["verdict"]), title=levels(claim["levels"]))
    if not leads(record):
        return dash("the paper has no primary interpretation: its range and counts lead")
    return dash("its scenarios were not run in the primary interpretation")


def leads(record: Replication) -> bool:
    """Whether the paper has a primary interpretation. One without choices has one interpretation, which leads."""
    return record["primary"] is not None or not record["grid"]["choices"]


def paper(claim: ReplicatedClaim) -> Cell:
    """What the paper prints."""
    value = claim["paper"]
    if value is None or value == "":
        return dash("the paper prints no number for it")
    return Cell(value if isinstance(value, str) else _magnitude(claim, value))


def ours(claim: ReplicatedClaim) -> Cell:
    """Our estimate with its interval."""
    found = Estimate.of(claim["ours"])
    if found is None or found.point is None:
        return dash("its parts have no single estimate" if len(claim["parts"]) > 1 else "it has no estimate")
    return Cell(interval(found, COUNT), title=f"{levels(claim['levels'])}; {found.method}")


def effect(claim: ReplicatedClaim) -> Cell:
    """The range of our estimate over the points that count."""
    found = claim["over_grid"] and claim["over_grid"]["effect"]
    if not found:
        return dash("its parts have no single estimate" if len(claim["parts"]) > 1 else "no point has an estimate")
    title = f"least with {_at(found['least'])}; largest with {_at(found['largest'])}"
    least, largest = (_magnitude(claim, found[end]["value"]) for end in ("least", "largest"))
    return Cell(f"{least} to {largest}", title=title)


def _magnitude(claim: ReplicatedClaim, value: float) -> str:
    """A count of comparisons is whole."""
    return f"{value:g}" if claim["form"] == "count" else plain(value)


def counted(claim: ReplicatedClaim) -> Cell:
    """At how many points it is confirmed and contradicted, of those that count."""
    over = claim["over_grid"]
    if over is None or not over["points"]:
        return dash("no point counts")
    text = f"{over['confirmed']} / {over['contradicted']} of {over['points']}"
    size = "" if over["size"] is None else f"; the whole grid has {over['size']:,}"
    fitted = f"; fitted at {over['fitted']}, which do not count" if over["fitted"] else ""
    title = f"confirmed / contradicted of the points that were run{size}{fitted}"
    return Cell(text, title=title, tone="clear" if over["robust"] else None)


def deciding(claim: ReplicatedClaim, record: Replication) -> Cell:
    """The choice that turns the verdict most often."""
    found = claim["over_grid"] and claim["over_grid"]["deciding"]
    if not found:
        return dash("no choice alone turns its verdict")
    pairs = f"turns the verdict in {found['flips']} of {found['pairs']} pairs of points that differ in it alone"
    return Cell(title_of(found["path"], record), title=pairs)


def quality(claim: ReplicatedClaim) -> Cell:
    """The quality of what the verdict rests on."""
    link = claim["link"]
    return dash("not graded") if link is None else Cell(link["flag"], title=link["why"], tone=LINK_TONES[link["flag"]])


def why(claim: ReplicatedClaim) -> Cell:
    """The reason, with what would decide the claim, in one sentence. Without a verdict, what the points say."""
    whole, needed = claim["why"], claim["needed"]
    if claim["verdict"] is None and (over := claim["over_grid"]) is not None and over["points"]:
        first = "" if needed is None or needed["n"] is None else f"; at the first of them {needs(needed)}"
        return Cell(f"{_over_points(over)}{first}", title=f"{levels(claim['levels'])}: {whole}")
    if needed is not None:
        whole = f"{whole}; {needs(needed)}" if needed["n"] is not None else needed["why"]
    first = re.split(r"(?<=[^\d.])\. ", whole, maxsplit=1)[0]
    if needed is not None and needed["n"] is not None:
        first = needs(needed)
    short = _clauses(first)
    return Cell(f"{short[:1].upper()}{short[1:]}", title=whole)


def _over_points(over: OverGrid) -> str:
    """`Confirmed at 3 and contradicted at 1 of 8 points`."""
    if over["points"] == 1:
        only = "Confirmed" if over["confirmed"] else "Contradicted" if over["contradicted"] else "Not decided"
        return f"{only} at the only point that was run"
    if over["robust"]:
        kind = "Confirmed" if over["confirmed"] else "Contradicted"
        return f"{kind} at each of {over['points']} points that were run"
    return f"Confirmed at {over['confirmed']} and contradicted at {over['contradicted']} of {over['points']} points"


def size(claim: ReplicatedClaim) -> Cell:
    """How many values the verdict rests on; without a verdict, those of each point that counts."""
    found = sorted(each["n"] for each in claim["points"] if each["counts"] and each["n"])
    if claim["verdict"] is not None or not found:
        return Cell(f"{claim['n']:,}")
    return Cell(f"{found[0]:,}" if found[0] == found[-1] else f"{found[0]:,} to {found[-1]:,}", title="at each point")


def _clauses(sentence: str) -> str:
    """Its first clauses, as many as fit; one at least, and none is cut."""
    first, *more = sentence.split("; ")
    for clause in more:
        if len(first) + len(clause) > LONGEST:
            break
        first = f"{first}; {clause}"
    return first


def needs(needed: Needed) -> str:
    """`4 times as many values would confirm it (n = 400, 2 min more)`."""
    if needed["n"] is None:
        return needed["why"]
    more = "" if needed["hours"] is None else f", {duration(needed['hours'] * 3600)} more"
    return f"{needed['why']} (n = {needed['n']:,}{more})"


def duration(seconds: float) -> str:
    """In the largest unit that leaves 2 or more: `97 min`."""
    unit, size = next(((unit, size) for unit, size in (("h", 3600), ("min", 60)) if seconds >= 2 * size), ("s", 1))
    return f"{max(seconds / size, 1):.0f} {unit}"


def lead(record: Replication) -> list[Statement]:
    """What is confirmed and what decides it, first of all."""
    claims = record["claims"]
    found = list(_leading(record))
    turned = Counter(
        title_of(over["deciding"]["path"], record)
        for claim in claims
        if (over := claim["over_grid"]) is not None and over["deciding"] is not None
    )
    if turned:
        most, count = turned.most_common(1)[0]
        found.append(
            Statement(f"The {most} decides most: it alone turns {count} of {len(claims)} verdicts.", href="#claims")
        )
    robust = [
        (kind, listed(same))
        for kind in ("confirmed", "contradicted")
        if (same := [claim["id"] for claim in claims if (over := claim["over_grid"]) and over["robust"] and over[kind]])
    ]
    if robust:
        words = "; ".join(f"{kind} at every point that was run: {same}" for kind, same in robust)
        found.append(Statement(f"{words[:1].upper()}{words[1:]}.", href="#grid"))
    return found


def _leading(record: Replication) -> Iterator[Statement]:
    claims = record["claims"]
    kinds = Counter(claim["verdict"] for claim in claims)
    if len(claims) == kinds[None]:
        why = "was not run in its primary interpretation" if leads(record) else "has no primary interpretation"
        flips = [claim["id"] for claim in claims if flipped(claim)]
        words = (
            f"{listed(flips)} turn{'s' * (len(flips) == 1)} with choices" if flips else "no verdict turns with a choice"
        )
        yield Statement(f"{record['paper']} {why}: of {len(claims)} claims, {words}.", href="#claims")
        return
    counts = listed([_number(kinds[kind], kind) for kind in (*KINDS, None) if kinds[kind]])
    where = f" ({interpretation(record['primary'], record)})" if record["primary"] else ""
    yield Statement(f"Of {len(claims)} claims of {record['paper']}, {counts}{where}.", href="#claims")


def _number(count: int, kind: Standing | None) -> str:
    words = standing(kind)
    return f"{count} {words if count == 1 else words.replace('depends', 'depend')}"


def flipped(claim: ReplicatedClaim) -> bool:
    """Whether some points confirm it and others contradict it."""
    over = claim["over_grid"]
    return over is not None and bool(over["confirmed"]) and bool(over["contradicted"])


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


def _at(at: EffectAt) -> str:
    return levels(at["levels"])
