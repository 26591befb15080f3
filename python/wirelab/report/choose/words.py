"""What `choose` found, in sentences, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from wirelab.report.choose import maps
from wirelab.report.choose.amounts import NO_MATTER, point, seconds, share
from wirelab.report.choose.settings import SAME, Standing, decisive, is_first, kinds, several, standings
from wirelab.report.numbers import COUNT, DASH, Estimate, interval
from wirelab.schema.choose import Choice, Chosen, Criterion
from wirelab.schema.exact import ExactBounds
from wirelab.units import format_share, format_size

LONG = 25
"""Words of the longest sentence at the beginning."""
RUNS = {
    "always": "run",
    "where it moves a packet": "run where it moves a packet, else applied to the packets of one run",
    "never": "applied to the packets of one run",
}
UNVALIDATED = " (unvalidated)"
MOST_STANDINGS = 4
"""Sentences of what is first in which settings of the network."""
NEARLY_ALL = 0.8
"""Of the energy: what one state of the radio takes so much of is its lever."""
NO_EFFECT = "None of them changes a value by 1 %."
"""Of settings that are all the same in effect."""


def lead(record: Chosen) -> str:
    """The first sentences: which is first, and the assumption that decides it. None is long."""
    spread, count = record["spread"], len(ranked(record))
    if (nearest := _nearest(record)) is not None:
        return nearest
    if not count:
        return "No protocol is first: no choice could be ranked."
    if spread is not None and spread < NO_MATTER:
        protocols = len({choice["protocol"] for choice in ranked(record)})
        most = f"{format_share(spread - 1)} at most{'' if record['settled'] else ' so far'}"
        return (
            f"No difference that matters: {protocols} protocols, each with its best connections, differ by {most}. "
            f"The protocol is not your lever{_rather(record)}."
        )
    if record["first"] is None:
        return _no_first(record)
    first = f"First{'' if record['settled'] else ' so far'}: {record['first']}."
    alone = " No other choice is ranked." if count == 1 else ""
    return f"{first}{alone}{_in_settings(record)}"


def _rather(record: Chosen) -> str:
    """Where the radio spends most of the energy, if one state takes nearly all of it; else nothing."""
    states = ranked(record)[0]["energy_states_j"]
    most = max(states, key=states.__getitem__, default=None)
    if record["criterion"] != "energy" or most is None or (part := states[most] / sum(states.values())) < NEARLY_ALL:
        return ""
    return f": the radio spends {share(part)} of the energy in its state '{most}'"


def _nearest(record: Chosen) -> str | None:
    """That no choice keeps the deadline, and which comes nearest; None if one keeps it."""
    deadline_s = record["question"]["deadline_s"]
    found = next((choice for choice in record["choices"] if choice["name"] == record["nearest"]), None)
    if found is None or deadline_s is None:
        return None
    so_far = "" if record["settled"] else " so far"
    by_then = point(found["within_deadline"], share)
    half = "" if (p50 := point(found["p50_s"], seconds)) == DASH else f", and half of them within {p50}"
    most = "" if (p95 := point(found["p95_s"], seconds)) == DASH else f" It acknowledges 95 % within {p95}."
    return (
        f"No choice keeps the deadline of {seconds(deadline_s)}{so_far}. "
        f"{found['name']} comes nearest: it acknowledges {by_then} of its messages by then{half}.{most}"
    )


def _in_settings(record: Chosen) -> str:
    """In how many settings of the network the first is first, and what is first in others."""
    total, found = len(record["settings"]), standings(record)
    if total < 2:
        return ""
    alone = next((each for each in found if each.first == (record["first"],)), None)
    flip = decisive([each for each in found if each.first != (record["first"],)])
    if flip is None:
        effective = _effective(record)
        effect = f" ({effective} that differ in effect)" if effective is not None and effective > 1 else ""
        if effective == 1:
            return f" It is first in all {total} operator settings{_tried(record)}. {NO_EFFECT}"
        return f" It is first in all {total} operator settings{_tried(record)}{effect}."
    count, some = (0, 0) if alone is None else (alone.count, alone.kinds)
    of = f"{total} operator settings{_tried(record)}{_in_effect(record, some, ' that differ')}"
    rest = total - count - flip.count
    others = [f"In the other {rest} it is otherwise."] if rest > 0 else []
    return " ".join([f" It is first in {count} of {of}.", *_elsewhere(flip), *others])


def _elsewhere(flip: Standing) -> Iterator[str]:
    """What is first in other settings, and in which, in short sentences."""
    what = is_first(flip.first) if flip.first else "Nothing is ranked"
    whole = f"{what} {flip.how} {' and '.join(flip.parts)}."
    if flip.parts and _is_short(whole):
        yield whole
        if flip.more:
            yield f"The same holds in {flip.more} more."
        return
    others = f"{flip.count} other{'s' * (flip.count != 1)}"
    counted = f"{what} in {others}."
    yield (counted if _is_short(counted) else f"{flip.first[0]} and {len(flip.first) - 1} more are alike in {others}.")
    for at, part in enumerate(flip.parts):
        where = "There" if at or not flip.more else f"In {flip.count - flip.more} of these"
        sentence = f"{where}, {part}."
        axis, _, some = part.partition(" is ")
        yield sentence if _is_short(sentence) else f"{where}, {axis} has one of {some.count(' or ') + 1} levels."


def _is_short(sentence: str) -> bool:
    return len(sentence.split()) <= LONG


def _in_effect(record: Chosen, some: int, how: str = "") -> str:
    """Behind a number of settings, if not all of them differ in effect."""
    effective = _effective(record)
    return "" if effective in {None, 1} else f" ({some} of {effective}{how} in effect)"


def _effective(record: Chosen) -> int | None:
    """How many settings differ in effect; None if all do."""
    found = len({*kinds(record["settings"])})
    return None if found == len(record["settings"]) else found


def _tried(record: Chosen) -> str:
    """Behind a number of settings, if not all were tried."""
    whole = prod(len(axis["levels"]) for axis in record["axes"])
    return f" that were tried, of {whole}" if len(record["settings"]) < whole else ""


def _no_first(record: Chosen) -> str:
    """Several share the first rank."""
    alike = [choice for choice in record["choices"] if choice["name"] in record["alike"]]
    distance = _distance(record, alike)
    protocols = {choice["protocol"] for choice in alike}
    if not record["settled"] and record["gap"] is not None:
        return f"Not decided after {_trials(record)} trials. {several(record['alike'])} may be alike.{distance}"
    if len(protocols) == 1 and len(alike) > 1:
        policies = several([choice["policy"] for choice in alike])
        only = len({choice["protocol"] for choice in ranked(record)}) == 1
        first = f"Only {protocols.pop()} is ranked" if only else f"First: {protocols.pop()}"
        return f"{first}. Its connections are alike: {policies}.{distance}"
    return f"No protocol is first. {several(record['alike'])} are alike.{distance}"


def _trials(record: Chosen) -> int:
    return max(choice["trials"] for choice in record["choices"])


def _distance(record: Chosen, alike: Sequence[Choice]) -> str:
    gap = record["gap"]
    values = [value for choice in alike if (value := _value(record["criterion"], choice)) is not None]
    if len(alike) == 2 and gap is not None and gap["point"] is not None:
        return f" They are {format_share(gap['point'] - 1)} apart."
    if len(values) > 1 and min(values) > 0:
        return f" They are at most {format_share(max(values) / min(values) - 1)} apart."
    return ""


def _value(what: Criterion, choice: Choice) -> float | None:
    if what == "data":
        return choice["data_bytes"]["point"]
    return None if choice["energy_j"] is None else choice["energy_j"]["typical"]


def meant(record: Chosen) -> list[Choice]:
    """The choices of which more is said: those that have a rank, or the one that comes nearest to the deadline."""
    return ranked(record) or [choice for choice in record["choices"] if choice["name"] == record["nearest"]]


def ranked(record: Chosen) -> list[Choice]:
    """The choices that have a rank."""
    return [choice for choice in record["choices"] if choice["rank"] is not None]


def gap(record: Chosen) -> list[str]:
    """How much more the second takes, with the interval that decided; nothing with fewer than two."""
    # Those that are alike stand in another order in the table.
    known = sorted(ranked(record), key=lambda choice: _value(record["criterion"], choice) or 0.0)
    if record["gap"] is None or len(known) < 2 or record["gap"]["point"] is None:
        return []
    times = interval(Estimate.of(record["gap"]), COUNT)
    modelled = "modelled energy" if record["criterion"] == "energy" else "data"
    method = record["gap"]["method"]
    return [
        f"{known[1]['name']} takes {times} times the {modelled} of {known[0]['name']}.",
        *[f"The interval of this ratio is {method}."] * bool(method and record["gap"]["low"] is not None),
    ]


def least_data(record: Chosen) -> list[str]:
    """Of choices that share the first rank, which sends least; nothing if one is first."""
    alike = [choice for choice in ranked(record) if choice["name"] in record["alike"]]
    known = [(choice["data_year_bytes"], choice["name"]) for choice in alike]
    sizes = sorted((size, name) for size, name in known if size is not None)
    if record["criterion"] == "data" or len(sizes) < 2:
        return []
    return [f"Of these, {sizes[0][1]} sends least: {format_size(sizes[0][0])} a year."]


def left_out(record: Chosen) -> list[str]:
    """What would take least if it were ranked, with the reason why it is not; and what is first and may be too late."""
    said: dict[str, list[str]] = {}
    known = {choice["name"]: choice for choice in record["choices"]}
    measures: tuple[Criterion, ...] = ("energy", "data") if record["criterion"] == "energy" else ("data",)
    for what in measures:
        values = {name: value for name, choice in known.items() if (value := _value(what, choice)) is not None}
        able = [name for name in values if known[name]["rank"] is not None]
        others = [name for name in values if name not in able and _delivers(known[name])]
        if not able or not others:
            continue
        best, least = (min(names, key=values.__getitem__) for names in (able, others))
        if values[least] * SAME < values[best]:
            less = format_share(1 - values[least] / values[best])
            said.setdefault(least, []).append(f"{less} less {what}")
    found = [
        f"Left out: {name} ({' and '.join(less)} than any choice that is ranked). {known[name]['not_ranked']}"
        for name, less in said.items()
    ]
    lowest = [choice for choice in ranked(record) if choice["rank"] == 1 and choice["near_deadline"] is not None]
    return [*found, *(f"{choice['name']}: {choice['near_deadline']}" for choice in lowest)]


def _delivers(choice: Choice) -> bool:
    return choice["not_ranked"] is not None and choice["lost"] < choice["messages"]


def safest(record: Chosen) -> list[str]:
    """What to take without knowing the network; nothing if the first is that everywhere."""
    found = record["safest"]
    if found is None or (found["name"] == record["first"] and found["ratio"] < NO_MATTER):
        return []
    above = format_share(found["ratio"] - 1)
    return [f"Safest without knowing the network: {found['name']}, at most {above} above the lowest in any setting."]


def settings(record: Chosen) -> list[str]:
    """A sentence for each choice that is first in some settings of the network."""
    total, known = len(record["settings"]), standings(record)
    if total < 2:
        return []
    if not any(each.first for each in known):
        return [f"No choice keeps the deadline in any of {total} operator settings{_tried(record)}."]
    found, shown = list[str](), known if len(known) <= MOST_STANDINGS else known[: MOST_STANDINGS - 1]
    for at, each in enumerate(shown):
        # Where the usual first is first is said by the others' conditions.
        usual = at == 0 and 2 * each.count > total
        condition = f": {each.condition}" if each.condition and not usual else ""
        what = is_first(each.first) if each.first else "Nothing is ranked"
        if record["first"] is None and len(each.first) == 1:
            what = f"{each.first[0]} is lowest by typical values"
        of = f"{total} operator settings{_tried(record)}{_in_effect(record, each.kinds)}"
        found.append(f"{what} in {each.count} of {of}{condition}.")
    if len(shown) < len(known):
        rest = known[len(shown) :]
        count = sum(each.count for each in rest)
        found.append(f"In {count} other settings it is otherwise; the table of the page has them.")
    return found


def how_counted(record: Chosen) -> list[str]:
    """What counts of settings rest on; nothing without."""
    trials = sorted({each["trials"] for each in record["settings"]})
    if len(record["settings"]) < 2:
        return []
    number = f"{trials[0]}{f' to {trials[-1]}' if len(trials) > 1 else ''}"
    said = [f"Operator settings are compared by {number} trials each, without intervals; values within 1 % are alike."]
    if (_effective(record) or 0) > 1:
        said.append("Settings differ in effect if they change the first, or a value by 1 % or more.")
    return said


def late(record: Chosen) -> list[str]:
    """How probable a late acknowledgement is where every pattern of lost packets was run; nothing without."""
    known = [(choice["name"], choice["late_exact"]) for choice in record["choices"]]
    found = [f"{name} {_between(bounds)}" for name, bounds in known if bounds is not None]
    deadline = record["question"]["deadline_s"]
    if not found or deadline is None:
        return []
    return [f"Later than {seconds(deadline)}, over every pattern of lost packets: {'; '.join(found)}."]


def _between(bounds: ExactBounds) -> str:
    low, high = share(bounds["low"]), share(bounds["high"])
    return low if low == high else f"{low} to {high}"


def crossings(record: Chosen) -> list[str]:
    """Where the first changes along one number, of each map."""
    return [sentence for each in record["maps"] for sentence in maps.crossings(each)]


def quality(record: Chosen) -> str:
    """What the figures rest on: trials, the clock, and how good the radio's model is."""
    trials = sorted({choice["trials"] for choice in record["choices"] if choice["trials"]})
    counted = [f"{trials[0]}{f' to {trials[-1]}' if len(trials) > 1 else ''} trials of a choice"] if trials else []
    parts = [*counted, f"{record['clock']} clock", *radio(record)]
    return f"Quality: {'; '.join(parts)}."


def radio(record: Chosen) -> list[str]:
    """How good the radio's model is, in a few words; nothing without a radio."""
    name, errors = record["question"]["radio"], [each["off_by"] for each in record["radio_errors"]]
    if name is None:
        return []
    standing = "radio not validated" if name.endswith(UNVALIDATED) else "radio validated"
    if not errors:
        return [f"{standing} (no published figure tests it)"]
    least, most = (_percent(error) for error in (min(errors), max(errors)))
    return [f"{standing} (its published figures are missed by {least}{'' if least == most else f' to {most}'} %)"]


def _percent(error: float) -> str:
    """`-59`; what rounds to 0 has no sign."""
    return f"{100 * error:+.0f}" if abs(error) >= 0.005 else "0"


def radio_errors(record: Chosen) -> list[list[str]]:
    """Rows, the header first: every published figure of the radio next to its model; none without."""
    rows = [
        [each["what"], each["published"], each["model"], f"{_percent(each['off_by'])} %"]
        for each in record["radio_errors"]
    ]
    return [["published figure", "published", "modelled", "model is off by"], *rows] if rows else []


def operator_axes(record: Chosen) -> list[list[str]]:
    """Rows, the header first: the settings of the network that were tried; none without."""
    rows = [
        [each["name"], "; ".join(each["levels"]), RUNS[each["runs"]], each["source"]]
        for each in record["axes"]
    ]  # fmt: skip
    return [["setting", "levels, the typical one first", "how", "source"], *rows] if rows else []


def assumptions(record: Chosen) -> list[str]:
    """What the answer rests on; settings of the network that change the first come first."""
    return [*settings(record), *record["assumptions"]]


def not_considered(record: Chosen) -> str:
    """What the answer leaves out, on one line; empty if nothing is."""
    parts = [each.rstrip(".") for each in record["not_considered"]]
    between = "; " if any("," in each for each in parts) else ", "
    return f"Not considered: {between.join(parts)}." if parts else ""


def warnings(record: Chosen) -> list[str]:
    """What limits the numbers."""
    what = "which is first" if ranked(record) else "this"
    so_far = [] if record["settled"] else [f"Not settled: more trials may change {what}."]
    return [*so_far, *record["warnings"]]
