"""`wirelab analyze CAMPAIGN`: the dataset to estimates, and to verdicts if the experiment has claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from wirelab.units import format_duration


@click.command("analyze", short_help="Turn a campaign's dataset into estimates and verdicts.")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print estimates and verdicts as JSON.")
def command(campaign: Path, as_json: bool) -> None:
    """Turn the dataset of CAMPAIGN, a folder, into estimates.json and, if its experiment has claims, verdicts.json.

    Also writes estimates.csv, estimates.parquet and exchanges.csv.
    """
    from wirelab import claims, stats

    estimates = stats.analyze(campaign)
    verdicts = claims.judge(campaign)
    if as_json:
        click.echo(json.dumps({"estimates": estimates, "verdicts": verdicts}, ensure_ascii=False))
        return
    _print_estimates(estimates)
    if verdicts is not None:
        _print_verdicts(verdicts)
    for note in estimates["notes"]:
        click.echo(note, err=True)
    click.echo(f"Next    wirelab report {campaign}", err=True)


def _print_estimates(estimates: dict[str, Any]) -> None:
    metric = estimates["metric"]
    width = max((len(scenario["name"]) for scenario in estimates["scenarios"]), default=0)
    click.echo(f"{metric}\n{'':{width}}  {'median [95 %]':32}  {'p95':>9}  done")
    for scenario in estimates["scenarios"]:
        values = scenario["metrics"].get(metric, {})
        p95 = (values.get("quantiles") or {}).get("0.95")
        done = f"{scenario['denominators']['completed']}/{scenario['denominators']['exchanges']}"
        tail = _amount(p95["point"] if p95 else None, values)
        click.echo(f"{scenario['name']:{width}}  {_interval(values):32}  {tail:>9}  {done}")


def _print_verdicts(verdicts: dict[str, Any]) -> None:
    click.echo("")
    for claim in verdicts["claims"]:
        aside = "  the paper contradicts itself" if claim["contradiction"] else ""
        click.echo(f"{claim['id']:5} {claim['verdict']:10} {claim['text']}{aside}")
    family = verdicts["family"]
    click.echo(f"At most {family['error_rate']:.0%} chance of any wrong decision among {family['claims']} claims.")


def _interval(values: dict[str, Any]) -> str:
    median = values.get("median")
    if not median:
        return "-"
    ends = ", ".join(_amount(median[end], values) for end in ("low", "high"))
    return f"{_amount(median['point'], values)} [{ends}]"


def _amount(value: float | None, values: dict[str, Any]) -> str:
    if value is None:
        return "-"
    return format_duration(value * 1e9) if values["unit"] == "s" else f"{value:.3g} {values['unit']}".strip()
