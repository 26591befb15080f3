"""The dataset to `estimates.json` (`docs/reference/estimates.md`), and the same as tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wirelab.errors import Where, WirelabError
from wirelab.metrics.levels import PROTOCOL, with_levels
from wirelab.metrics.registry import UNTIMED
from wirelab.metrics.tables import sink, write_table
from wirelab.schema import Clock
from wirelab.schema.estimates import (
    ESTIMATES,
    ESTIMATES_VERSION,
    EXACT,
    AnalysedScenario,
    CpuLimit,
    End,
    EndpointWaits,
    EnergyModel,
    EnergyOfScenario,
    EnumeratedRecord,
    EstimateRecord,
    Estimates,
    LedgerRecord,
    MetricRecord,
    NatRecord,
    OfferedRecord,
    SettingInForce,
)
from wirelab.schema.plan import Scenario
from wirelab.schema.recovery import RecoveryRecord
from wirelab.schema.replaced import replace_file, replaced
from wirelab.statistic import MEDIAN, least_values, quantile_of
from wirelab.stats import exact
from wirelab.stats.compare import link_error
from wirelab.stats.compare import scenarios as compare
from wirelab.stats.dataset import Dataset, Measured
from wirelab.stats.energy import modelled, radio_energies, without_day
from wirelab.stats.enumerated import enumerated
from wirelab.stats.estimate import descriptive, published_rule
from wirelab.stats.estimate.model import LEVEL, Comparison
from wirelab.stats.estimate.modes import modes
from wirelab.stats.expectations import judged
from wirelab.stats.ledger import ledgers
from wirelab.stats.link.background import background
from wirelab.stats.link.certificates import link_certificates, with_certificates
from wirelab.stats.link.report import lateness_by_lane, links, replay
from wirelab.stats.machine.cpu_limits import cpu_limits
from wirelab.stats.machine.endpoint_waits import endpoint_waits, waits_by_scenario
from wirelab.stats.machine.offered import offered, overloads
from wirelab.stats.machine.parts import part_notes, part_records
from wirelab.stats.nat import nat_responses
from wirelab.stats.notes import limits
from wirelab.stats.recovery import recoveries
from wirelab.stats.settings_in_force import settings_in_force

if TYPE_CHECKING:
    import polars as pl

Progress = Callable[[str], None]
COMPARED = ("end-to-end-delay", "response-time", "response-time-curl")
ENERGIES = ("radio-energy", "message-energy", "interval-energy")
"""Compared wherever they are known."""
COMPARED_OF = {"load-time": ("time-to-first-byte",)}
"""Metrics in addition to the headline metric; for a page, delays are those of the load or of its document."""
_OF_RULE: tuple[Literal["mean", "sd"], ...] = ("mean", "sd")
CSV_ROWS = 50_000
"""Exchanges that become text at a time: of many parts, several are held."""
_NUMBERS: tuple[Literal["point", "low", "high", "level", "n", "method"], ...] = (
    "point", "low", "high", "level", "n", "method",
)  # fmt: skip
_NAMES = ("scenario", "name", "protocol", "client", "server")


def analyze(campaign: Path, by: str | None = None, progress: Progress = lambda _: None) -> Estimates:
    """Estimate everything and write `estimates.json`, `estimates.csv`, `estimates.parquet` and `exchanges.csv`."""
    dataset = Dataset.read(campaign)
    if by is not None:
        dataset = _ranked_by(dataset, by)
    estimates = estimate(dataset, progress)
    text = json.dumps(estimates, indent=1, ensure_ascii=False, allow_nan=False)
    replace_file(campaign / ESTIMATES, text + "\n")
    _write_tables(dataset, estimates)
    return estimates


def _ranked_by(dataset: Dataset, statistic: str) -> Dataset:
    """The dataset with another statistic that ranks. Raises `WirelabError` if no scenario has enough values for it."""
    needs = least_values(quantile_of(statistic))
    most = max((len(dataset.rows(scenario.key)) for scenario in dataset.scenarios), default=0)
    if most < needs:
        what = f"the {statistic} needs {needs:,} values of each scenario, and one has at most {most:,}"
        raise WirelabError(what, Where("--by"), "an inner percentile such as p75, or the median")
    experiment = dataset.plan.experiment.model_copy(update={"statistic": statistic})
    return replace(dataset, plan=dataset.plan.model_copy(update={"experiment": experiment}))


def estimate(dataset: Dataset, progress: Progress = lambda _: None) -> Estimates:
    """The contents of `estimates.json`."""
    metric = dataset.plan.experiment.metric
    compared = list(dict.fromkeys([metric, *COMPARED_OF.get(metric, COMPARED), *ENERGIES]))
    scenarios: list[AnalysedScenario] = []
    sides: dict[tuple[str, str], compare.Side] = {}
    used = _Used.of(dataset)
    headline = list[tuple[str, Measured]]()
    repeated: dict[tuple[str, str], str] = {}
    for scenario in dataset.scenarios:
        progress(scenario.name)
        measured = list(dataset.measured(scenario.key))
        record = _scenario(dataset, scenario, measured, used)
        scenarios.append(record)
        keeps_up = not overloads([record])
        headline += [(scenario.key, one) for one in measured if one.metric.name == metric]
        for one in measured:
            if (method := exact.repeats(dataset, scenario, one)) is not None:
                exact.mark(record["metrics"][one.metric.name], method)
                repeated[one.metric.name, scenario.key] = method
            if one.metric.name in compared and (keeps_up or one.metric.name in UNTIMED):
                sides[one.metric.name, scenario.key] = _side(dataset, scenario.key, one)
    certificates = link_certificates(dataset)
    rows = with_certificates(links(dataset), certificates)
    errors, link_rows = link_error.round_trip_errors(dataset), link_error.link_rows(dataset, rows)
    waits = waits_by_scenario(scenarios)
    comparisons = [c for name in compared for c in _comparisons(dataset, name, sides)]
    estimates: Estimates = {
        "schema_version": ESTIMATES_VERSION,
        "level": LEVEL,
        "metric": metric,
        "statistic": dataset.plan.experiment.statistic,
        "seed": dataset.plan.seed,
        "scenarios": scenarios,
        "comparisons": [
            link_error.comparison_record(
                each,
                errors,
                link_rows,
                waits,
                compare.without_disturbance(sides[each.metric, each.a], sides[each.metric, each.b], waits),
            )
            for each in comparisons
        ],
        "links": rows,
        "link_lateness": lateness_by_lane(dataset),
        "replay": replay(dataset),
        "certificates": certificates,
        "notes": list(limits(dataset, scenarios, rows, {key for name, key in repeated if name == metric})),
    }
    for each in estimates["comparisons"]:
        a, b = (repeated.get((each["metric"], key)) for key in (each["a"], each["b"]))
        if a is not None and b is not None:
            exact.mark(each, a if a == b else EXACT)
    if parts := part_records(dataset, headline):
        estimates["parts"] = parts
        estimates["notes"].extend(part_notes(parts, metric))
    if dataset.plan.experiment.expect:
        estimates["expectations"] = judged(dataset, scenarios, rows, certificates)
    if used.radio is not None:
        estimates["energy"] = used.radio
        estimates["notes"].extend(modelled(used.radio))
        estimates["notes"].extend(without_day(used.radio, dataset.scenarios))
    if dataset.plan.clock is Clock.VIRTUAL:
        estimates["notes"].extend(exact.over_phases(dataset))
    return estimates


@dataclass(frozen=True)
class _Used:
    """Other facts about scenarios, by their keys, and the radio."""

    waits: dict[str, EndpointWaits]
    limits: dict[str, dict[End, CpuLimit]]
    ledgers: dict[str, LedgerRecord]
    settings: dict[str, list[SettingInForce]]
    nat: dict[str, NatRecord]
    background: dict[str, EstimateRecord]
    radio: EnergyModel | None
    energies: dict[str, EnergyOfScenario]
    offered: dict[str, OfferedRecord]
    recovery: dict[str, RecoveryRecord]
    enumerated: dict[str, EnumeratedRecord]

    @classmethod
    def of(cls, dataset: Dataset) -> _Used:
        radio, energies = radio_energies(dataset)
        waits = endpoint_waits(dataset)
        return cls(
            waits, cpu_limits(dataset), ledgers(dataset), settings_in_force(dataset),
            nat_responses(dataset), background(dataset), radio, energies, offered(dataset, waits),
            recoveries(dataset), enumerated(dataset),
        )  # fmt: skip


def _scenario(dataset: Dataset, scenario: Scenario, measured: list[Measured], used: _Used) -> AnalysedScenario:
    key = scenario.key
    record: AnalysedScenario = {
        "key": key,
        "name": scenario.name,
        "levels": scenario.levels,
        "protocol": scenario.protocol,
        "implementation": {"client": scenario.implementation.client, "server": scenario.implementation.server},
        "denominators": dataset.outcomes(key),
        "metrics": {one.metric.name: _metric(dataset, key, one) for one in measured},
        "endpoints": used.waits.get(key),
    }
    if (messages := dataset.messages(key)) is not None:
        record["messages"] = messages
    if key in used.nat:
        record["nat"] = used.nat[key]
    if (downloads := dataset.downloads(key)) is not None:
        record["downloads"] = downloads
    if key in used.limits:
        record["cpu"] = used.limits[key]
    if key in used.ledgers:
        record["ledger"] = used.ledgers[key]
    if key in used.settings:
        record["settings"] = used.settings[key]
    if key in used.background:
        record["background_bps"] = used.background[key]
    if key in used.energies:
        record["energy"] = used.energies[key]
    if key in used.offered:
        record["offered"] = used.offered[key]
    if key in used.recovery:
        record["recovery"] = used.recovery[key]
    if key in used.enumerated:
        record["enumerated"] = used.enumerated[key]
    return record


def _metric(dataset: Dataset, scenario: str, measured: Measured) -> MetricRecord:
    sample, name = measured.sample, measured.metric.name
    mean, sd = descriptive.mean_and_sd(sample, dataset.rng(scenario, name, "moments"), horizon_s=measured.horizon_s)
    quantiles = {str(q): descriptive.quantile(sample, q) for q in _quantiles(dataset)}
    is_time = measured.unit == "s" and measured.metric.of == "exchange"
    rule = (
        published_rule.apply(sample, measured.hit, dataset.rng(scenario, name, "published rule")) if is_time else None
    )
    record: MetricRecord = {
        "unit": measured.unit,
        "n": sample.n,
        "mean": mean.record(),
        "sd": sd.record(),
        "median": descriptive.median(sample).record(),
        "quantiles": {q: value.record() if value is not None else None for q, value in quantiles.items()},
        "modes": [mode.record() for mode in modes(sample)] if is_time else [],
        "published_rule": rule.record() if rule is not None else None,
    }
    if measured.horizon_s is not None:
        late = descriptive.late_share(sample, measured.horizon_s)
        record["horizon_s"] = measured.horizon_s
        record["time_outs_in_mean"] = descriptive.time_outs_in_mean(sample, measured.horizon_s)
        record["late_share"] = late.record() if late is not None else None
    return record


def _comparisons(dataset: Dataset, metric: str, sides: dict[tuple[str, str], compare.Side]) -> list[Comparison]:
    found = []
    for a, b in compare.pairs(dataset.scenarios):
        if (metric, a) in sides and (metric, b) in sides:
            rng = dataset.rng(a, b, metric, "permutation")
            found.append(compare.compare(metric, sides[metric, a], sides[metric, b], rng))
    return compare.adjusted(found)


def _side(dataset: Dataset, scenario: str, one: Measured) -> compare.Side:
    name = one.metric.name
    rng, ranks_by = dataset.rng(scenario, name, "side"), _ranks_by(dataset, name)
    side = compare.Side.of(scenario, one.sample, rng, one.horizon_s, ranks_by)
    side = replace(side, replicates=one.replicates)
    return side if one.undisturbed is None else side.with_calm(one.undisturbed, dataset.rng(scenario, name, "calm"))


def _ranks_by(dataset: Dataset, metric: str) -> str:
    """The statistic of a metric that ranks: the experiment's of the headline metric, else the median."""
    experiment = dataset.plan.experiment
    return experiment.statistic if metric == experiment.metric else MEDIAN


def _quantiles(dataset: Dataset) -> list[float]:
    """What is estimated next to the median, with percentiles that rank or are expected to keep a bound."""
    experiment = dataset.plan.experiment
    named = [experiment.statistic, *(each.statistic for each in experiment.expect if each.metric is not None)]
    others = {q for name in named if (q := quantile_of(name)) is not None}
    return sorted({*descriptive.QUANTILES, *others} - {0.5})


def _write_tables(dataset: Dataset, estimates: Estimates) -> None:
    import polars as pl

    rows = list(_rows(estimates))
    columns = [*_NAMES, "metric", "unit", "statistic", *_NUMBERS]
    types = dict.fromkeys(("point", "low", "high", "level"), pl.Float64) | {"n": pl.Int64}
    frame = pl.DataFrame(rows, schema={name: types.get(name, pl.String) for name in columns})
    frame = _named(with_levels(frame, dataset.scenarios))
    with replaced(dataset.folder / "estimates.csv") as fresh:
        frame.write_csv(fresh)
    write_table(frame, dataset.folder / "estimates.parquet")
    names = pl.DataFrame([_names(s) for s in estimates["scenarios"]], schema=dict.fromkeys(_NAMES, pl.String))
    path = dataset.folder / "exchanges.csv"
    with replaced(path) as fresh:
        sink(_csv_parts(dataset, names.drop(PROTOCOL)), path, lambda frame: frame.sink_csv(fresh))


def _csv_parts(dataset: Dataset, names: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Exchanges with the names of their scenarios. Here, `client` is who plays the client, not which of a population it
    is.
    """
    import polars as pl

    for key in names["scenario"]:
        rows = dataset.rows(key).rename({"client": "client_number"}, strict=False)
        for first in range(0, max(1, len(rows)), CSV_ROWS):
            part = with_levels(rows[first : first + CSV_ROWS], dataset.scenarios)
            named = part.join(names, on="scenario", how="left", maintain_order="left")
            yield _named(named).select("trial", pl.exclude("trial"))


def _named(table: pl.DataFrame) -> pl.DataFrame:
    """With the names of a row first."""
    return table.select([*_NAMES, *(column for column in table.columns if column not in _NAMES)])


def _rows(estimates: Estimates) -> Iterator[dict[str, str | float | int | None]]:
    for scenario in estimates["scenarios"]:
        for metric, values in scenario["metrics"].items():
            rule = values["published_rule"]
            statistics = {
                **{"mean": values["mean"], "sd": values["sd"], "median": values["median"]},
                **{f"quantile {q}": value for q, value in values["quantiles"].items()},
                **({} if rule is None else {f"published rule {name}": rule[name] for name in _OF_RULE}),
            }
            for statistic, value in statistics.items():
                if value is not None:
                    numbers: dict[str, str | float | int | None] = {name: value[name] for name in _NUMBERS}
                    yield {
                        **_names(scenario), "metric": metric, "unit": values["unit"], "statistic": statistic, **numbers,
                    }  # fmt: skip


def _names(scenario: AnalysedScenario) -> dict[str, str]:
    """The names of a row: a difference between programs is not one between protocols."""
    own = (scenario["key"], scenario["name"], scenario["protocol"])
    ends = (scenario["implementation"]["client"], scenario["implementation"]["server"])
    return dict(zip(_NAMES, (*own, *ends), strict=True))
