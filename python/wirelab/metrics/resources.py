"""What the endpoints of a trial used, as the kernel counted it (`getrusage`)."""

from __future__ import annotations

import polars as pl

from wirelab.metrics.base import Metric

_CPU = "User and system CPU time of the {} and its waited-for children over a trial, start and end included."
_MEMORY = "Peak resident memory of the {}'s largest process."

METRICS = (
    Metric("client-cpu", "ns", _CPU.format("client"), pl.col("client_cpu_ns"), of="trial"),
    Metric("server-cpu", "ns", _CPU.format("server"), pl.col("server_cpu_ns"), of="trial"),
    Metric("client-peak-memory", "bytes", _MEMORY.format("client"), pl.col("client_peak_memory_bytes"), of="trial"),
    Metric("server-peak-memory", "bytes", _MEMORY.format("server"), pl.col("server_peak_memory_bytes"), of="trial"),
)
