"""The publication's printed numbers as a whole: skill, one-line models, contradictions inside it. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import get_args

from wirelab.report.blocks import Block, Cell, Column, Group, Items, Prose, Table, dash, number
from wirelab.report.model import level_words
from wirelab.report.numbers import COUNT, UNITS, Estimate, interval, plain
from wirelab.report.over_grid import NOTHING_DECLARED, interpretation_title
from wirelab.report.replication.digits import short_interval
from wirelab.report.statement import listed
from wirelab.schema.printed import (
    InsideCell,
    InsideRecord,
    ModelRecord,
    NullModel,
    PredictionRecord,
    PrintedCell,
    Skilled,
    SkillRecord,
)
from wirelab.schema.replication import Replication
from wirelab.schema.verdicts import GridRecord, Verdicts

SKILL = "Skill: our means next to the printed ones"
LEFT_OUT = "Fits with one column left out"
MODELS = "One-line models"
NULLS: dict[NullModel, str] = {
    "constant": "one constant", "protocol-median": "protocol’s median", "null-cell": "reference cell",
}  # fmt: skip
WORDS: dict[Skilled, str] = {"skill": "skill", "no-skill": "no skill", "not-shown": "not shown"}
TONES: dict[Skilled, str] = {"skill": "good", "no-skill": "bad", "not-shown": "unsure"}
NOT_COMPARED = "no number that it could predict was measured"
ABOUT = (
    "Errors are mean absolute natural logarithms of a ratio: 0.1 is about 10 %, and 0.69 a factor of 2. "
    "A null model is fitted to the publication’s printed numbers, but never to the one that it predicts. "
    "No skill means that our error is not below that of the best null model on the same numbers. "
    "The reference cell, such as the one without loss, predicts the other cells of its protocol. "
    "If a null model can predict some of the numbers only, our error on these stands in brackets. "
    "Standard deviations are not compared, and neither are numbers of which we have no estimate."
)


def blocks(verdicts: Verdicts | Replication) -> list[Block]:
    """Tables and sentences; none if the publication prints no numbers and its claims name no models."""
    grid = verdicts.get("grid", NOTHING_DECLARED)
    skills, models, inside = verdicts.get("skill", []), verdicts.get("models", []), verdicts.get("inside", [])
    found: list[Block] = []
    if skills:
        found += [Prose(ABOUT), _skill(skills, grid)]
        if any(each["left_out"] for each in skills):
            found.append(_left_out(skills, grid))
    if models:
        found.append(_models(models))
        if notes := [f"{each['name']}: {each['note']}." for each in models if each["note"]]:
            found.append(Items(notes))
    if inside:
        found.append(Group(_about_inside(inside), [Items(list(contradictions(inside)))], open=True, printed=True))
    return found


def of_papers(records: Sequence[Replication]) -> list[Block]:
    """The skill of each paper's interpretations, their fits with one column left out, and how many printed numbers
    contradict others; none without any.
    """
    tables = []
    for record in (each for each in records if each["skill"]):
        skills, grid, paper = record["skill"], record["grid"], record["paper"]
        tables.append(replace(_skill(skills, grid), caption=f"{paper}: our means next to the printed ones"))
        if any(each["left_out"] for each in skills):
            tables.append(replace(_left_out(skills, grid), caption=f"{paper}: fits with one column left out"))
    notes = [
        f"{record['paper']}: no null model can predict its numbers, since it prints one of each metric."
        for record in records
        if record["skill"] and not any(each["error"] and each["error"]["nulls"] for each in record["skill"])
    ]
    notes += [
        f"{record['paper']}: {_not_left_out(record['skill'])}."
        for record in records
        if record["skill"] and not any(each["left_out"] for each in record["skill"])
    ]
    notes += [f"{record['paper']}: {_about_inside(record['inside'])}." for record in records if record["inside"]]
    return [*([Prose(ABOUT)] if tables else []), *tables, *([Items(notes)] if notes else [])]


def _not_left_out(skills: Sequence[SkillRecord]) -> str:
    """Why there is no fit with one column left out."""
    used = max(each["used"] for each in skills)
    if not used:
        return "no interpretation is fitted to its printed numbers, so that no column can be left out of a fit"
    return f"its fits use {used} printed number{'s' * (used != 1)}, too few to leave a column out"


def contradictions(inside: Sequence[InsideRecord]) -> Iterator[str]:
    """A sentence for each order that the printed numbers should have."""
    for each in inside:
        against = each["against"]
        head = f"{each['title']}: {len(against)} of {each['compared']} printed pairs contradict it"
        worst = sorted(against, key=lambda cell: -(cell["z"] or 0.0))
        pairs = "; ".join(_pair(cell, each["factor"]) for cell in worst)
        yield f"{': '.join(filter(None, [head, pairs]))}. {each['why']}."


def _about_inside(inside: Sequence[InsideRecord]) -> str:
    against = sum(len(each["against"]) for each in inside)
    return f"Contradictions inside the publication: {against} of {sum(each['compared'] for each in inside)} pairs"


def _pair(cell: InsideCell, factor: float) -> str:
    lower, upper = cell["lower"], cell["upper"]
    times = "" if factor == 1 else f"{factor:g} times "
    z = "the publication prints no standard deviations" if cell["z"] is None else f"z = {cell['z']:.0f}"
    return f"{_value(lower)} ({_where(lower)}) is above {times}{_value(upper)} ({_where(upper)}), {z}"


def _value(cell: PrintedCell) -> str:
    unit = UNITS[cell["unit"]]
    return "\u00a0".join(filter(None, [plain(cell["value"] * unit.per_base), unit.symbol]))


def _where(cell: PrintedCell) -> str:
    return ", ".join([cell["metric"], *(level_words(path, level) for path, level in cell["levels"].items())])


def _skill(skills: Sequence[SkillRecord], grid: GridRecord) -> Table:
    columns = [
        Column("interpretation", numeric=False), Column("knobs set"), Column("numbers used"),
        Column("predicted numbers compared"), Column("our error [interval]"), *map(Column, NULLS.values()),
        Column("skill", numeric=False),
    ]  # fmt: skip
    rows = [
        [
            _name(each, grid), Cell(f"{each['knobs']}"), Cell(f"{each['used']}"), _predicted(each),
            *_errors(each["error"], each), _skilled(each),
        ]
        for each in skills
    ]  # fmt: skip
    return Table(SKILL, columns, rows)


def _left_out(skills: Sequence[SkillRecord], grid: GridRecord) -> Table:
    columns = [
        Column("interpretation", numeric=False), Column("left out, one level at a time", numeric=False),
        Column("numbers"), Column("our error [interval]"), *map(Column, NULLS.values()),
    ]  # fmt: skip
    rows = [
        [_name(each, grid), Cell(one["path"]), Cell(f"{one['n']}"), *_errors(one, each)]
        for each in skills
        for one in each["left_out"]
    ]
    return Table(LEFT_OUT, columns, rows, row_headers=2)


def _name(skill: SkillRecord, grid: GridRecord) -> Cell:
    rule = ", by the outlier rule" if skill["by_rule"] else ""
    return Cell(f"{skill['interpretation']}{rule}", title=interpretation_title(skill["interpretation"], grid))


def _predicted(skill: SkillRecord) -> Cell:
    n, missing = (skill["error"]["n"] if skill["error"] else 0), skill["missing"]
    title = f"{n} means and medians were compared; {missing} printed numbers have no estimate of ours above 0"
    return Cell(f"{n}" if n == skill["predicted"] else f"{n} of {skill['predicted']}", title=title)


def _errors(prediction: PredictionRecord | None, skill: SkillRecord) -> list[Cell]:
    """Ours, then that of each null model."""
    if prediction is None:
        return [dash(NOT_COMPARED)] * (1 + len(NULLS))
    known = {each["model"]: each for each in prediction["nulls"]}
    levels = ", ".join(level_words(path, level) for path, level in skill["null_cell"].items())
    ours = Estimate.of(prediction["error"])
    cells = [Cell(short_interval(ours), title=f"n = {prediction['n']}")]
    for model in get_args(NullModel):
        if (each := known.get(model)) is None:
            cells.append(dash("it can predict none of these numbers"))
            continue
        at = f"at {levels}: " if model == "null-cell" else ""
        score = interval(Estimate.of(each["score"]), COUNT)
        title = (
            f"{at}on {each['n']} numbers, where ours is {plain(each['ours'])}; skill score {score}; "
            f"{plain(each['error_seen'])} if it sees the number that it predicts"
        )
        own = "" if each["n"] == prediction["n"] else f" (ours {plain(each['ours'])})"
        cells.append(Cell(f"{plain(each['error'])}{own}", title=title))
    return cells


def _skilled(skill: SkillRecord) -> Cell:
    if skill["skill"] is None:
        return dash(NOT_COMPARED if skill["error"] is None else "no null model can predict these numbers")
    nulls = skill["error"]["nulls"] if skill["error"] else []
    better = [NULLS[each["model"]] for each in nulls if (each["score"]["point"] or 0.0) <= 0]
    title = f"not below the error of: {listed(better)}" if better else "below the error of each null model"
    return Cell(WORDS[skill["skill"]], tone=TONES[skill["skill"]], title=title)


def _models(models: Sequence[ModelRecord]) -> Table:
    columns = [
        Column("model", numeric=False), Column("a round", "ms"), Column("constants fitted"),
        Column("printed means"), Column("error against printed"), Column("our means"), Column("error against ours"),
    ]  # fmt: skip
    rows = []
    for each in models:
        printed, ours = each["printed"], each["ours"]
        constants = max(len(one["constants"]) if one else 0 for one in (printed, ours))
        cells = [
            cell
            for one, reason in ((printed, "none of them is printed"), (ours, "none of them was measured"))
            for cell in (
                [dash(reason)] * 2
                if one is None
                else [
                    Cell(f"{one['n']}"),
                    number(one["error"], reason="as many constants as means, or a time below 0"),
                ]
            )
        ]
        text = Cell(f"{each['name']}: {each['text']}", title=each["note"])
        rows.append([text, Cell(plain(each["round_s"] * 1e3)), Cell(f"{constants}"), *cells])
    return Table(MODELS, columns, rows)
