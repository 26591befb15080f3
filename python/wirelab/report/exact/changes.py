"""What `compare` found of two enumerations, in words and as a table."""

from __future__ import annotations

from collections.abc import Iterator

from wirelab.report.blocks import Cell, Column, Table
from wirelab.report.compared import Case, Compared
from wirelab.report.exact.words import delay, percent
from wirelab.schema.changes import EnumeratedChange, ExactChanges, PriceChange, ProbabilityChange

MOST_PRICES = 3


def compared(changes: ExactChanges) -> Compared:
    """Everything that is shown of it."""
    packets = [line for each in changes["scenarios"] for line in packets_words(each)]
    cases = [
        Case(
            _scenario(scenario),
            f"P(longer than {delay(each['delay_s'])}) at a loss of {each['loss']}",
            "failure" if each["change"] == "larger" else "skipped" if each["change"] == "inconclusive" else None,
            f"{percent(each['new'])}, and was {percent(each['old'])}",
        )
        for scenario in changes["scenarios"]
        for each in scenario["probabilities"]
    ]
    notes = [f"Old  {changes['old']}", f"New  {changes['new']}", *_notes(changes)]
    return Compared(f"{changes['old']} and {changes['new']}", headline(changes), table(changes), packets, notes, cases)


def headline(changes: ExactChanges) -> str:
    """One sentence: what became worse, what changed, or that nothing did."""
    each = [(scenario, one) for scenario in changes["scenarios"] for one in scenario["probabilities"]]
    number = len(changes["scenarios"])
    where = f"{number} scenario{'s' * (number != 1)}"
    match changes["verdict"]:
        case "slower":
            worse = [pair for pair in each if pair[1]["change"] == "larger"]
            scenarios = len({id(scenario) for scenario, _ in worse})
            return f"Worse in {scenarios} of {where}: {_named(*max(worse, key=lambda pair: _times(pair[1])))}."
        case "changed":
            smaller = [pair for pair in each if pair[1]["change"] == "smaller"]
            if not smaller:
                return "Packets changed, and no probability did by more than the margin."
            return f"Changed, and not for the worse: {_named(*min(smaller, key=lambda pair: _times(pair[1])))}."
        case "unchanged":
            return f"Unchanged: the same packets, prices and probabilities in {where}."
    return "Inconclusive: the bounds are too wide to say whether a probability changed."


def table(changes: ExactChanges) -> Table:
    """A row for each probability under the losses that both sides were asked for, and for each other one that
    changed.
    """
    rows = [
        [
            Cell(_scenario(scenario)), Cell(each["loss"]), Cell(delay(each["delay_s"])), Cell(percent(each["old"])),
            Cell(percent(each["new"])), Cell(each["change"], tone="bad" if each["change"] == "larger" else None),
        ]
        for scenario in changes["scenarios"]
        for each in scenario["probabilities"]
        if each["loss"] in changes["asked"] or each["change"] in {"larger", "smaller"}
    ]  # fmt: skip
    columns = [
        Column("scenario", numeric=False), Column("loss, each way"), Column("longer than"), Column("old"),
        Column("new"), Column("change", numeric=False),
    ]  # fmt: skip
    return Table("Probabilities", columns, rows, row_headers=2)


def packets_words(scenario: EnumeratedChange) -> Iterator[str]:
    """What differs without losses, and what losing a packet costs now."""
    name = _scenario(scenario)
    if scenario["first"] is not None:
        yield f"{name}: first change at {scenario['first']}."
    for price in scenario["prices"][:MOST_PRICES]:
        yield f"{name}: losing packet {price['packet']} ({price['words']}) costs {_price(price)}."
    if (more := len(scenario["prices"]) - MOST_PRICES) > 0:
        yield f"{name}: {more} more packet{'s cost' if more > 1 else ' costs'} something else now."


def _notes(changes: ExactChanges) -> Iterator[str]:
    """What limits it."""
    for words, names in (("old", changes["only_old"]), ("new", changes["only_new"])):
        if names:
            yield f"Only on the {words} side, and not compared: {', '.join(sorted(names))}."
    yield from changes["warnings"]


def _named(scenario: EnumeratedChange, each: ProbabilityChange) -> str:
    what = f"{_scenario(scenario)}, P(longer than {delay(each['delay_s'])}) at a loss of {each['loss']}"
    return f"{what} was {percent(each['old'])} and is {percent(each['new'])}"


def _times(each: ProbabilityChange) -> float:
    return each["new"]["low"] / max(each["old"]["high"], 1e-12)


def _price(price: PriceChange) -> str:
    old, new = ("no end" if each is None else delay(each) for each in (price["old_s"], price["new_s"]))
    return f"{new} now, and cost {old}"


def _scenario(scenario: EnumeratedChange) -> str:
    return scenario["name"] + (f", seed {scenario['seed']}" if scenario["seed"] > 1 else "")
