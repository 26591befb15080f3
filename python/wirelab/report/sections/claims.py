"""The publication's claims and our verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from wirelab.report import over_grid, predictions
from wirelab.report.blocks import Block, Cell, Claim, Claims, Column, Group, Prose, Section, Table, dash
from wirelab.report.campaign import Campaign
from wirelab.report.model import Levels, level_words
from wirelab.report.numbers import COUNT, Estimate, interval, plain
from wirelab.report.published import removed_outliers
from wirelab.report.sections.common import LINK_TONES
from wirelab.schema.verdicts import (
    ChoiceVerdict,
    ClaimFamily,
    ClaimRecord,
    Deciding,
    PartRecord,
    Verdict,
    VerdictQuality,
)
from wirelab.stats.link.grade import GRADES

Tone = Literal["good", "bad", "unsure"]
Standard = Literal["under_published_rule", "at_published_level"]
TONES: dict[Verdict, Tone] = {"confirmed": "good", "contradicted": "bad", "inconclusive": "unsure"}
MARKS = {"confirmed": "✓", "contradicted": "✗", "inconclusive": "?"}
RESPONSE_TIME = "response-time"
MOST_ROWS = 40


def section(campaign: Campaign) -> Section | None:
    """Verdicts over all unstated choices and under each, then each claim; None if the experiment has no claims."""
    verdicts = campaign.verdicts
    if verdicts is None or not verdicts["claims"]:
        return None
    claims, family = verdicts["claims"], verdicts["family"]
    ruled = removed_outliers(campaign)
    standards: dict[Standard, str] = {"under_published_rule": "under published rule"} if ruled else {}
    if (level := family["published_level"]) is not None:
        standards["at_published_level"] = f"alone, at the publication’s {100 * level:g}\u00a0%"
    blocks: list[Block] = [
        *over_grid.blocks(verdicts),
        *_choices(claims),
        Claims(
            "Published claims and our verdicts", [_claim(claim, standards) for claim in claims], [*standards.values()]
        ),
        *predictions.blocks(verdicts),
    ]
    return Section("claims", "Claims", [*blocks, Prose(_family(family, ruled=ruled))])


def verdict_cell(value: Verdict | None, link: VerdictQuality | None, head: str = "") -> Cell:
    """A verdict with the quality of its link. Its colour is that of its direction, of lesser weight if the quality is
    not good. On an unusable link it has none.
    """
    if value is None:
        return dash("not judged")
    if link is None:
        return Cell(f"{head}{value}", tone=TONES[value], weak=True, title="the quality of its links is not known")
    if link["flag"] == GRADES[0]:
        return Cell(f"{head}{value}", tone=TONES[value])
    tone = "unsure" if link["flag"] == GRADES[-1] else TONES[value]
    return Cell(f"{head}{value} ({link['flag']})", tone=tone, weak=True, title=link["why"])


def _claim(claim: ClaimRecord, standards: Iterable[Standard] = ()) -> Claim:
    link = claim["link"]
    return replace(
        _judgement(claim, claim["id"], link),
        otherwise=[verdict_cell(claim[key], link) for key in standards],
        contradiction=_sentence(claim["contradiction"]),
        published=f"{claim['published']['verdict']}: {claim['published']['why']}",
        parts=[_part(part, f"{claim['id']}.{i}", link) for i, part in enumerate(claim["parts"], 1)],
    )


def _part(part: PartRecord, id_: str, whole: VerdictQuality | None) -> Claim:
    """A part has its quality in its own column: that of the whole claim if it has none."""
    published = part.get("published")
    shown = _judgement(part, part.get("id", id_), part.get("link", whole))
    return replace(
        shown,
        verdict=replace(shown.verdict, text=part["verdict"]),
        contradiction=_sentence(part.get("contradiction")),
        published=None if published is None else f"{published['verdict']}: {published['why']}",
        parts=[_part(each, f"{id_}.{i}", part.get("link", whole)) for i, each in enumerate(part["parts"], 1)],
    )


def _judgement(judged: ClaimRecord | PartRecord, id_: str, link: VerdictQuality | None) -> Claim:
    """The cells that a claim and its parts share."""
    return Claim(
        id=id_,
        text=judged["text"],
        form=judged["form"],
        paper=_paper(judged["paper"]),
        ours=_ours(judged),
        judged=_judged(judged),
        n=Cell(f"{judged['n']:,}"),
        verdict=verdict_cell(judged["verdict"], link),
        grade=Cell(link["flag"], title=link["why"], tone=LINK_TONES[link["flag"]])
        if link
        else dash("its quality is not known"),
        otherwise=[],
        why=" ".join(filter(None, [_sentence(judged["why"]), _on_its_link(link)])),
        contradiction=None,
        published=None,
        parts=[],
    )


def _sentence(words: str | None) -> str | None:
    return f"{words[:1].upper()}{words[1:].rstrip('.')}." if words else None


def _paper(value: float | str | None) -> Cell:
    if value is None or value == "":
        return dash("the publication gives no number")
    return Cell(f"{value:g}" if isinstance(value, int | float) else str(value))


def _ours(claim: ClaimRecord | PartRecord) -> Cell:
    ours = Estimate.of(claim["ours"])
    if ours is None or ours.point is None:
        own = "each part has its own" if claim["parts"] else "no single number"
        return dash((ours.method if ours else "") or own)
    words = [f"{ours.level:.0%} interval"] if ours.level else []
    how = ", ".join(filter(None, [*words, ours.method]))
    return Cell(interval(ours, COUNT), title=". ".join(filter(None, [claim["why"], how])))


def _judged(claim: ClaimRecord | PartRecord) -> Cell:
    """`[0.12, 0.73] at 99.8 %`: the interval that decided the verdict."""
    words = [text for each in claim["judged"] if (text := _at_its_level(each))]
    if words:
        return Cell("; ".join(words), title="the interval that decided; if inconclusive, the widest that was tried")
    return dash("each part has its own" if claim["parts"] else "no interval decides it")


def _at_its_level(deciding: Deciding) -> str:
    of, level = deciding["of"], f"at {100 * deciding['level']:.4g}\u00a0%"
    value = Estimate(
        deciding["point"], deciding["low"], deciding["high"], deciding["level"], deciding["n"], deciding["method"]
    )
    if value.low is not None and value.high is not None:
        both = interval(value, COUNT)
        return f"{of}: {both} {level}" if of else f"[{both.partition(' [')[2]} {level}"
    bounds = [f"{words} {plain(bound)}" for words, bound in (("≥", value.low), ("≤", value.high)) if bound is not None]
    return " ".join([f"{of}:"] * bool(of) + [*bounds, level]) if bounds else ""


def _on_its_link(link: VerdictQuality | None) -> str | None:
    return f"{link['flag'].capitalize()}: {link['why']}." if link and link["flag"] != GRADES[0] else None


def _family(family: ClaimFamily, *, ruled: bool) -> str:
    words = [
        f"The {family['claims']} claims are one family; its error rate is {family['error_rate']:g} "
        f"({family['method']})."
    ]
    by_rule = ", then under the publication's own rule" * ruled
    words.append(f"Each is judged {'first ' * ruled}without removing outliers{by_rule}.")
    return " ".join(words)


def _choices(claims: Iterable[ClaimRecord]) -> list[Block]:
    """The verdicts under each unstated choice, the judged choice first; None without choices."""
    chosen = [claim for claim in claims if claim["choices"]]
    combinations = dict.fromkeys(_levels(choice) for claim in chosen for choice in claim["choices"])
    widest = max((len(levels) for levels in combinations), default=0)
    full = [levels for levels in combinations if len(levels) == widest or RESPONSE_TIME in dict(levels)]
    rows = full if any(RESPONSE_TIME in dict(levels) for levels in full) else list(combinations)
    if len(rows) < 2:
        return []
    table = _choice_table(chosen, [row for row in rows if RESPONSE_TIME in dict(row)] or rows)
    note = (
        "Some verdicts depend on what the publication does not state: each row fills the gaps in one way. "
        "✓ confirmed, ✗ contradicted, ? inconclusive, – not judged, since the choice was not varied in all that the "
        "claim is about. "
        "Brackets: the quality of link or machine was less than good."
    )
    return [Prose(note), table if len(rows) <= MOST_ROWS else Group(f"All {len(rows)} ways", [table], printed=True)]


def _choice_table(claims: Sequence[ClaimRecord], rows: Sequence[Levels]) -> Table:
    verdicts = [{_levels(choice): choice for choice in claim["choices"]} for claim in claims]
    body = [[Cell(_row_words(row, rows[0])), *(_mark(_found(given, row)) for given in verdicts)] for row in rows]
    columns = [Column(claim["id"], numeric=False) for claim in claims]
    return Table("Verdict under each choice", [Column("chosen", numeric=False), *columns], body)


def _found(verdicts: dict[Levels, ChoiceVerdict], row: Levels) -> ChoiceVerdict | None:
    """A claim that uses no response time has one verdict for all its definitions."""
    without = tuple(pair for pair in row if pair[0] != RESPONSE_TIME)
    return verdicts.get(row) or verdicts.get(without)


def _row_words(row: Levels, first: Levels) -> str:
    if row == first:
        return "as judged: " + ", ".join(level_words(*pair) for pair in row)
    return ", ".join(level_words(*pair) for pair in row if pair not in first)


def _mark(choice: ChoiceVerdict | None) -> Cell:
    if choice is None:
        return replace(dash("not judged under this choice"), spoken="not judged")
    if choice["missing"]:
        why = "under this choice not all scenarios that the claim is judged by were run, or not with their settings"
        return replace(dash(why), spoken="not judged")
    mark, link = MARKS[choice["verdict"]], choice["link"]
    cell = verdict_cell(choice["verdict"], link)
    text = mark if link is None or link["flag"] == GRADES[0] else f"({mark})"
    return replace(cell, text=text, title=": ".join(filter(None, (cell.text, cell.title))), spoken=cell.text)


def _levels(choice: ChoiceVerdict) -> Levels:
    return tuple((path, str(level)) for path, level in choice["levels"].items())
