"""What `exact` found, in words: probabilities with bounds, packets with prices, and where protocols cross."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from wirelab.report.numbers import DASH
from wirelab.schema.exact import Beyond, Crossover, Exact, ExactBounds, ExactScenario, PacketPrice, Worst
from wirelab.units import format_duration


def lead(record: Exact) -> str:
    """The first sentence: how much is known."""
    runs, count = record["runs"], len(record["scenarios"])
    what = f"{runs:,} runs of {count} scenario{'s' * (count != 1)}"
    within = f"{record['within'] * 100:g} points"
    if record["bounded"]:
        return f"{what}: every probability that was asked for is known within {within}."
    return f"{what}: not every probability is known within {within}; more of them with a longer --budget."


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
    return f"{low:.{places}f} to {high:.{places}f} %"


def probability(each: Beyond) -> str:
    """Bounds, or with a sampled rest its estimate and interval."""
    if (sampled := each["sampled"]) is None:
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


def worst(each: Worst) -> str:
    """The longest delay within so many losses."""
    return delay(each["delay_s"]) if each["known"] else DASH


def crossing(each: Crossover) -> str:
    """Where two scenarios cross, as a sentence."""
    low, high = each["low"] * 100, each["high"] * 100
    where = f"{low:.2f} %" if high - low < 0.005 else f"{low:.2f} to {high:.2f} %"
    return (
        f"More than {delay(each['delay_s'])}: {each['lower']} less often than {each['upper']} below a loss rate of "
        f"{where}, and more often above."
    )


def asked(record: Exact) -> list[str]:
    """Names of the loss models, those that were asked for first."""
    return [each["name"] for each in sorted(record["losses"], key=lambda each: not each["asked"])]


def delays(record: Exact) -> list[float]:
    """The delays that were asked for."""
    return list(dict.fromkeys(each["delay_s"] for scenario in record["scenarios"] for each in scenario["beyond"]))


def table(record: Exact, loss: str) -> list[list[str]]:
    """A row for each scenario: P(delay > x) under one loss model."""
    rows = [["scenario", "client, server", *(f"> {delay(x_s)}" for x_s in delays(record)), "runs"]]
    for scenario in record["scenarios"]:
        found = {each["delay_s"]: each for each in scenario["beyond"] if each["loss"] == loss}
        programs = f"{scenario['client']}, {scenario['server']}"
        rows.append([name(scenario, record), programs, *map(probability, found.values()), f"{scenario['runs']:,}"])
    return rows


def lines(record: Exact) -> Iterator[str]:
    """For a terminal."""
    yield lead(record)
    for loss in asked(record):
        yield f"\nLoss {loss}"
        yield from _aligned(table(record, loss))
    yield "\nDelay without loss, and the longest with 1 and with 2 losses; and what the loss of one packet costs"
    rows = [["scenario", "0 losses", "1", "2", "packets that cost most"]]
    for scenario in record["scenarios"]:
        known = {each["losses"]: each for each in scenario["worst"]}
        rows.append([name(scenario, record), *(worst(known[k]) for k in (0, 1, 2)), dearest(scenario)])
    yield from _aligned(rows)
    if record["crossovers"]:
        yield ""
    yield from map(crossing, record["crossovers"])
    yield from map(seeds, record["over_seeds"])


def seeds(each: Mapping[str, object]) -> str:
    """An average over seeds, as a sentence."""
    bounds = percent(each["bounds"])  # type: ignore[arg-type]
    return (
        f"{each['name']}, loss {each['loss']}, more than {delay(each['delay_s'])}: {bounds} on average over "  # type: ignore[arg-type]
        f"{each['seeds']} seeds [{each['low'] * 100:.2f}, {each['high'] * 100:.2f}]"  # type: ignore[operator]
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
