"""What clients did when an address translation had forgotten their mapping (`nat`), from packet logs and exchanges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wirelab.metrics.flows import CLIENT, Types, dissected_flows
from wirelab.metrics.tables import write_table
from wirelab.schema import registered
from wirelab.schema.estimates import NatResponse
from wirelab.schema.plan import Plan, Scenario

NAT = "nat.parquet"
COLUMNS: Types = {
    "trial": pl.String, "scenario": pl.String, "client": pl.Int64, "local_port": pl.Int64, "at_ns": pl.Int64,
    "treatment": pl.String, "response": pl.String, "not_completed": pl.Int64, "recovery_ns": pl.Int64,
}  # fmt: skip
READ = ("trial", "client", "local_port", "start_ns", "end_ns", "outcome", "connection_reused", "resumed")
"""Columns of exchanges."""
_QUIC = "quic-idle-timeout"
"""A setting of every protocol over QUIC."""
_EXPIRIES: Types = {
    "log": pl.String, "near": pl.String, "client_port": pl.Int64,
    "expiries": pl.List(pl.Struct({"at_ns": pl.Int64, "treatment": pl.String})),
}  # fmt: skip
_ENDED: NatResponse = "nothing sent after"
_NOT_KNOWN: NatResponse = "not known"
_LISTENING = ("pubsub", "stream")
"""Workloads whose rows name the last connection of a subscriber alone."""
_FOREVER = 2**63 - 1


def has_nat(scenario: Scenario) -> bool:
    """Whether the client's link translates addresses."""
    return scenario.link.nat is not None


def measure_nat(campaign: Path, plan: Plan, trials: pl.DataFrame, exchanges: pl.DataFrame) -> pl.DataFrame | None:
    """Write a row for each mapping that was forgotten and missed; none where no link translates addresses."""
    scenarios = {each.key: each for each in plan.scenarios if has_nat(each)}
    done = trials.filter((pl.col("status") == "done") & ~pl.col("excluded") & pl.col("scenario").is_in(list(scenarios)))
    if done.is_empty():
        (campaign / NAT).unlink(missing_ok=True)
        return None
    of = dict(done.select("trial", "scenario").iter_rows())
    expiries = _read_expiries(campaign, of)
    missed = exchanges.filter(pl.col("trial").is_in(expiries["trial"].unique().implode()))
    by_trial = {
        str(trial): _Exchanges.of(part) for (trial,), part in missed.partition_by("trial", as_dict=True).items()
    }
    rows = []
    for (trial,), part in expiries.partition_by("trial", as_dict=True, maintain_order=True).items():
        key = of[str(trial)]
        found = by_trial.get(str(trial), _Exchanges.of(exchanges.clear()))
        times = part.select("client_port", "at_ns").rows()
        if scenarios[key].workload.kind in _LISTENING:
            answers: Iterable[dict[str, Any]] = ({"response": _NOT_KNOWN} for _ in times)
        else:
            answers = _responses(scenarios[key].protocol, found, times)
        for (port, at_ns), treatment, answer in zip(times, part["treatment"], answers, strict=True):
            rows.append(
                {"trial": trial, "scenario": key, "local_port": port, "at_ns": at_ns, "treatment": treatment} | answer
            )
    table = pl.DataFrame(rows, schema=COLUMNS)
    write_table(table, campaign / NAT)
    return table


def _read_expiries(campaign: Path, trials: Iterable[str]) -> pl.DataFrame:
    """The trial, the client's port, the instant, and what the translation did; in order."""
    return (
        dissected_flows(campaign, trials, _EXPIRIES)
        .filter((pl.col("near") == CLIENT) & pl.col("client_port").is_not_null() & (pl.col("expiries").list.len() > 0))
        .explode("expiries")
        .unnest("expiries")
        .select("trial", "client_port", "at_ns", "treatment")
        .sort("trial", "at_ns")
    )


class _Exchanges(NamedTuple):
    """Some exchanges of a trial, an entry for each."""

    client: NDArray[np.int64]
    port: NDArray[np.int64]
    start_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]
    completed: NDArray[np.bool_]
    sent: NDArray[np.bool_]
    opened: NDArray[np.bool_]
    resumed: NDArray[np.bool_]

    @classmethod
    def of(cls, table: pl.DataFrame) -> _Exchanges:
        return cls(
            table["client"].to_numpy(),
            # One that never had a socket has no port.
            table["local_port"].fill_null(-1).to_numpy(),
            table["start_ns"].to_numpy(),
            table["end_ns"].to_numpy(),
            # What nothing answers is sent, whether it arrives or not.
            (table["outcome"] == "completed").to_numpy(),
            (table["outcome"] == "sent").to_numpy(),
            (~table["connection_reused"].fill_null(value=False)).to_numpy(),
            table["resumed"].fill_null(value=False).to_numpy(),
        )

    def where(self, mask: NDArray[np.bool_]) -> _Exchanges:
        return _Exchanges(
            client=self.client[mask],
            port=self.port[mask],
            start_ns=self.start_ns[mask],
            end_ns=self.end_ns[mask],
            completed=self.completed[mask],
            sent=self.sent[mask],
            opened=self.opened[mask],
            resumed=self.resumed[mask],
        )


def _responses(protocol: str, all_of_them: _Exchanges, expiries: Sequence[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    """For each port and instant what its client did then, by the exchanges of the trial."""
    ports: dict[int, _Exchanges] = {}
    clients: dict[int, _Exchanges] = {}
    for place, (port, at_ns) in enumerate(expiries):
        if port not in ports:
            ports[port] = all_of_them.where(all_of_them.port == port)
        mine = ports[port]
        if not len(mine.port):
            yield {"response": _ENDED, "not_completed": 0}
            continue
        client = int(mine.client[0])
        if client not in clients:
            clients[client] = all_of_them.where(all_of_them.client == client)
        # Of one socket they are in order.
        until_ns = next((later for other, later in expiries[place + 1 :] if other == port), _FOREVER)
        lost = (mine.end_ns >= at_ns) & (mine.end_ns < until_ns) & ~mine.completed & ~mine.sent
        answer = _went_on(protocol, mine, clients[client], at_ns)
        yield {"client": client, "not_completed": int(lost.sum())} | answer


def _went_on(protocol: str, mine: _Exchanges, of_client: _Exchanges, at_ns: int) -> dict[str, Any]:
    """By its first exchange that completed later: on the same socket, or else on one that it opened."""
    if mine.sent.any():
        return {"response": _NOT_KNOWN}
    kept = mine.end_ns[mine.completed & (mine.end_ns >= at_ns)]
    if len(kept):
        response: NatResponse = "migrated" if protocol in _over_quic() else "continued"
        return {"response": response, "recovery_ns": int(kept.min()) - at_ns}
    later = of_client.where(of_client.end_ns >= at_ns)
    elsewhere = later.where(later.completed & (later.port != mine.port[0]))
    if not len(elsewhere.port):
        return {"response": "timed out" if (later.start_ns > at_ns).any() else _ENDED}
    first = int(elsewhere.end_ns.argmin())
    opening = later.where(later.opened & (later.port == elsewhere.port[first]))
    return {"response": _opened(protocol, opening), "recovery_ns": int(elsewhere.end_ns[first]) - at_ns}


def _opened(protocol: str, opening: _Exchanges) -> NatResponse:
    """How a connection was opened; none if it was there before."""
    if not len(opening.port):
        return "another connection"
    if opening.resumed.any():
        return "resumed"
    return "new handshake" if protocol in registered().names(lambda each: each.secure) else "new connection"


@cache
def _over_quic() -> frozenset[str]:
    return registered().names(lambda each: any(setting.name == _QUIC for setting in each.settings))
