"""The bytes and packets of a trial's connections on the link, from the packet logs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from wirelab import agent
from wirelab.metrics.link import DIRECTIONS
from wirelab.schema.campaign import PACKET_LOG, TRIALS

CLIENT = "client"
Types = dict[str, pl.DataType | type[pl.DataType]]
_TYPES: Types = {
    "log": pl.String, "transport": pl.String, "near": pl.String, "client_port": pl.Int64, "first_ns": pl.Int64,
    "turns": pl.Int64,
    **dict.fromkeys(["packets", "bytes", "dropped", "retransmissions", "spurious"], pl.List(pl.Int64)),
}  # fmt: skip
_LOGS_AT_ONCE = 500
_MAYBE_UNKNOWN = ("flow_dropped", "flow_spurious", "flow_turns")


def dissected_flows(campaign: Path, trials: Iterable[str], types: Types) -> pl.DataFrame:
    """Rows of `wirelab-agent dissect --flows` with these columns, and the trial of each."""
    logs = {str(path): trial for trial in trials if (path := campaign / TRIALS / trial / PACKET_LOG).exists()}
    paths = list(logs)
    lines = [
        agent.ask(agent.find_agent(), ["dissect", "--flows"], files=paths[first : first + _LOGS_AT_ONCE])
        for first in range(0, len(paths), _LOGS_AT_ONCE)
    ]
    read = [pl.read_ndjson(text.encode(), schema=types) for text in lines if text]
    flows = pl.concat([pl.DataFrame(schema=types), *read])
    names = pl.DataFrame(
        {"log": list(logs), "trial": list(logs.values())}, schema={"log": pl.String, "trial": pl.String}
    )
    return flows.join(names, on="log")


def read_flows(campaign: Path, trials: Iterable[str]) -> pl.DataFrame:
    """The traffic of each client port of each trial."""
    up_and_down = [
        pl.col(column).list.get(index).alias(f"flow_{direction}_{column}")
        for column in ("bytes", "packets")
        for index, direction in enumerate(DIRECTIONS)
    ]
    both = [pl.col(column).list.sum().alias(f"flow_{column}") for column in ("dropped", "retransmissions", "spurious")]
    return _summed(
        dissected_flows(campaign, trials, _TYPES)
        # Another host's flow may have the same port.
        .filter(pl.col("near").fill_null(CLIENT) == CLIENT)
        .select(
            "trial",
            pl.col("client_port").alias("local_port"),
            pl.col("transport").alias("flow_transport"),
            pl.col("first_ns").alias("flow_first_ns"),
            pl.col("turns").alias("flow_turns"),
            *up_and_down,
            *both,
        )
    )


def without_unknown(flows: pl.DataFrame, trials: pl.Series) -> pl.DataFrame:
    """The losses of these trials' flows are not known, nor when packets arrived: netem dropped and held them after the
    log.
    """
    known = ~pl.col("trial").is_in(trials.implode())
    return flows.with_columns(pl.when(known).then(pl.col(*_MAYBE_UNKNOWN)))


def with_loads(flows: pl.DataFrame, exchanges: pl.DataFrame, trials: pl.Series) -> pl.DataFrame:
    """The same with all connections of a load as one, under the port of its document's: in these trials each exchange
    is a load, which opens several and begins when the one before has ended. A load has no turns: its connections go
    on at once.
    """
    mine = pl.col("trial").is_in(trials.implode())
    loads = exchanges.filter(mine).select("trial", "start_ns", pl.col("local_port").alias("port")).sort("start_ns")
    placed = (
        flows.filter(mine)
        .sort("flow_first_ns")
        .join_asof(loads, left_on="flow_first_ns", right_on="start_ns", by="trial", check_sortedness=False)
        .with_columns(local_port=pl.coalesce("port", "local_port"))
        .drop("port", "start_ns")
        .with_columns(flow_turns=pl.lit(None, pl.Int64))
    )
    return pl.concat([flows.filter(~mine), _summed(placed)])


def _summed(flows: pl.DataFrame) -> pl.DataFrame:
    """One row for each port of each trial."""
    return flows.group_by("trial", "local_port", maintain_order=True).agg(
        pl.col("flow_transport").first(),
        pl.col("flow_first_ns").min(),
        # The sum of what is not known is not 0.
        *(pl.when(pl.col(column).count() > 0).then(pl.col(column).sum()) for column in _MAYBE_UNKNOWN),
        pl.exclude("trial", "local_port", "flow_transport", "flow_first_ns", *_MAYBE_UNKNOWN).sum(),
    )
