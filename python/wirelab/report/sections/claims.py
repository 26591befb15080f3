"""What the publication claims, and what holds here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wirelab.report.blocks import Block, Cell, Claim, Claims, Column, Group, Prose, Section, Table, dash
from wirelab.report.campaign import Campaign, Json, level_words
from wirelab.report.numbers import COUNT, Estimate, interval, plain

TONES = {"held": "good", "refuted": "bad", "undecided": "unsure"}
MOST_COLUMNS = 12


def section(campaign: Campaign) -> Section | None:
    """Verdicts over unstated choices first, then each claim; None if the experiment has no claims."""
    verdicts = campaign.verdicts
    if not verdicts or not verdicts.get("claims"):
        return None
    claims = verdicts["claims"]
    blocks: list[Block] = [*_choices(claims), Claims("Published claims and our verdicts", [_claim(claim) for claim in claims])]
    return Section("claims", "Claims", [*blocks, Prose(_family(verdicts.get("family") or {}))])


def _claim(claim: Json) -> Claim:
    published = claim.get("published") or {}
    return Claim(
        id=str(claim.get("id", "")),
        text=str(claim.get("text", "")),
        form=str(claim.get("form", "")),
        paper=_paper(claim.get("paper")),
        ours=_ours(claim.get("ours")),
        n=dash("no value") if claim.get("n") is None else Cell(f"{claim['n']:,}"),
        verdict=_verdict(claim.get("verdict")),
        under_rule=_verdict(claim.get("under_published_rule")),
        why=str(claim.get("why") or ""),
        contradiction=claim.get("contradiction"),
        published=f"{published['verdict']}: {published.get('why', '')}" if published.get("verdict") else None,
        parts=[_claim(part) for part in claim.get("parts") or []],
    )


def _paper(value: object) -> Cell:
    if value is None or value == "":
        return dash("the publication gives no number")
    return Cell(plain(float(value)) if isinstance(value, int | float) else str(value))


def _ours(value: object) -> Cell:
    ours = Estimate.of(value)
    if ours is None or ours.point is None:
        return dash((ours.method if ours else "") or "no single number")
    words = [f"{ours.level:.0%} interval"] if ours.level else []
    return Cell(interval(ours, COUNT), title=", ".join([*words, ours.method]))


def _verdict(value: object) -> Cell:
    return dash("not judged") if not value else Cell(str(value), tone=TONES.get(str(value), "unsure"))


def _family(family: Json) -> str:
    words = []
    if family.get("error_rate") is not None:
        claims = family.get("claims")
        count = len(claims) if isinstance(claims, Sequence) and not isinstance(claims, str) else claims
        words.append(f"The {count} claims are one family; its error rate is {family['error_rate']:g} ({family.get('method', 'method not stated')}).")
    words.append("Each is judged first without removing outliers, then under the publication's own rule.")
    return " ".join(words)


def _choices(claims: Iterable[Json]) -> list[Block]:
    """Verdict against each unstated choice: every combination if they fit, else by level with the combinations behind."""
    rows = [claim for claim in claims if claim.get("choices")]
    if not rows:
        return []
    combinations = list(dict.fromkeys(_levels(choice) for claim in rows for choice in claim["choices"]))
    full = _combination_table(rows, combinations)
    note = Prose("What the publication leaves open decides some of its claims: each column is one way of filling the gap.")
    if len(combinations) <= MOST_COLUMNS:
        return [note, full]
    return [note, _marginal_table(rows), Group(f"All {len(combinations)} combinations", [full])]


def _combination_table(claims: Sequence[Json], combinations: Sequence[tuple[tuple[str, str], ...]]) -> Table:
    varied = {path for path in dict(combinations[0]) if len({dict(c).get(path) for c in combinations}) > 1}
    columns = [Column(", ".join(level_words(*pair) for pair in c if pair[0] in varied) or "as published", numeric=False) for c in combinations]
    rows = []
    for claim in claims:
        verdicts = {_levels(choice): choice.get("verdict") for choice in claim["choices"]}
        rows.append([Cell(str(claim["id"]), title=str(claim.get("text", ""))), *(_verdict(verdicts.get(c)) for c in combinations)])
    return Table("Verdict under each combination of unstated choices", [Column("claim", numeric=False), *columns], rows)


def _marginal_table(claims: Sequence[Json]) -> Table:
    levels = list(dict.fromkeys(pair for claim in claims for choice in claim["choices"] for pair in _levels(choice)))
    rows = []
    for claim in claims:
        row = [Cell(str(claim["id"]), title=str(claim.get("text", "")))]
        for pair in levels:
            found = [str(choice.get("verdict")) for choice in claim["choices"] if pair in _levels(choice)]
            counts = {verdict: found.count(verdict) for verdict in TONES if verdict in found}
            words = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
            unanimous = next(iter(counts)) if len(counts) == 1 else None
            row.append(Cell(words, tone=TONES[unanimous] if unanimous else "unsure") if words else dash("not judged"))
        rows.append(row)
    columns = [Column("claim", numeric=False), *(Column(level_words(*pair), numeric=False) for pair in levels)]
    return Table("Verdicts at each level of an unstated choice, over all others", columns, rows)


def _levels(choice: Json) -> tuple[tuple[str, str], ...]:
    return tuple((path, str(level)) for path, level in (choice.get("levels") or {}).items())
