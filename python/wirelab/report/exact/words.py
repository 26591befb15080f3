"""What `exact` found, in words: probabilities with bounds, packets with prices, and where protocols cross."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from wirelab.report.numbers import DASH
from wirelab.schema.exact import (
    Beyond,
    Crossover,
    Exact,
    ExactBounds,
    ExactQuantile,
    ExactScenario,
    OverSeeds,
    PacketPrice,
    Worst,
)
from wirelab.units import format_duration

LEAST_SAMPLE = 20
"""Of fewer sampled runs no estimate is printed: the bounds of the enumeration stand."""


def lead(record: Exact) -> str:
    """The first sentence: how much is known."""
    runs, count = record["runs"], len(record["scenarios"])
    one = "" if record["over_seeds"] else ", with one seed of random choices inside the programs (--seeds)"
    what = f"{runs:,} runs of {count} scenario{'s' * (count != 1)}{one}"
    asked = [(each["name"], each["within"]) for each in record["losses"] if each["within"] is not None]
    within = " and ".join(f"{most * 100:g} points at a loss of {name}" for name, most in asked)
    if record["bounded"]:
        return f"{what}: every probability is known within {within}."
    return f"{what}: not every probability is known within {within}; a longer --budget continues."


def answers(record: Exact) -> list[str]:
    """For each delay, every scenario of the first seed under the first loss that was asked for, the best first."""
    loss = next(each["name"] for each in record["losses"] if each["within"] is not None)
    found = []
    for x_s in delays(record):
        mine = [
            (each["bounds"]["high"], f"{scenario['name']} {probability(each)}")
            for scenario in record["scenarios"]
            for each in scenario["beyond"]
            if scenario["seed"] == 1 and (each["loss"], each["delay_s"]) == (loss, x_s)
        ]
        listed = ", ".join(text for _, text in sorted(mine))
        found.append(f"With loss of {loss} each way, an exchange takes more than {delay(x_s)}: {listed}.")
    return found


def name(scenario: ExactScenario, record: Exact) -> str:
    """With its seed, if there are several."""
    several = any(each["seed"] != 1 for each in record["scenarios"])
    return f"{scenario['name']}, seed {scenario['seed']}" if several else scenario["name"]


def percent(bounds: ExactBounds) -> str:
    """`1.990 %` where both ends are the same as far as is shown, else `2.96 to 3.00 %`."""
    low, high = bounds["low"] * 100, bounds["high"] * 100
    if high - low < 5e-4:
        return f"{(low + high) / 2:.3f} %"
    places = 3 if high - low < 0.02 else 2
    first, last = (f"{end:.{places}f}" for end in (low, high))
    return f"{first} %" if first == last else f"{first} to {last} %"


def probability(each: Beyond) -> str:
    """Bounds, or with a sampled rest its estimate and interval."""
    if (sampled := each["sampled"]) is None or sampled["n"] < LEAST_SAMPLE:
        return percent(each["bounds"])
    low, high = sampled["low"] * 100, sampled["high"] * 100
    return f"{sampled['point'] * 100:.2f} % [{low:.2f}, {high:.2f}], n = {sampled['n']:,}"


def delay(seconds: float | None) -> str:
    """A delay, or that an exchange has no end."""
    return "no end" if seconds is None else format_duration(round(seconds * 1e9))


def price(packet: PacketPrice) -> str:
    """What the loss of a packet adds to the delay."""
    if not packet["run"]:
        return "not run"
    if packet["delay_s"] is None:
        return "no end"
    cost_ns = round(packet["delay_s"] * 1e9)
    return "nothing" if abs(cost_ns) < 1_000 else f"{'+' if cost_ns > 0 else '-'}{format_duration(abs(cost_ns))}"


def more(packet: PacketPrice) -> str:
    """Bytes and energy that its loss adds, as the rest of a sentence."""
    found = f", {packet['bytes']:+,} B" if packet["bytes"] else ""
    joules = packet["energy_j"]
    return found if joules is None or abs(joules) < 5e-7 else f"{found}, {joules * 1e3:+,.3g} mJ"


def worst(each: Worst) -> str:
    """The longest delay within so many losses."""
    return delay(each["delay_s"]) if each["known"] else DASH


def crossing(each: Crossover, horizon_s: float) -> str:
    """Where one scenario becomes worse than another, as a sentence."""
    low, high = each["low"] * 100, each["high"] * 100
    where = f"{low:.2f} %" if high - low < 0.005 else f"{low:.2f} to {high:.2f} %"
    one, other = each["lower"], each["upper"]
    if each["delay_s"] is None:
        return f"Mean, cut at {delay(horizon_s)}: from {where} of loss on, {one} takes longer than {other}."
    return f"More than {delay(each['delay_s'])}: from {where} of loss on, {one} takes so long more often than {other}."


def crossings(record: Exact) -> list[str]:
    """All of them, as sentences."""
    return [crossing(each, record["horizon_s"]) for each in record["crossovers"]]


def losses(record: Exact) -> list[str]:
    """Names of the loss models: rates in their order, then others."""
    return sorted((each["name"] for each in record["losses"]), key=_rate)


def _rate(loss: str) -> tuple[bool, float]:
    number, _, unit = loss.partition(" ")
    is_rate = unit == "%" and number.replace(".", "", 1).isdigit()
    return not is_rate, float(number) if is_rate else 0.0


def delays(record: Exact) -> list[float]:
    """The delays that were asked for."""
    return list(dict.fromkeys(each["delay_s"] for scenario in record["scenarios"] for each in scenario["beyond"]))


def table(record: Exact, x_s: float) -> list[list[str]]:
    """A row for each loss model: P(delay > x) of each scenario."""
    scenarios = record["scenarios"]
    rows = [["loss, each way", *(name(scenario, record) for scenario in scenarios)]]
    for loss in losses(record):
        found = [
            next((each for each in scenario["beyond"] if (each["loss"], each["delay_s"]) == (loss, x_s)), None)
            for scenario in scenarios
        ]
        rows.append([loss, *(DASH if each is None else probability(each) for each in found)])
    return rows


def longest_table(record: Exact) -> list[list[str]]:
    """A row for each scenario: its delay without loss, the longest with few losses, and what single packets cost."""
    rows = [["scenario", "no loss", "1 loss", "2 losses", "runs", "all patterns up to", "costliest packets"]]
    for scenario in record["scenarios"]:
        known = {each["losses"]: each for each in scenario["worst"]}
        whole = str(scenario["whole_to"]) if scenario["whole_to"] >= 0 else DASH
        row = [name(scenario, record), *(worst(known[count]) for count in (0, 1, 2))]
        rows.append([*row, f"{scenario['runs']:,}", whole, dearest(scenario)])
    return rows


def programs(record: Exact) -> str:
    """Which implementations ran, as a sentence."""
    found = dict.fromkeys(
        f"{each['protocol']}: {each['client']} to {each['server']}" for each in record["scenarios"]
    )  # fmt: skip
    alike = {text.partition(": ")[2] for text in found}
    if len(alike) == 1:
        return f"Client and server of each protocol: {alike.pop()}."
    return f"Client and server: {'; '.join(found)}."


def radios(record: Exact) -> list[str]:
    """Whose model gives the energies, as a sentence; none without a radio."""
    return [f"Energy: by the model of {', '.join(record['radios'])}."] if record["radios"] else []


def lines(record: Exact) -> Iterator[str]:
    """For a terminal."""
    yield lead(record)
    yield programs(record)
    yield from radios(record)
    for x_s in delays(record):
        yield f"\nP(delay > {delay(x_s)})"
        yield from _aligned(table(record, x_s))
    yield "\nDelay without loss, the longest with so many losses, and what the loss of one packet costs"
    yield from _aligned(longest_table(record))
    yield ""
    yield from crossings(record)
    yield from map(seeds, record["over_seeds"])


def seeds(each: OverSeeds) -> str:
    """An average over seeds, as a sentence."""
    return (
        f"{each['name']}, loss {each['loss']}, more than {delay(each['delay_s'])}: {percent(each['bounds'])} on "
        f"average over {each['seeds']} seeds [{each['low'] * 100:.2f}, {each['high'] * 100:.2f}]."
    )


def dearest(scenario: ExactScenario, most: int = 3) -> str:
    """The packets whose loss costs most."""
    paid = [each for each in scenario["packets"] if price(each) not in {"not run", "nothing"}]
    ordered = sorted(paid, key=lambda each: -(each["delay_s"] if each["delay_s"] is not None else float("inf")))
    return ", ".join(f"{each['words']} {price(each)}" for each in ordered[:most]) or "none"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def quantile(each: ExactQuantile, horizon_s: float) -> str:
    """A quantile with its bounds."""
    low, high = each["low_s"], each["high_s"]
    if low is None:
        return f"> {delay(horizon_s)}"
    if high is None:
        return f"≥ {delay(low)}"
    return _span(low, high)


def mean(scenario: ExactScenario, loss: str) -> list[str]:
    """The restricted mean under a loss model."""
    found = [each for each in scenario["means"] if each["loss"] == loss]
    return [f"{_span(each['low_s'], each['high_s'])}, cut at {delay(each['horizon_s'])}" for each in found]


def _span(low_s: float, high_s: float) -> str:
    """Both ends, or one if they look the same."""
    return delay(low_s) if delay(low_s) == delay(high_s) else f"{delay(low_s)} to {delay(high_s)}"
