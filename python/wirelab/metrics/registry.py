"""Every metric, in the order in which they are listed.

Adding one: a `Metric` in its family's file, or a file with `METRICS` and its line here; then `make generate`.
"""

from wirelab.metrics import (
    delay,
    delivery,
    energy,
    link,
    page,
    phases,
    proxy,
    recovery,
    resources,
    retransmissions,
    throughput,
    traffic,
    wire,
)
from wirelab.metrics.base import Metric

METRICS: tuple[Metric, ...] = (
    *delay.METRICS,
    *delivery.METRICS,
    *page.METRICS,
    *phases.METRICS,
    *proxy.METRICS,
    *throughput.METRICS,
    *wire.METRICS,
    *retransmissions.METRICS,
    *link.METRICS,
    *resources.METRICS,
    *traffic.METRICS,
    *energy.METRICS,
    *recovery.METRICS,
)

EXCHANGE_METRICS = tuple(metric for metric in METRICS if metric.of == "exchange")
TRIAL_METRICS = tuple(metric for metric in METRICS if metric.of == "trial")
UNTIMED = frozenset(metric.name for metric in METRICS if not metric.timed)
"""Names of counts and CPU times."""
CPU_TIMES = frozenset(metric.name for metric in METRICS if metric.cpu_time)
"""Names of the CPU times among them."""
DELAYS = frozenset(metric.name for metric in METRICS if metric.timed and metric.unit == "ns")
"""Names of times that pass."""
ENERGIES = frozenset(metric.name for metric in METRICS if metric.unit == "j")
"""Names of those that a model computes: of packets, and of CPU time where the processor is in them."""

__all__ = ["CPU_TIMES", "DELAYS", "ENERGIES", "EXCHANGE_METRICS", "METRICS", "TRIAL_METRICS", "UNTIMED", "Metric"]
