"""The resource use of a trial's endpoints, as the kernel counted it, and their waiting.

An endpoint is a whole tree of processes: the one that was started, what it started, and what outlived its parent. What
it costs to be there at all, its idle cost, is the CPU time that the same processes had used before the first exchange:
until it was ready, by its own word (`docs/contract.md`) or else by the kernel's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from wirelab.metrics.base import Metric
from wirelab.schema import EndpointResult

ROLES = ("client", "server", "proxy")
"""Names of endpoints whose use is reported; a broker is the server of its protocol."""
_REPORTED = {
    "cpu_user_ns": "cpu_user_ns", "cpu_system_ns": "cpu_system_ns", "cpu_idle_ns": "cpu_ready_ns",
    "peak_memory_bytes": "peak_memory_bytes", "proportional_memory_bytes": "proportional_memory_bytes",
    "memory_samples": "memory_samples", "voluntary_switches": "voluntary_switches",
    "involuntary_switches": "involuntary_switches", "instructions": "instructions",
}  # fmt: skip
"""Columns, without the role, by what `result.json` calls them."""
SPAN = "exchanges_ns"
"""Column: from the start of a trial's first exchange to the end of its last."""
COLUMNS = (SPAN, *(f"{role}_{name}" for role in ROLES for name in ("cpu_ns", *_REPORTED)))


def used(endpoint: EndpointResult) -> Iterator[tuple[str, int | None]]:
    """The columns of one endpoint of `result.json`."""
    role = endpoint.name
    user, system = endpoint.cpu_user_ns, endpoint.cpu_system_ns
    yield f"{role}_cpu_ns", None if user is None or system is None else user + system
    for column, key in _REPORTED.items():
        yield f"{role}_{column}", getattr(endpoint, key)


def _metrics(role: str) -> Iterator[Metric]:
    cpu, idle = pl.col(f"{role}_cpu_ns"), pl.col(f"{role}_cpu_idle_ns")
    # Ready is stamped by another clock than the sum at the end, by some microseconds.
    work = (cpu - idle).clip(lower_bound=0)
    whole = f"of the {role} and all processes that descend from it, over a trial"

    def metric(name: str, unit: str, about: str, value: pl.Expr | None = None) -> Metric:
        metric = Metric(f"{role}-{name}", unit, about, pl.lit(None), of="trial", cpu_time=name.startswith("cpu"))
        return replace(metric, value=pl.col(metric.column) if value is None else value)

    yield metric("cpu", "ns", f"User and system CPU time {whole}, start and end included (`getrusage`).")
    yield metric(
        "cpu-user", "ns", f"User CPU time {whole}, start and end included (`getrusage`); by the kernel's tick."
    )
    yield metric(
        "cpu-system", "ns", f"System CPU time {whole}, start and end included (`getrusage`); by the kernel's tick."
    )
    yield metric(
        "cpu-idle", "ns",
        f"Idle cost: CPU time of the {role} and all processes that descend from it until it was ready, before the "
        "first exchange of the same process; null of a program that does not say when that is.",
    )  # fmt: skip
    yield metric(
        "cpu-work", "ns", f"CPU time {whole}, without its idle cost: what the exchanges and the end took.", work
    )
    yield metric(
        "utilisation", "cpus",
        f"CPU time {whole}, without its idle cost, for each second from the first exchange's start to the last one's "
        "end: 1 is one CPU all the time.",
        work / pl.col(SPAN),
    )  # fmt: skip
    yield metric(
        "peak-memory", "bytes",
        f"Peak resident memory of the {role}'s largest process (`getrusage`); not below what the agent that starts it "
        "has.",
    )  # fmt: skip
    yield metric(
        "proportional-memory", "bytes",
        f"Most proportional memory {whole}, together in one sample (`Pss` of `/proc/PID/smaps_rollup`): what several "
        "processes share counts in parts. Samples of all trials take at most 1 % of a CPU; null of a trial too short "
        "for one.",
    )  # fmt: skip
    yield metric("voluntary-switches", "switches", f"Voluntary context switches: {whole} (`getrusage`).")
    yield metric("involuntary-switches", "switches", f"Involuntary context switches: {whole} (`getrusage`).")
    yield metric(
        "instructions", "",
        f"Instructions outside the kernel {whole}, start and end included (`perf_event_open`); null where the machine "
        "does not count them, as `campaign.json` says (`trial.instructions`).",
    )  # fmt: skip


_RUN_DELAY = (
    "How long the {}'s threads were ready to run and waited for a CPU (`/proc/PID/schedstat`): delay that is the "
    "machine's. Without its children's; null under a limit, which the kernel counts with it."
)
_THROTTLED = (
    "For how long the {}'s host was held back in a trial because it had used up its share of a CPU (`cpu.stat`), start "
    "and end included; each CPU counts for itself."
)
_STEAL = "CPU time that a hypervisor gave to others during a trial, over all CPUs (`/proc/stat`)."

USED = tuple(metric for role in ROLES for metric in _metrics(role))
"""Resource use of endpoints: estimated over trials, each with one value."""
CLIENT_WORK = next(metric.value for metric in USED if metric.name == "client-cpu-work")
"""CPU time of a trial's client beyond its idle cost (ns); null of a program that does not say when it is ready."""
METRICS = (
    *USED,
    Metric("client-run-delay", "ns", _RUN_DELAY.format("client"), pl.col("client_run_delay_ns"), of="trial"),
    Metric("server-run-delay", "ns", _RUN_DELAY.format("server"), pl.col("server_run_delay_ns"), of="trial"),
    Metric("client-throttled", "ns", _THROTTLED.format("client"), pl.col("client_throttled_ns"), of="trial"),
    Metric("server-throttled", "ns", _THROTTLED.format("server"), pl.col("server_throttled_ns"), of="trial"),
    Metric("stolen-cpu", "ns", _STEAL, pl.col("stolen_cpu_ns"), of="trial"),
)
