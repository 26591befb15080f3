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
from wirelab.schema.verdicts import EffectAt, Standing

WORDS: dict[Standing, str] = {"depends-on-outlier-rule": "depends on the outlier rule"}
TONES: dict[Standing, Tone] = {"confirmed": "good", "contradicted": "bad"}
KINDS: tuple[Standing, ...] = ("confirmed", "contradicted", "inconclusive", "depends-on-outlier-rule", "fitted")
LONGEST = 200
"""Letters of a reason in a table; its tooltip has all of it."""


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
    return Cell(plain(value) if isinstance(value, int | float) else value)


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
    return Cell(f"{plain(found['least']['value'])} to {plain(found['largest']['value'])}", title=title)


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
    """The reason, with what would decide the claim, in one sentence."""
    whole = claim["why"]
    if (needed := claim["needed"]) is not None:
        whole = f"{whole}; {needs(needed)}" if needed["n"] is not None else needed["why"]
    first = re.split(r"(?<=[^\d.])\. ", whole, maxsplit=1)[0]
    if needed is not None and needed["n"] is not None:
        first = needs(needed)
    short = first if len(first) <= LONGEST else f"{first[:LONGEST].rsplit(' ', 1)[0]} …"
    return Cell(f"{short[:1].upper()}{short[1:]}", title=whole)


def needs(needed: Needed) -> str:
    """`4 times as many values would confirm it: n = 400, 0.03 h more`."""
    if needed["n"] is None:
        return needed["why"]
    hours = "" if needed["hours"] is None else f", {plain(needed['hours'])} h more"
    return f"{needed['why']} (n = {needed['n']:,}{hours})"


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
    robust = [claim["id"] for claim in claims if (over := claim["over_grid"]) is not None and over["robust"]]
    if robust:
        same = f"{listed(robust)}: the same verdict at every point that was run."
        found.append(Statement(same, href="#grid"))
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
