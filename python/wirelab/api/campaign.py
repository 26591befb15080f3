"""A campaign's folder as tables, for polars or pandas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

from wirelab.api.drawn import Chart, distribution, in_short
from wirelab.errors import WirelabError, did_you_mean
from wirelab.metrics.levels import level_columns, with_levels
from wirelab.metrics.packets import dissected
from wirelab.metrics.tables import read_table
from wirelab.schema.campaign import PACKET_LOG, PLAN, TRIALS, read_plan
from wirelab.schema.estimates import ESTIMATES, EstimateRecord, Estimates, read_estimates
from wirelab.schema.plan import Plan
from wirelab.schema.verdicts import read_verdicts

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Frame = TypeVar("Frame")
RESULTS = Path("results")


@overload
def load(path: str | Path, *, frames: Literal["polars"] = "polars") -> Campaign[pl.DataFrame]: ...
@overload
def load(path: str | Path, *, frames: Literal["pandas"]) -> Campaign[pd.DataFrame]: ...
def load(path: str | Path, *, frames: str = "polars") -> Campaign[Any]:
    """The campaign in a folder or of a name under results/, with tables of polars or pandas. Raises `WirelabError` if
    there is none, or if pandas is asked for and not installed.
    """
    folder = next((each for each in (Path(path), RESULTS / path) if (each / PLAN).is_file()), None)
    if folder is None:
        here = sorted(each.parent.name for each in RESULTS.glob(f"*/{PLAN}"))
        hint = f"campaigns here: {', '.join(here)}" if here else "wirelab.run(EXPERIMENT) makes one"
        raise WirelabError(f"'{path}' is not a campaign: it has no {PLAN}", hint=hint)
    makers: Mapping[str, Callable[[pl.DataFrame], object]] = {"polars": lambda table: table, "pandas": _pandas}
    if frames not in makers:
        raise WirelabError(f"unknown kind of table ('{frames}')", hint=did_you_mean(frames, makers))
    if frames == "pandas":
        _require_pandas()
    return Campaign(folder, makers[frames])


class Campaign(Generic[Frame]):
    """The results of a run. Each table is read when it is first asked for."""

    def __init__(self, folder: Path, frame: Callable[[pl.DataFrame], Frame]) -> None:
        self.folder = folder
        """The folder of all files."""
        self._frame = frame

    def __repr__(self) -> str:
        return f"<wirelab.Campaign {str(self.folder)!r}>"

    def _repr_html_(self) -> str:
        """The answer, with its chart and its quality, for a notebook."""
        return in_short(self.folder)

    @cached_property
    def exchanges(self) -> Frame:
        """A row for each exchange of the trials that are done, also of one that failed or timed out.

        `protocol` and the path of each factor are columns. `name`, `client` and `server` are of the scenario.
        `client_number` says which of its clients it was. `_ns` are nanoseconds. Of instants only the differences have
        a meaning (docs/reference/tables.md).
        """
        table = read_table(self._measured("exchanges.parquet")).rename({"client": "client_number"}, strict=False)
        return self._frame(self._with_names(table))

    @cached_property
    def trials(self) -> Frame:
        """A row for each trial, those that failed too, with the same names."""
        return self._frame(self._with_names(read_table(self._measured("trials.parquet"))))

    @cached_property
    def estimates(self) -> Frame:
        """A row for each scenario, metric and statistic: `point`, `low` and `high` in the `unit` of the row.

        `level` is that of the interval, and `n` the number of values. `attempted` and `completed` count exchanges.
        """
        table = read_table(self._measured("estimates.parquet"))
        counts = [
            {"scenario": each["key"], "attempted": each["denominators"]["exchanges"],
             "completed": each["denominators"]["completed"]}
            for each in self._estimates["scenarios"]
        ]  # fmt: skip
        return self._frame(table.join(_table(counts), on="scenario", how="left", maintain_order="left"))

    @cached_property
    def comparisons(self) -> Frame:
        """A row for each pair of scenarios and metric, with the levels that both have.

        Ratios are `a` over `b`: of means, of medians, and of the percentile that ranks, if one does. The shift is `a`
        minus `b`, in `unit`. `p_adjusted` is adjusted for all comparisons of the metric. `level` is that of
        intervals, and `quality` is of the comparison of medians.
        """
        known = {each["key"]: each for each in self._estimates["scenarios"]}
        planned = {each.key: each for each in self._plan.scenarios}
        levels = level_columns(self._plan.scenarios)[1:]
        rows = []
        for pair in self._estimates["comparisons"]:
            row: dict[str, object] = {
                "metric": pair["metric"],
                "unit": known[pair["a"]]["metrics"][pair["metric"]]["unit"],
            }
            for side, key in (("a", pair["a"]), ("b", pair["b"])):
                own = known[key]
                row |= {side: own["name"], f"{side}_protocol": own["protocol"], f"{side}_scenario": own["key"]}
            both = [planned[pair["a"]].levels, planned[pair["b"]].levels]
            row |= {path: both[0].get(path) if both[0].get(path) == both[1].get(path) else None for path in levels}
            row |= _numbers("ratio_of_means", pair["ratio_of_means"])
            row |= _numbers("ratio_of_medians", pair["ratio_of_medians"])
            row |= _numbers("ratio_of_percentiles", pair.get("ratio_of_percentiles"))
            row |= _numbers("shift", pair["shift"]) | _numbers("cliffs_delta", pair["cliffs_delta"])
            of = pair["ratio_of_medians"]
            row |= {"n": of["n"], "level": of["level"], "p": pair["p"], "p_adjusted": pair["p_adjusted"]}
            rows.append({**row, "quality": pair["link"]["flag"]})
        return self._frame(_table(rows))

    @cached_property
    def verdicts(self) -> Frame:
        """A row for each claim: its text, the verdict and why, the paper's figure and ours with its interval, and `n`.

        `paper_text` has what the paper says where that is not a number. Without claims there is no row.
        """
        found = read_verdicts(self.folder)
        rows = [
            {"claim": each["id"], "text": each["text"], "verdict": each["verdict"], "why": each["why"],
             "paper": each["paper"] if isinstance(each["paper"], int | float) else None,
             "paper_text": each["paper"] if isinstance(each["paper"], str) else None,
             **_numbers("ours", each["ours"]), "n": each["n"]}
            for each in ([] if found is None else found["claims"])
        ]  # fmt: skip
        words, numbers = ("claim", "text", "verdict", "why", "paper_text"), ("paper", "ours", "ours_low", "ours_high")
        return self._frame(_table(rows, dict.fromkeys(words, str) | dict.fromkeys(numbers, float) | {"n": int}))

    def packets(self, trial: str) -> Frame:
        """A row for each packet of a trial's client link, in the order in which they reached it.

        It has the direction, instants, the outcome, and what was in it (`wirelab show`). Raises `WirelabError` if there
        is no such trial.
        """
        trials = {each.trial for block in self._plan.blocks for each in block.trials}
        if trial not in trials:
            raise WirelabError(f"no trial '{trial}' in {self.folder}", hint="a name of the column `trial`")
        found = _table(dissected(self.folder / TRIALS / trial / PACKET_LOG))
        return self._frame(found.rename({"fate": "outcome"}, strict=False))

    def cdf(self) -> Chart[Frame]:
        """The share of all exchanges whose delay is at most x: a chart for each condition, and its points as `.data`.
        No value is removed; a curve that ends below 1 has failures or time-outs. Raises `WirelabError` if the headline
        metric is no delay.
        """
        return distribution(self.folder, self._frame)

    @cached_property
    def _plan(self) -> Plan:
        return read_plan(self.folder)

    @cached_property
    def _estimates(self) -> Estimates:
        return read_estimates(self._measured(ESTIMATES).parent)

    def _measured(self, name: str) -> Path:
        if not (path := self.folder / name).is_file():
            verb = "analyze" if name.startswith("estimates") else "measure"
            raise WirelabError(f"'{self.folder}' has no {name}", hint=f"wirelab {verb} {self.folder}")
        return path

    def _with_names(self, table: pl.DataFrame) -> pl.DataFrame:
        """A table with what people call its scenarios, in front."""
        names = [
            {"scenario": each.key, "name": each.name, "client": each.implementation.client,
             "server": each.implementation.server}
            for each in self._plan.scenarios
        ]  # fmt: skip
        named = with_levels(table, self._plan.scenarios)
        joined = named.join(_table(names), on="scenario", how="left", maintain_order="left")
        levels = level_columns(self._plan.scenarios)
        first = ["trial", "name", *levels, "client", "server"]
        rest = [each for each in joined.columns if each not in {*first, "scenario"}]
        return joined.select([*first, *rest, "scenario"])


def _numbers(name: str, found: EstimateRecord | None) -> dict[str, float | None]:
    """An estimate as columns."""
    if found is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    return {name: found["point"], f"{name}_low": found["low"], f"{name}_high": found["high"]}


def _table(rows: Sequence[Mapping[str, object]], columns: Mapping[str, type] | None = None) -> pl.DataFrame:
    """Rows as a table. `columns` are the types of some columns, which are there without a row too."""
    import polars as pl

    types = {str: pl.String, float: pl.Float64, int: pl.Int64}
    schema = {name: types[kind] for name, kind in (columns or {}).items()}
    if not rows:
        return pl.DataFrame(schema=schema)
    return pl.DataFrame([dict(row) for row in rows], schema_overrides=schema, infer_schema_length=None)


def _require_pandas() -> None:
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError:
        raise WirelabError(
            "pandas is not installed", hint="pip install 'wirelab[pandas]', or leave out frames"
        ) from None


def _pandas(table: pl.DataFrame) -> pd.DataFrame:
    return table.to_pandas()
