"""The descriptions of the metrics, without the data frames that compute them: `schema/metrics.json`, generated.

`python -m wirelab.metrics.described` prints that file. Computes no metric.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from functools import cache

from wirelab.schema.generated import generated

FILE = "metrics.json"


@dataclass(frozen=True)
class MetricDescription:
    """One metric: `Metric` of `wirelab.metrics.base` without its expressions."""

    name: str
    unit: str
    of: str
    """`exchange` or `trial`."""
    about: str
    column: str
    """The column in the table of exchanges or of trials."""
    used: bool
    """Whether it is what an endpoint used in a trial, which is estimated over trials."""


@cache
def described() -> tuple[MetricDescription, ...]:
    """Every metric, in the order in which they are listed."""
    return tuple(MetricDescription(**each) for each in json.loads(generated(FILE)))


def exchange_metrics() -> list[str]:
    """Names of those that an exchange has a value of."""
    return [metric.name for metric in described() if metric.of == "exchange"]


def energies() -> set[str]:
    """Names of those that a radio's model computes."""
    return {metric.name for metric in described() if metric.unit == "j"}


def of_registry() -> str:
    """The file's contents by the registry."""
    from wirelab.metrics.registry import METRICS
    from wirelab.metrics.resources import USED

    used = {metric.name for metric in USED}
    found = [
        MetricDescription(each.name, each.unit, each.of, each.about, each.column, each.name in used) for each in METRICS
    ]
    return json.dumps([asdict(each) for each in found], indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(of_registry())
