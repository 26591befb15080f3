"""The results of a command as a table in Markdown, by its verb: the rows that it prints, or those of its JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.reference.markdown import code, table

from wirelab.errors import WirelabError
from wirelab.report.choose import ranking
from wirelab.report.explain import words as explain
from wirelab.report.numbers import DASH, MILLISECONDS, Estimate, ended, plain, with_unit
from wirelab.units import format_size

Json = Mapping[str, Any]
METRIC = "end-to-end-delay"
HEADS = (
    "delay, median [95 %]", "p95", "bytes on the wire", "packets retransmitted", "packets dropped by the link",
    "completed / attempted",
)  # fmt: skip
"""Of a table of scenarios. Bytes and packets are means of an exchange."""


def table_of(verb: str, results: Path) -> str:
    """The table of a verb's folder of results."""
    make = {"choose": _chosen, "explain": _explained, "run": _measured}.get(verb)
    if make is None:
        raise WirelabError(f"no table of `wirelab {verb}`", hint="a page has choose, explain or run")
    return make(results)


def runs_on(results: Path) -> str:
    """Wirelab's version, the clock and the kernel of the campaign in a folder of results."""
    campaign = next(iter(sorted(results.rglob("campaign.json"))))
    record, plan = _read(campaign), _read(campaign.with_name("plan.json"))
    clock = plan["scenarios"][0].get("clock", "live")
    return f"Wirelab {record['wirelab']} under the {clock} clock, on Linux {record['host']['kernel']}"


def replayed(results: Path) -> str:
    """What the replay of a campaign's packet logs found."""
    found = _read(results / "estimates.json")["replay"]
    return f"Replay of the link's log: {found['packets']:,} packets, {found['mismatches']:,} mismatches."


def _read(path: Path) -> Json:
    found: Json = json.loads(path.read_text(encoding="utf-8"))
    return found


def _chosen(results: Path) -> str:
    """What `choose` prints."""
    record: Any = _read(results / "choose.json")
    titles, kinds, *rows = ranking.rows(record)
    measured = [f"{title}, {kind}" for title, kind in zip(titles[3:], kinds[3:], strict=True)]
    return table(["rank", "choice", "program", *measured], rows)


def _explained(results: Path) -> str:
    """What `explain` prints of the bytes of an exchange."""
    record = _read(results / "explain.json")
    first, second = record["first"], record["second"]
    rows = explain.parts(first["spent"], second["spent"], "B")[1:]
    return table(["IP bytes of an exchange, both ways", first["name"], second["name"], "difference"], rows)


def _measured(results: Path) -> str:
    """A row for each scenario: the factors that vary, and the numbers that `run` prints with two of its packets."""
    scenarios = _read(results / "estimates.json")["scenarios"]
    paths = dict.fromkeys(path for each in scenarios for path in each["levels"])
    factors = [
        path for path in paths if len({str(each["levels"][path]) for each in scenarios if path in each["levels"]}) > 1
    ]
    head = [*map(code, factors), *HEADS]
    rows = [[*(_level(each["levels"].get(path)) for path in factors), *_cells(each)] for each in scenarios]
    shown = [at for at in range(len(head)) if any(row[at] != DASH for row in rows)]
    return table([head[at] for at in shown], [[row[at] for at in shown] for row in rows])


def _level(value: object) -> str:
    return DASH if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _cells(scenario: Json) -> list[str]:
    """The cells of `HEADS`."""
    return [
        with_unit(_of(scenario, METRIC, "median"), MILLISECONDS),
        _p95(_of(scenario, METRIC, "0.95")),
        _size(_mean(scenario, "wire-bytes")),
        *(_count(_mean(scenario, name)) for name in ("retransmissions", "lost-packets")),
        ended(scenario["denominators"]),
    ]


def _of(scenario: Json, metric: str, statistic: str) -> Estimate | None:
    """A statistic of a metric, if the scenario has it."""
    found = scenario["metrics"].get(metric, {})
    return Estimate.of(found.get(statistic) or found.get("quantiles", {}).get(statistic))


def _mean(scenario: Json, metric: str) -> float | None:
    found = _of(scenario, metric, "mean")
    return None if found is None else found.point


def _p95(value: Estimate | None) -> str:
    if value is None:
        return DASH
    return value.method if value.point is None else f"{plain(value.point * 1e3)} ms"


def _count(value: float | None) -> str:
    return DASH if value is None else f"{value:.3g}"


def _size(value: float | None) -> str:
    return DASH if value is None else format_size(value)
