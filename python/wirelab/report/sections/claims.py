"""What the publication claims, and what holds here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from wirelab.report.blocks import Block, Cell, Claim, Claims, Column, Group, Prose, Section, Table, dash
from wirelab.report.campaign import Campaign
from wirelab.report.model import Json, Levels, level_words
from wirelab.report.numbers import COUNT, Estimate, interval, plain
from wirelab.report.published import removed_outliers
from wirelab.report.sections.common import LINK_TONES
from wirelab.stats.link.grade import GRADES

TONES = {"confirmed": "good", "contradicted": "bad", "inconclusive": "unsure"}
MARKS = {"confirmed": "✓", "contradicted": "✗", "inconclusive": "?"}
RESPONSE_TIME = "response-time"
MOST_ROWS = 40


def section(campaign: Campaign) -> Section | None:
    """Verdicts over unstated choices first, then each claim; None if the experiment has no claims."""
    verdicts = campaign.verdicts
    if not verdicts or not verdicts.get("claims"):
        return None
    claims = verdicts["claims"]
    ruled, family = removed_outliers(campaign), verdicts.get("family") or {}
    standards = {"under_published_rule": "under published rule"} if ruled else {}
    if (level := family.get("published_level")) is not None:
        standards["at_published_level"] = f"alone, at the publication’s {100 * level:g}\u00a0%"
    blocks: list[Block] = [
        *_choices(claims),
        Claims(
            "Published claims and our verdicts", [_claim(claim, standards) for claim in claims], [*standards.values()]
        ),
    ]
    return Section("claims", "Claims", [*blocks, Prose(_family(family, ruled=ruled))])


def verdict_cell(value: object, link: Json | None, head: str = "") -> Cell:
    """A verdict with what its link is good for; coloured as decided only if its quality is good."""
    if not value:
        return dash("not judged")
    if link is None:
        return Cell(f"{head}{value}", tone="unsure", title="what its links are good for is not known")
    if link["flag"] == GRADES[0]:
        return Cell(f"{head}{value}", tone=TONES.get(str(value), "unsure"))
    return Cell(f"{head}{value} ({link['flag']})", tone="unsure", title=str(link["why"]))


def _claim(claim: Json, standards: Iterable[str] = ()) -> Claim:
    published, link = claim.get("published") or {}, claim.get("link")
    return Claim(
        id=str(claim.get("id", "")),
        text=str(claim.get("text", "")),
        form=str(claim.get("form", "")),
        paper=_paper(claim.get("paper")),
        ours=_ours(claim),
        judged=_judged(claim),
        n=dash("no value") if claim.get("n") is None else Cell(f"{claim['n']:,}"),
        verdict=verdict_cell(claim.get("verdict"), link),
        grade=Cell(str(link["flag"]), title=str(link["why"]), tone=LINK_TONES[str(link["flag"])])
        if link
        else dash("nothing of it was graded"),
        otherwise=[verdict_cell(claim.get(key), link) for key in standards],
        why=" ".join(filter(None, [_sentence(claim.get("why")), _on_its_link(link)])),
        contradiction=_sentence(claim.get("contradiction")),
        published=f"{published['verdict']}: {published.get('why', '')}" if published.get("verdict") else None,
        parts=[
            _part({"id": f"{claim.get('id')}.{i}", "link": link, **part})
            for i, part in enumerate(claim.get("parts") or [], 1)
        ],
    )


def _part(claim: Json) -> Claim:
    """A part has its grade in a column of its own."""
    part = _claim(claim)
    return replace(part, verdict=replace(part.verdict, text=str(claim.get("verdict"))))


def _sentence(words: str | None) -> str | None:
    return f"{words[:1].upper()}{words[1:].rstrip('.')}." if words else None


def _paper(value: object) -> Cell:
    if value is None or value == "":
        return dash("the publication gives no number")
    return Cell(f"{value:g}" if isinstance(value, int | float) else str(value))


def _ours(claim: Json) -> Cell:
    ours = Estimate.of(claim.get("ours"))
    if ours is None or ours.point is None:
        own = "each part has its own" if claim.get("parts") else "no single number"
        return dash((ours.method if ours else "") or own)
    words = [f"{ours.level:.0%} interval"] if ours.level else []
    how = ", ".join(filter(None, [*words, ours.method]))
    return Cell(interval(ours, COUNT), title=". ".join(filter(None, [str(claim.get("why") or ""), how])))


def _judged(claim: Json) -> Cell:
    """`[0.12, 0.73] at 99.8 %`: what the verdict was reached by."""
    if "judged" not in claim:
        return dash("judged by another build")
    found = [(str(each.get("of") or ""), Estimate.of(each)) for each in claim.get("judged") or []]
    words = [told for of, value in found if value is not None and (told := _at_its_level(of, value))]
    if words:
        return Cell(
            "; ".join(words), title="the interval that decided; of what is inconclusive, the widest that was tried"
        )
    return dash("each part has its own" if claim.get("parts") else "no interval decides it")


def _at_its_level(of: str, value: Estimate) -> str:
    level = f"at {100 * (value.level or 0):.4g}\u00a0%"
    if value.low is not None and value.high is not None:
        both = interval(value, COUNT)
        return f"{of}: {both} {level}" if of else f"[{both.partition(' [')[2]} {level}"
    bounds = [f"{words} {plain(bound)}" for words, bound in (("≥", value.low), ("≤", value.high)) if bound is not None]
    return " ".join([f"{of}:"] * bool(of) + [*bounds, level]) if bounds else ""


def _on_its_link(link: Json | None) -> str | None:
    return f"{str(link['flag']).capitalize()}: {link['why']}." if link and link["flag"] != GRADES[0] else None


def _family(family: Json, *, ruled: bool) -> str:
    words = []
    if family.get("error_rate") is not None:
        claims = family.get("claims")
        count = len(claims) if isinstance(claims, Sequence) and not isinstance(claims, str) else claims
        words.append(
            f"The {count} claims are one family; its error rate is {family['error_rate']:g} "
            f"({family.get('method', 'method not stated')})."
        )
    by_rule = ", then under the publication's own rule" * ruled
    words.append(f"Each is judged {'first ' * ruled}without removing outliers{by_rule}.")
    return " ".join(words)


def _choices(claims: Iterable[Json]) -> list[Block]:
    """Verdict against each unstated choice, the choice judged first; none if there is nothing to choose."""
    chosen = [claim for claim in claims if claim.get("choices")]
    combinations = dict.fromkeys(_levels(choice) for claim in chosen for choice in claim["choices"])
    widest = max((len(levels) for levels in combinations), default=0)
    full = [levels for levels in combinations if len(levels) == widest or RESPONSE_TIME in dict(levels)]
    rows = full if any(RESPONSE_TIME in dict(levels) for levels in full) else list(combinations)
    if len(rows) < 2:
        return []
    table = _choice_table(chosen, [row for row in rows if RESPONSE_TIME in dict(row)] or rows)
    note = (
        "What the publication leaves open decides some of its claims: each row fills the gaps in one way. "
        "✓ confirmed, ✗ contradicted, ? inconclusive, – not judged, since the choice was not varied in all that the "
        "claim is about. "
        "Brackets: the quality of link or machine was less than good."
    )
    return [Prose(note), table if len(rows) <= MOST_ROWS else Group(f"All {len(rows)} ways", [table], printed=True)]


def _choice_table(claims: Sequence[Json], rows: Sequence[Levels]) -> Table:
    verdicts = [{_levels(choice): choice for choice in claim["choices"]} for claim in claims]
    body = [[Cell(_row_words(row, rows[0])), *(_mark(_found(given, row)) for given in verdicts)] for row in rows]
    columns = [Column(str(claim["id"]), numeric=False) for claim in claims]
    return Table("Verdict under each choice", [Column("chosen", numeric=False), *columns], body)


def _found(verdicts: dict[Levels, Json], row: Levels) -> Json | None:
    """A claim that uses no response time has one verdict for all its definitions."""
    without = tuple(pair for pair in row if pair[0] != RESPONSE_TIME)
    return verdicts.get(row) or verdicts.get(without)


def _row_words(row: Levels, first: Levels) -> str:
    if row == first:
        return "as judged: " + ", ".join(level_words(*pair) for pair in row)
    return ", ".join(level_words(*pair) for pair in row if pair not in first)


def _mark(choice: Json | None) -> Cell:
    if choice is None:
        return replace(dash("not judged under this choice"), spoken="not judged")
    if choice.get("missing"):
        why = "under this choice not all scenarios that the claim is judged by were run, or not with their settings"
        return replace(dash(why), spoken="not judged")
    mark, link = MARKS.get(str(choice.get("verdict")), "?"), choice.get("link")
    cell = verdict_cell(choice.get("verdict"), link)
    text = mark if link is None or link["flag"] == GRADES[0] else f"({mark})"
    return replace(cell, text=text, title=": ".join(filter(None, (cell.text, cell.title))), spoken=cell.text)


def _levels(choice: Json) -> Levels:
    return tuple((path, str(level)) for path, level in (choice.get("levels") or {}).items())
