"""What `choose` found, in words: every sentence, and the rows of every table, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

from wirelab.report.choose import maps
from wirelab.report.choose.amounts import NO_MATTER, digits, factor, lasts, money, seconds, share, times
from wirelab.report.choose.settings import Standing, decisive, is_first, named, several, standings
from wirelab.report.numbers import COUNT, DASH, Estimate, interval
from wirelab.schema.bounds import Bounds
from wirelab.schema.choose import Choice, Chosen, Lever
from wirelab.schema.estimates import EstimateRecord
from wirelab.schema.exact import ExactBounds
from wirelab.units import format_energy, format_share, format_size

HEADS, NAMED = 2, 3
"""Rows of a table's header, and its columns before those of figures."""
MOST_LEVERS = 4
"""Of a sentence."""
MOST_LIVES = 2
"""Choices whose battery life is a sentence."""
UNVALIDATED = " (unvalidated)"
FEW = "fewer than 100 messages"
NO_ACKNOWLEDGEMENT = "no acknowledgement is known"


def lead(record: Chosen) -> str:
    """The first sentence: which is first, and the assumption that decides it."""
    spread, count = record["spread"], len(ranked(record))
    if not count:
        return "No protocol is first: no choice could be ranked."
    if spread is not None and spread < NO_MATTER:
        protocols = len({choice["protocol"] for choice in ranked(record)})
        most = f"{format_share(spread - 1)} at most{'' if record['settled'] else ' so far'}"
        return (
            f"No difference that matters: {protocols} protocols, each with its best connections, differ by {most}. "
            "The protocol is not your lever."
        )
    if record["first"] is None:
        return _no_first(record)
    first = f"First{'' if record['settled'] else ' so far'}: {record['first']}."
    return f"{first} No other choice is ranked." if count == 1 else f"{first}{_in_settings(record)}"


def _in_settings(record: Chosen) -> str:
    """In how many settings of the network the first is first, and what is first in others."""
    total, found = len(record["settings"]), standings(record)
    if total < 2:
        return ""
    alone = next((each.count for each in found if each.first == (record["first"],)), 0)
    flip = decisive([each for each in found if each.first != (record["first"],)])
    if flip is None:
        return f" In all {total} operator settings{_tried(record)}."
    return f" In {alone} of {total} operator settings{_tried(record)}; {named(flip.first)} {_where(flip)}."


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
        return f"Not decided after {_trials(record)} trials: {several(record['alike'])} may be alike{distance}."
    if len(protocols) == 1 and len(alike) > 1:
        policies = several([choice["policy"] for choice in alike])
        only = len({choice["protocol"] for choice in ranked(record)}) == 1
        first = f"Only {protocols.pop()} was compared" if only else f"First: {protocols.pop()}"
        return f"{first}. Its connections are alike: {policies}{distance}."
    return f"No protocol is first: {several(record['alike'])} are alike{distance}."


def _trials(record: Chosen) -> int:
    return max(choice["trials"] for choice in record["choices"])


def _distance(record: Chosen, alike: Sequence[Choice]) -> str:
    gap = record["gap"]
    values = [value for choice in alike if (value := _rank_value(record, choice)) is not None]
    if len(alike) == 2 and gap is not None and gap["point"] is not None:
        return f" ({format_share(gap['point'] - 1)} apart)"
    if len(values) > 1 and min(values) > 0:
        return f" (at most {format_share(max(values) / min(values) - 1)} apart)"
    return ""


def _rank_value(record: Chosen, choice: Choice) -> float | None:
    if record["criterion"] == "data":
        return choice["data_bytes"]["point"]
    return None if choice["energy_j"] is None else choice["energy_j"]["typical"]


def ranked(record: Chosen) -> list[Choice]:
    """The choices that have a rank."""
    return [choice for choice in record["choices"] if choice["rank"] is not None]


def what_ranks(record: Chosen) -> str:
    """`energy` or `data`."""
    return record["criterion"]


def gap(record: Chosen) -> list[str]:
    """How much more the second takes, with the interval that decided; nothing with fewer than two."""
    known = ranked(record)
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


def safest(record: Chosen) -> list[str]:
    """What to take without knowing the network; nothing if the first is that everywhere."""
    found = record["safest"]
    if found is None or (found["name"] == record["first"] and found["ratio"] < NO_MATTER):
        return []
    above = format_share(found["ratio"] - 1)
    return [f"Safest without knowing the network: {found['name']}, at most {above} above the lowest in any setting."]


def settings(record: Chosen) -> list[str]:
    """A sentence for each choice that is first in some settings of the network."""
    total = len(record["settings"])
    if total < 2:
        return []
    found = []
    for at, each in enumerate(standings(record)):
        # Where the usual first is first is said by the others' conditions.
        usual = at == 0 and 2 * each.count > total
        condition = f", {each.condition}" if each.condition and not usual else ""
        what = is_first(each.first) if each.first else "Nothing is ranked"
        if record["first"] is None and len(each.first) == 1:
            what = f"{each.first[0]} is lowest by typical values"
        found.append(f"{what} in {each.count} of {total} operator settings{_tried(record)}{condition}.")
    return found


def _where(flip: Standing) -> str:
    return flip.condition or f"in {flip.count}"


def table(record: Chosen) -> list[list[str]]:
    """Rows of the table: `HEADS` of its header first. What nobody asked for has no column. The first `NAMED` columns
    are words.
    """
    columns = [*_columns(record)]
    head = [["", "", "", *(title for title, _, _ in columns)], ["", "", "", *(how for _, how, _ in columns)]]
    rows = [
        [
            rank(choice),
            choice["name"],
            choice["program"] and f"({choice['program']})",
            *(cells[at] for _, _, cells in columns),
        ]
        for at, choice in enumerate(record["choices"])
    ]
    return [*head, *rows]


def _columns(record: Chosen) -> Iterator[tuple[str, str, list[str]]]:
    """Title, whether it is measured or modelled, and a cell for each choice."""
    choices, asked, measured = record["choices"], record["question"], "measured"
    if record["criterion"] == "energy":
        yield "a message", "modelled J", [_typical(each["energy_j"]) for each in choices]
    else:
        yield "a message", "measured IP bytes", [_point(each["data_bytes"], format_size) for each in choices]
    yield "data/year", measured, [data_year(each) for each in choices]
    if asked["tariff"] is not None:
        yield "cost/year", measured, [cost_year(each, asked["tariff"]["currency"]) for each in choices]
    yield "ack p50", measured, [_point(each["p50_s"], seconds) for each in choices]
    yield "p95", measured, [_point(each["p95_s"], seconds) for each in choices]
    if asked["deadline_s"] is not None:
        within = [_point(each["within_deadline"], share) for each in choices]
        yield f"within {seconds(asked['deadline_s'])}", measured, within
    yield "lost", measured, [lost(each) for each in choices]


def _typical(joules: Bounds | None) -> str:
    return DASH if joules is None else format_energy(joules["typical"])


def _point(value: EstimateRecord | None, words: Callable[[float], str]) -> str:
    return DASH if value is None or value["point"] is None else words(value["point"])


def rank(choice: Choice) -> str:
    """Of a choice, or a dash."""
    return DASH if choice["rank"] is None else str(choice["rank"])


def data_year(choice: Choice) -> str:
    """`6.9 MB`; a dash if no packet is known."""
    return DASH if choice["data_year_bytes"] is None else format_size(choice["data_year_bytes"])


def cost_year(choice: Choice, currency: str) -> str:
    """`3.47 EUR`; a dash if no packet is known."""
    return DASH if choice["data_year_bytes"] is None else money(choice["cost_year"], currency)


def lost(choice: Choice) -> str:
    """`2 of 600`; a dash if none was due."""
    return DASH if not choice["messages"] else f"{choice['lost']:,} of {choice['messages']:,}"


def notes(record: Chosen) -> list[str]:
    """Below the table: why a figure or a rank is missing, and what else must be known of a choice."""
    said: dict[str, list[str]] = {}
    for choice in record["choices"]:
        reasons = (*filter(None, [choice["not_ranked"]]), *_missing(record, choice), *choice["notes"])
        for reason in dict.fromkeys(reasons):
            said.setdefault(reason, []).append(choice["name"])
    return [f"{'; '.join(names)}: {reason}" for reason, names in said.items()]


def _missing(record: Chosen, choice: Choice) -> Iterator[str]:
    """Why figures that the table should have are missing; of what was not run its rank says so."""
    if not choice["messages"]:
        return
    values = {"p50": (choice["p50_s"], NO_ACKNOWLEDGEMENT), "p95": (choice["p95_s"], FEW)}
    if record["question"]["deadline_s"] is not None:
        values["share within the deadline"] = choice["within_deadline"], NO_ACKNOWLEDGEMENT
    for name, (value, otherwise) in values.items():
        if why := _why_not(value, otherwise):
            yield f"no {name} ({why})."


def _why_not(value: EstimateRecord | None, otherwise: str) -> str:
    """Why there is no figure; empty if there is one."""
    if value is None:
        return otherwise
    return "" if value["point"] is not None else value["method"] or otherwise


def apart(record: Chosen) -> list[list[str]]:
    """Rows without a header: protocols that were not compared, and why."""
    whys: dict[str, list[str]] = {}
    for each in record["apart"]:
        whys.setdefault(each["why"], []).append(each["protocol"])
    return [[", ".join(protocols), why] for why, protocols in whys.items()]


def matters(record: Chosen) -> list[str]:
    """What else could be changed: that which matters more than the choice of a protocol, and that which does not."""
    spread = record["spread"]
    by_size = sorted(record["levers"], key=lambda each: -factor(each["ratio"]))
    if spread is None:
        return _levers(record, "What else can be changed", by_size)
    more = [each for each in by_size if factor(each["ratio"]) > max(spread, NO_MATTER)]
    less = [each for each in by_size if each not in more and factor(each["ratio"]) >= NO_MATTER]
    nothing = [each["name"] for each in by_size if factor(each["ratio"]) < NO_MATTER]
    # What helps comes first.
    more.sort(key=lambda each: each["ratio"] > 1)
    whole = f"the protocol (its best connections each, a factor of {digits(spread)} in {what_ranks(record)})"
    return [
        *_levers(record, f"What matters more than {whole}", more),
        *_levers(record, f"What matters less{'' if more else f' than {whole}'}", less),
        *[f"What makes no difference: {'; '.join(nothing)}."] * bool(nothing),
    ]


def _levers(record: Chosen, title: str, some: Sequence[Lever]) -> list[str]:
    """The largest; all of them are in the table of the page."""
    if not some:
        return []
    rest = len(some) - MOST_LEVERS
    return [f"{title}: {' '.join(_lever(record, each) for each in some[:MOST_LEVERS])}" + (
        f" {rest} more are smaller." if rest > 0 else ""
    )]  # fmt: skip


def _lever(record: Chosen, each: Lever) -> str:
    late = "" if each["delay_s"] is None else f", up to {seconds(each['delay_s'])} later"
    return f"{each['name']}: {times(what_ranks(record), each['ratio'])}{late}."


def levers(record: Chosen) -> list[list[str]]:
    """Rows, the header first: what else could be changed, each tried alone. None if nothing was tried."""
    energy = record["criterion"] == "energy"
    value = "a reading, modelled J" if energy else "a reading, measured IP bytes"
    rows = [
        [
            each["name"], each["of"], each["how"], (format_energy if energy else format_size)(each["value"]),
            times(what_ranks(record), each["ratio"]),
            DASH if each["delay_s"] is None else f"up to {seconds(each['delay_s'])}",
        ]
        for each in sorted(record["levers"], key=lambda each: -factor(each["ratio"]))
    ]  # fmt: skip
    return [["change", "tried on", "packets", value, "effect", "later"], *rows] if rows else []


def battery(record: Chosen) -> list[str]:
    """How long the battery lasts; nothing if none is given."""
    asked = record["question"]
    if asked["battery_mah"] is None:
        return []
    known = [(each["name"], each["battery_years"]) for each in ranked(record)]
    lives = [(name, life) for name, life in known if life is not None][:MOST_LIVES]
    if not lives:
        return [f"Battery: no life is known{' without a radio' if asked['radio'] is None else ''}."]
    found = "; ".join(f"{lasts(life)} with {name}" for name, life in lives)
    alone = asked["base_current_a"] is None
    return [
        f"Battery, modelled: {'communication alone ' if alone else ''}{found}.",
        *["With --base-current it is the life of the whole device."] * alone,
        *([] if asked["life_years"] is None else [_wanted(asked["life_years"], *lives[0])]),
        *goal(record),
    ]


def _wanted(wanted: float, name: str, life: Bounds) -> str:
    least, most = sorted((life["low"], life["high"]))
    if least >= wanted:
        how = "reached, whatever the radio's constants are within their bounds"
    elif life["typical"] >= wanted:
        how = "reached with typical constants of the radio, but not with its worst"
    else:
        how = "reached with the best constants of the radio alone" if most >= wanted else "not reached"
    return f"With {name}, the {wanted:g} years wanted are {how}."


def goal(record: Chosen) -> list[str]:
    """What would reach the life that was asked for; nothing without one."""
    wanted = record["goal"]
    if wanted is None:
        return []
    if wanted["most_j"] is None:
        return [f"The base current alone empties the battery in less than {wanted['years']:g} years."]
    found = f"{wanted['years']:g} years allow {format_energy(wanted['most_j'])} a reading."
    if not wanted["reached_by"]:
        return [f"{found} Nothing that was tried takes so little."]
    return [f"{found} So little takes: {'; '.join(wanted['reached_by'])}."]


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
        [each["name"], "; ".join(each["levels"]), "run" if each["runs"] else "applied to the packets of one run",
         each["source"]]
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
    so_far = [] if record["settled"] else ["Not settled: more trials may change which is first."]
    return [*so_far, *record["warnings"]]
