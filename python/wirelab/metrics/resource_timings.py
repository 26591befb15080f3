"""`resources.parquet`: a row for each resource of each load of a page, with what the manifest says of it and its phases
(`docs/reference/tables.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from wirelab.errors import RunError, Where
from wirelab.metrics.raw_rows import read_rows
from wirelab.metrics.steps import run_again
from wirelab.metrics.tables import write_table
from wirelab.schema import RESOURCE_COLUMNS
from wirelab.schema.campaign import TRIALS, page_manifest
from wirelab.schema.plan import Plan
from wirelab.schema.workload import PageLoads
from wirelab.site import Site

RESOURCES = "resources.parquet"
_WORDS = {"path", "found_by", "outcome", "error"}
_FLAGS = {"connection_reused", "pushed", "incremental"}
RESOURCE_TYPES = {
    name: pl.String if name in _WORDS else pl.Boolean if name in _FLAGS else pl.Int64 for name in RESOURCE_COLUMNS
}
_TRIAL_KEYS = ("trial", "scenario", "block", "replicate", "lane")
_OF_MANIFEST = {"kind": pl.String, "media_type": pl.String, "parent": pl.Int64, "blocking": pl.Boolean}


def _clipped(instant: str) -> pl.Expr:
    """A connection may have been begun for another request than the one that used it first."""
    return pl.max_horizontal(instant, "discovered_ns")


_OPENED = pl.col("connect_start_ns").is_not_null()
_CONNECTED = pl.coalesce("tcp_connect_ns", "connect_start_ns")
_ASKED = pl.coalesce("request_start_ns", pl.when(pl.col("pushed")).then(pl.col("discovered_ns")))
PHASES: Mapping[str, pl.Expr] = {
    "phase_connect_ns": pl.when(_OPENED & pl.col("tcp_connect_ns").is_not_null()).then(
        _clipped("tcp_connect_ns") - _clipped("connect_start_ns")
    ),
    "phase_handshake_ns": pl.when(_OPENED & pl.col("handshake_ns").is_not_null()).then(
        _clipped("handshake_ns") - pl.max_horizontal(_CONNECTED, "discovered_ns")
    ),
    "phase_wait_ns": pl.coalesce("first_response_byte_ns", "end_ns") - _ASKED,
    "phase_transfer_ns": pl.col("end_ns") - pl.col("first_response_byte_ns"),
}
"""Of a resource, from its discovery to its end. TCP's handshake; that of TLS or QUIC; from the request, or the promise
of a push, to the first byte, or to the end if none came; from there to the last byte. Null where there was none.
"""
QUEUED = "phase_queued_ns"
"""The rest: waiting for a connection, or for its turn on one."""
PHASE_COLUMNS = (QUEUED, *PHASES)
COLUMNS = {**RESOURCE_TYPES, **_OF_MANIFEST, **dict.fromkeys(PHASE_COLUMNS, pl.Int64)}
"""Columns of `resources.parquet` behind those of the trial."""


def measure_resources(campaign: Path, plan: Plan, trials: pl.DataFrame) -> pl.DataFrame | None:
    """Write the table of the trials that are done and load a page; none without any."""
    pages = {s.key: s.workload.page.sha256 for s in plan.scenarios if isinstance(s.workload, PageLoads)}
    done = trials.filter((pl.col("status") == "done") & pl.col("scenario").is_in(list(pages))).select(_TRIAL_KEYS)
    if done.is_empty():
        (campaign / RESOURCES).unlink(missing_ok=True)
        return None
    frames = [_read(campaign / TRIALS / trial / "client").with_columns(trial=pl.lit(trial)) for trial in done["trial"]]
    said = pl.concat([_manifest(campaign, digest).with_columns(scenario=pl.lit(key)) for key, digest in pages.items()])
    table = (
        pl.concat(frames)
        .join(done, on="trial", how="left", maintain_order="left")
        .join(said, on=["scenario", "resource"], how="left", maintain_order="left")
        .with_columns(**PHASES)
        .with_columns(
            (pl.col("end_ns") - pl.col("discovered_ns") - pl.sum_horizontal(*PHASES)).alias(QUEUED),
        )
        .select(*_TRIAL_KEYS, *COLUMNS)
    )
    write_table(table, campaign / RESOURCES)
    return table


def _read(output: Path) -> pl.DataFrame:
    """A trial's rows as its client wrote them; none if it wrote no file."""
    unsaid = {"client": 0, "connection_reused": False, "body_received_bytes": 0, "pushed": False}
    read = read_rows(output, "resources", RESOURCE_TYPES)
    return read.with_columns(pl.col(name).fill_null(value) for name, value in unsaid.items())


def _manifest(campaign: Path, digest: str) -> pl.DataFrame:
    """What it says of each resource."""
    path = page_manifest(campaign, digest)
    try:
        site = Site.from_json(path.read_bytes(), Where(str(path)))
    except OSError as error:
        raise RunError(f"cannot be read: {error.strerror}", Where(str(path)), run_again(campaign)) from None
    rows: list[dict[str, Any]] = [
        {"resource": index, "kind": each.kind.value, "media_type": each.media_type}
        | {"parent": each.parent, "blocking": each.blocking}
        for index, each in enumerate(site.resources)
    ]
    return pl.DataFrame(rows, schema={"resource": pl.Int64, **_OF_MANIFEST})
