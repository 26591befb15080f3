"""What `explain` found, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wirelab.schema.explain import DifferenceShare, Explained, Mean, Side, WhatIf

LEAST_DIFFERENCE = 1e-3
"""Of the larger mean: what is less is no difference."""
SPENT = {
    "ip": "IP headers",
    "transport": "headers of TCP and UDP, frames and padding of QUIC",
    "connection": "opening and closing of TCP connections",
    "acknowledgements": "acknowledgements alone",
    "retransmitted": "retransmitted payload of TCP",
    "handshake": "handshakes of TLS, DTLS and QUIC",
    "protection": "headers and tags of encryption",
    "application": "application: headers and payload",
    "sealed": "not decrypted",
    "other": "fragments, neither TCP nor UDP",
}
MEANINGS = {
    "caused": "caused: taken away from the link, so the difference is its effect",
    "measured": "measured: counted while the programs ran",
    "unexplained": "unexplained: no intervention is known for it",
}


def lead(record: Explained) -> str:
    """The first sentence: how large the difference is."""
    first, second, difference = record["first"], record["second"], record["difference_s"]
    point = difference["point"]
    if is_nothing(record):
        return f"{second['name']} and {first['name']} take equally long, {ms(first['mean_s']['point'])}."
    if not shown(difference):
        return (
            f"No difference is shown between {first['name']} and {second['name']}: {ms(first['mean_s']['point'])} and "
            f"{ms(second['mean_s']['point'])}, {interval(difference)} ms apart."
        )
    return (
        f"{second['name']} takes {ms(abs(point))} {'more' if point > 0 else 'less'} than {first['name']} on average"
        f"{_ends(difference)}: {ms(second['mean_s']['point'])} instead of {ms(first['mean_s']['point'])}."
    )


def cause(record: Explained) -> str:
    """The second: the largest share, what stands against it, and what is unexplained."""
    left = sum(share["difference_s"]["point"] for share in record["shares"] if share["evidence"] == "unexplained")
    unexplained = f"Unexplained: {ms(left, sign=True)}."
    certain = [share for share in record["shares"] if shown(share["difference_s"])]
    if not certain:
        return f"No share of it is shown either. {unexplained}"
    one, *others = sorted(certain, key=lambda share: -abs(share["difference_s"]["point"]))
    against = [each for each in others if each["difference_s"]["point"] * one["difference_s"]["point"] < 0]
    found = f"The largest share is {name(one)}: {ms(one['difference_s']['point'], sign=True)}. "
    if against:
        found += f"Against it stands {name(against[0])}: {ms(against[0]['difference_s']['point'], sign=True)}. "
    return f"{found}{unexplained}"


def is_nothing(record: Explained) -> bool:
    """Whether the difference is less than a thousandth of the larger mean."""
    most = max(side["mean_s"]["point"] for side in (record["first"], record["second"]))
    return abs(record["difference_s"]["point"]) <= LEAST_DIFFERENCE * most


def shown(mean: Mean) -> bool:
    """Whether its interval excludes 0; without an interval, whether it is not 0."""
    if mean["low"] is None or mean["high"] is None:
        return abs(mean["point"]) > 1e-7
    return mean["low"] > 0 or mean["high"] < 0


def name(share: DifferenceShare) -> str:
    """Where it is, and what makes it."""
    return f"{share['phase']}, by {share['cause']}" if share["phase"] else share["cause"]


def of_difference(share: DifferenceShare, record: Explained) -> str:
    """Its part of the difference."""
    whole = record["difference_s"]["point"]
    return (
        "–"
        if is_nothing(record) or not shown(record["difference_s"])
        else f"{share['difference_s']['point'] / whole:.0%}"
    )


def shares(record: Explained) -> list[list[str]]:
    """Rows of a table, the header first and the sum last."""
    rows = [["phase", "cause", "A", "B", "B − A", "95 % interval", "share", "evidence"]]
    rows += [
        [
            share["phase"] or "–", share["cause"], ms(share["first_s"]), ms(share["second_s"]),
            ms(share["difference_s"]["point"], sign=True), interval(share["difference_s"]),
            of_difference(share, record), share["evidence"],
        ]
        for share in record["shares"]
        if any(_visible(share[which]) for which in ("first_s", "second_s"))
    ]  # fmt: skip
    whole = record["difference_s"]
    sums = [sum(share[which] for share in record["shares"]) for which in ("first_s", "second_s")]
    return [*rows, ["total", "", *map(ms, sums), ms(whole["point"], sign=True), interval(whole), "", ""]]


def _visible(seconds: float) -> bool:
    return any(digit in "123456789" for digit in ms(seconds))


def levels(record: Explained) -> Iterator[str]:
    """A sentence for each factor in which the two differ."""
    found = record["levels"]
    if not found:
        yield (
            "What each factor contributes is not known: not every combination of the levels in which A and B differ is "
            "in the experiment, or one of them has no completed exchange."
        )
    for each in found:
        what = f"{each['factor']}: {each['first']} becomes {each['second']}"
        alone = ", the only thing that differs" if len(found) == 1 else ""
        yield f"{what}: {ms(each['difference_s']['point'], sign=True)}{_ends(each['difference_s'])}{alone}."


def what_if(each: WhatIf) -> str:
    """What a change would make."""
    mean, effect = each["mean_s"], each["effect_s"]
    what = f"{each['name']} {each['change']}: {ms(mean['point'])}"
    return f"{what}, {ms(effect['point'], sign=True)}{_ends(effect)}."


def programs(record: Explained) -> str:
    """Which implementations ran, and what that leaves open."""
    sides = (record["first"], record["second"])
    words = "; ".join(f"{side['name']}: {side['client']} to {side['server']}" for side in sides)
    return f"Client and server: {words}. The split cannot separate a protocol from its implementation."


def parts(first: Mapping[str, float] | None, second: Mapping[str, float] | None, unit: str) -> list[list[str]]:
    """Rows of a table of bytes or joules by what they were spent on; none if one of the two is not known."""
    if first is None or second is None:
        return []
    names = list({**first, **second})
    rows = [["", "A", "B", "B − A"]]
    for each, one, two in [(each, first.get(each, 0.0), second.get(each, 0.0)) for each in names] + [
        ("total", sum(first.values()), sum(second.values()))
    ]:
        rows.append(
            [SPENT.get(each, each), _amount(one, unit), _amount(two, unit), _amount(two - one, unit, sign=True)]
        )
    return rows


def resources(record: Explained) -> Iterator[tuple[str, list[list[str]]]]:
    """Tables of bytes and energy with their titles, as far as both scenarios have them."""
    first, second = record["first"], record["second"]
    for title, rows in (
        ("IP bytes of one exchange, both ways", parts(first["spent"], second["spent"], "B")),
        (
            f"Energy of one exchange by state of the radio, by the model of {_radios(record)}",
            parts(first["energy"], second["energy"], "mJ"),
        ),
    ):
        if rows:
            yield title, rows


def _radios(record: Explained) -> str:
    return " and ".join(dict.fromkeys(str(side["radio"]) for side in (record["first"], record["second"])))


def sides(record: Explained) -> Iterator[str]:
    """What A and B are."""
    for letter, side in zip("AB", (record["first"], record["second"]), strict=True):
        yield f"{letter} is {side['name']}: {counted(side)}. Its link: {side['link']}."


def counted(side: Side) -> str:
    """How many exchanges its mean is of."""
    left = side["exchanges"] - side["completed"]
    return f"{side['exchanges']:,} exchanges, {side['trials']} trials" + (f", {left:,} not completed" if left else "")


def ms(seconds: float, *, sign: bool = False) -> str:
    """`12.3 ms`, or with its sign."""
    value = seconds * 1e3
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 10 else 2
    text = f"{value:+,.{digits}f}" if sign else f"{value:,.{digits}f}"
    return f"{text} ms" if float(text.replace(",", "")) else f"{0:.{digits}f} ms"


def interval(mean: Mean) -> str:
    """`[1.2, 3.4]`, in milliseconds."""
    if mean["low"] is None or mean["high"] is None:
        return "–"
    return f"{ms(mean['low'])[:-3]} to {ms(mean['high'])[:-3]}"


def _ends(mean: Mean) -> str:
    found = interval(mean)
    low, _, high = found.partition(" to ")
    return "" if low == high or not high else f" ({found} ms)"


def _amount(value: float, unit: str, *, sign: bool = False) -> str:
    shown = value * 1e3 if unit == "mJ" else value
    digits = 0 if abs(shown) >= 100 or not shown else 1 if abs(shown) >= 1 else 3
    return f"{shown:+,.{digits}f} {unit}" if sign else f"{shown:,.{digits}f} {unit}"
