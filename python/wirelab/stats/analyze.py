"""The dataset to `estimates.json` (`docs/reference/files.md`), and the same as tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wirelab.stats.compare import link_error
from wirelab.stats.compare import scenarios as compare
from wirelab.stats.dataset import Dataset, Measured
from wirelab.stats.energy import modelled, radio_energies
from wirelab.stats.estimate import descriptive, published_rule
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.modes import modes
from wirelab.stats.ledger import ledgers
from wirelab.stats.link.background import background
from wirelab.stats.link.certificates import link_certificates, with_certificates
from wirelab.stats.link.grade import GRADES
from wirelab.stats.link.report import lateness_by_lane, links, replay
from wirelab.stats.machine.cpu_limits import cpu_limits
from wirelab.stats.machine.endpoint_waits import endpoint_waits
from wirelab.stats.settings_in_force import not_in_force, settings_in_force

Progress = Callable[[str], None]
COMPARED = ("end-to-end-delay", "response-time", "response-time-curl")
ENERGIES = ("radio-energy", "message-energy")
"""Compared wherever they are known."""
COMPARED_OF = {"load-time": ("time-to-first-byte",)}
"""Beside a headline metric; of a page the delays of an exchange are those of the load, or of its document."""
FEW_TRIALS = 5
SCHEMA_VERSION = 1
_NAMES = ("scenario", "name", "stack", "client", "server")


def analyze(campaign: Path, progress: Progress = lambda _: None) -> dict[str, Any]:
    """Estimate everything and write `estimates.json`, `estimates.csv`, `estimates.parquet` and `exchanges.csv`."""
    dataset = Dataset.read(campaign)
    estimates = estimate(dataset, progress)
    text = json.dumps(estimates, indent=1, ensure_ascii=False, allow_nan=False)
    (campaign / "estimates.json").write_text(text + "\n", encoding="utf-8")
    _write_tables(dataset, estimates)
    return estimates


def estimate(dataset: Dataset, progress: Progress = lambda _: None) -> dict[str, Any]:
    """The contents of `estimates.json`."""
    metric = dataset.plan["experiment"]["metric"]
    compared = list(dict.fromkeys([metric, *COMPARED_OF.get(metric, COMPARED), *ENERGIES]))
    scenarios, sides = [], {}
    for scenario in dataset.scenarios:
        progress(scenario["name"])
        measured = list(dataset.measured(scenario["key"]))
        scenarios.append(_scenario(dataset, scenario, measured))
        for one in measured:
            if one.metric.name in compared:
                rng = dataset.rng(scenario["key"], one.metric.name, "side")
                sides[one.metric.name, scenario["key"]] = compare.Side.of(scenario["key"], one.sample, rng)
    certificates = link_certificates(dataset)
    rows = with_certificates(links(dataset), certificates)
    errors, link_rows, waits = (
        link_error.round_trip_errors(dataset), link_error.link_rows(dataset, rows), endpoint_waits(dataset),
    )  # fmt: skip
    limits, spent, met = cpu_limits(dataset), ledgers(dataset), background(dataset)
    radio, energy = radio_energies(dataset)
    settings = settings_in_force(dataset)
    scenarios = [
        {**scenario, "endpoints": waits.get(scenario["key"])}
        | ({"cpu": limits[scenario["key"]]} if scenario["key"] in limits else {})
        | ({"ledger": spent[scenario["key"]]} if scenario["key"] in spent else {})
        | ({"settings": settings[scenario["key"]]} if scenario["key"] in settings else {})
        | ({"background_bps": met[scenario["key"]]} if scenario["key"] in met else {})
        | ({"energy": energy[scenario["key"]]} if scenario["key"] in energy else {})
        for scenario in scenarios
    ]
    named = {s["key"]: {**s["endpoints"], "name": s["name"]} for s in scenarios if s["endpoints"] is not None}
    comparisons = [c for name in compared for c in _comparisons(dataset, name, sides)]
    return {
        "schema_version": SCHEMA_VERSION,
        "level": LEVEL,
        "metric": metric,
        "seed": dataset.plan["seed"],
        "scenarios": scenarios,
        "comparisons": [link_error.with_link(comparison, errors, link_rows, named) for comparison in comparisons],
        "links": rows,
        "link_lateness": lateness_by_lane(dataset),
        "replay": replay(dataset),
        "certificates": certificates,
        **({} if radio is None else {"energy": radio}),
        "notes": [*_notes(dataset, scenarios, rows), *([] if radio is None else [modelled(radio)])],
    }


def _scenario(dataset: Dataset, scenario: dict[str, Any], measured: list[Measured]) -> dict[str, Any]:
    kept = {name: scenario[name] for name in ("key", "name", "levels", "stack", "implementation")}
    metrics = {one.metric.name: _metric(dataset, scenario["key"], one) for one in measured}
    messages = dataset.messages(scenario["key"])
    told: dict[str, Any] = {} if messages is None else {"messages": messages}
    if (downloads := dataset.downloads(scenario["key"])) is not None:
        told["downloads"] = downloads
    return {**kept, "denominators": dataset.denominators(scenario["key"]), **told, "metrics": metrics}


def _metric(dataset: Dataset, scenario: str, measured: Measured) -> dict[str, Any]:
    sample, name = measured.sample, measured.metric.name
    mean, sd = descriptive.mean_and_sd(sample, dataset.rng(scenario, name, "moments"))
    quantiles = {str(q): descriptive.quantile(sample, q) for q in descriptive.QUANTILES}
    is_time = measured.unit == "s" and measured.metric.of == "exchange"
    rule = (
        published_rule.apply(sample, measured.hit, dataset.rng(scenario, name, "published rule")) if is_time else None
    )
    return {
        "unit": measured.unit,
        "n": sample.n,
        "mean": mean.as_dict(),
        "sd": sd.as_dict(),
        "median": descriptive.median(sample).as_dict(),
        "quantiles": {q: value.as_dict() if value is not None else None for q, value in quantiles.items()},
        "modes": [asdict(mode) for mode in modes(sample)] if is_time else [],
        "published_rule": asdict(rule) if rule is not None else None,
    }


def _comparisons(dataset: Dataset, metric: str, sides: dict[tuple[str, str], compare.Side]) -> Iterator[dict[str, Any]]:
    found = []
    for a, b in compare.pairs(dataset.scenarios):
        if (metric, a) in sides and (metric, b) in sides:
            rng = dataset.rng(a, b, metric, "permutation")
            found.append(compare.compare(metric, sides[metric, a], sides[metric, b], rng))
    for comparison in compare.adjusted(found):
        yield comparison.as_dict()


def _notes(dataset: Dataset, scenarios: list[dict[str, Any]], link_rows: list[dict[str, Any]]) -> Iterator[str]:
    import polars as pl

    if dataset.plan["experiment"].get("preview"):
        yield "This is a preview scaled down to a budget: no result, and no verdict to quote."
    trials = [scenario["denominators"]["trials"] for scenario in scenarios]
    if trials and min(trials) < FEW_TRIALS:
        few = min(trials)
        if few <= 1:
            yield "A scenario has at most one trial: its intervals know nothing of the spread between trials."
        else:
            yield f"A scenario has only {few} trials: intervals over trials are wide, and p values cannot be small."
    timed_out = [s for s in scenarios if s["denominators"]["timed-out"]]
    if timed_out:
        total = sum(s["denominators"]["timed-out"] for s in timed_out)
        yield (
            f"{_counted(total, 'exchange')} timed out in {_scenarios(timed_out)}: quantiles count them as above the "
            "time-out, means and standard deviations are over completed exchanges alone."
        )
    uncounted = sum(s["endpoints"] is not None and s["endpoints"]["wait_s"] is None for s in scenarios)
    if uncounted:
        yield f"What endpoints waited for a CPU was not counted in {uncounted} of {_scenarios(scenarios)}."
    stack = {scenario["key"]: scenario["stack"] for scenario in scenarios}
    for words, chosen in (
        ("Attempts that were run again and do not count", dataset.trials.filter(pl.col("excluded"))),
        (
            "Trials not done",
            dataset.trials.filter(~pl.col("excluded") & ~pl.col("status").is_in(["done", "unsupported"])),
        ),
        ("Trials of what is not supported", dataset.trials.filter(pl.col("status") == "unsupported")),
    ):
        names = sorted(stack.get(key, key) for key in chosen["scenario"])
        if names:
            by_stack = ", ".join(f"{name} {names.count(name)}" for name in dict.fromkeys(names))
            yield f"{words}, by stack: {by_stack}."
    left_out = int(dataset.trials["left_out_of_captures"].sum())
    if left_out:
        yield f"{left_out:,} packets are missing from captures, for the disk was too slow; the link carried them."
    ignored = [(s["name"], why) for s in scenarios if (why := not_in_force(s.get("settings") or []))]
    if ignored:
        name, why = ignored[0]
        yield (
            f"A setting was not in force in {len(ignored)} of {_scenarios(scenarios)}, which no chart shows and no "
            f"verdict rests on; {name}: {why}."
        )
    flagged = sum(row["flag"] in GRADES[1:] for row in link_rows)
    if flagged:
        are = "are" if flagged > 1 else "is"
        yield f"{flagged} of {len(link_rows)} link directions {are} not of good quality."
    starved = [s for s in scenarios if s["endpoints"] is not None and s["endpoints"]["flag"] != GRADES[0]]
    if starved:
        worst = max(starved, key=lambda s: (GRADES.index(s["endpoints"]["flag"]), s["endpoints"]["share"] or 0.0))
        why = f"{worst['name']}: {worst['endpoints']['why']}"
        yield f"{len(starved)} of {_scenarios(scenarios)} ran short of CPU; {why}; {worst['endpoints']['cure']}."


def _scenarios(scenarios: list[dict[str, Any]]) -> str:
    return _counted(len(scenarios), "scenario")


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def _write_tables(dataset: Dataset, estimates: dict[str, Any]) -> None:
    import polars as pl

    rows = list(_rows(estimates))
    columns = [*_NAMES, "metric", "unit", "statistic", *Estimate.__dataclass_fields__]
    types = dict.fromkeys(("point", "low", "high", "level"), pl.Float64) | {"n": pl.Int64}
    frame = pl.DataFrame(rows, schema={name: types.get(name, pl.String) for name in columns})
    frame.write_csv(dataset.folder / "estimates.csv")
    frame.write_parquet(dataset.folder / "estimates.parquet", compression="zstd")
    names = pl.DataFrame([_names(s) for s in dataset.scenarios], schema=dict.fromkeys(_NAMES, pl.String))
    # The file's `client` is who plays the client, not which of a population it is.
    numbered = dataset.exchanges.rename({"client": "client_number"}, strict=False)
    named = numbered.join(names, on="scenario", how="left", maintain_order="left")
    named.select("trial", *_NAMES, pl.exclude("trial", *_NAMES)).write_csv(dataset.folder / "exchanges.csv")


def _rows(estimates: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for scenario in estimates["scenarios"]:
        for metric, values in scenario["metrics"].items():
            rule = values["published_rule"] or {}
            statistics = {
                **{name: values[name] for name in ("mean", "sd", "median")},
                **{f"quantile {q}": value for q, value in values["quantiles"].items()},
                **{f"published rule {name}": rule.get(name) for name in ("mean", "sd")},
            }
            for statistic, value in statistics.items():
                if value is not None:
                    row = {"metric": metric, "unit": values["unit"], "statistic": statistic, **value}
                    yield {**_names(scenario), **row}


def _names(scenario: dict[str, Any]) -> dict[str, str]:
    """What a row is of: a difference between programs is not one between stacks."""
    own = (scenario["key"], scenario["name"], scenario["stack"])
    ends = (scenario["implementation"]["client"], scenario["implementation"]["server"])
    return dict(zip(_NAMES, (*own, *ends), strict=True))
