"""What the endpoints of a trial used, as the kernel counted it (mostly `getrusage`), and what they waited for."""

from __future__ import annotations

import polars as pl

from wirelab.metrics.base import Metric

_CPU = "User and system CPU time of the {} and its waited-for children over a trial, start and end included."
_MEMORY = "Peak resident memory of the {}'s largest process."

_RUN_DELAY = (
    "How long the {}'s threads were ready to run and waited for a CPU (`/proc/PID/schedstat`): delay that is the "
    "machine's. Without its children's; null under a limit, which the kernel counts with it."
)
_THROTTLED = (
    "For how long the {}'s host was held back in a trial because it had used up its share of a CPU (`cpu.stat`), start "
    "and end included; each CPU counts for itself."
)
_STEAL = "CPU time that a hypervisor gave to others during a trial, over all CPUs (`/proc/stat`)."

METRICS = (
    Metric("client-cpu", "ns", _CPU.format("client"), pl.col("client_cpu_ns"), of="trial"),
    Metric("server-cpu", "ns", _CPU.format("server"), pl.col("server_cpu_ns"), of="trial"),
    Metric("client-run-delay", "ns", _RUN_DELAY.format("client"), pl.col("client_run_delay_ns"), of="trial"),
    Metric("server-run-delay", "ns", _RUN_DELAY.format("server"), pl.col("server_run_delay_ns"), of="trial"),
    Metric("client-throttled", "ns", _THROTTLED.format("client"), pl.col("client_throttled_ns"), of="trial"),
    Metric("server-throttled", "ns", _THROTTLED.format("server"), pl.col("server_throttled_ns"), of="trial"),
    Metric("stolen-cpu", "ns", _STEAL, pl.col("stolen_cpu_ns"), of="trial"),
    Metric("client-peak-memory", "bytes", _MEMORY.format("client"), pl.col("client_peak_memory_bytes"), of="trial"),
    Metric("server-peak-memory", "bytes", _MEMORY.format("server"), pl.col("server_peak_memory_bytes"), of="trial"),
)
