"""One direction's packets as arrays, in order of arrival at the link."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from wirelab.schema.probe import ProbeKind

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Packets:
    """`departure` is what the link said. `quiet_ns`: since the packet before, of either direction, which arrived or
    left; the largest number before the first. `flow` is the port of the client's side, 0 without one.
    """

    sequence: NDArray[np.int64]
    size: NDArray[np.int64]
    arrival: NDArray[np.int64]
    departure: NDArray[np.int64]
    lateness: NDArray[np.int64]
    fate: NDArray[np.str_]
    copy: NDArray[np.bool_]
    corrupted: NDArray[np.bool_]
    flow: NDArray[np.int64]
    quiet_ns: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sequence)

    def only(self, chosen: NDArray[np.bool_]) -> Self:
        """The selected packets."""
        return type(self)(**{field.name: getattr(self, field.name)[chosen] for field in fields(self)})

    def probes(self, kind: ProbeKind, *, uplink: bool) -> Self:
        """The packets of one kind."""
        return self.only(self.flow == kind.port(uplink=uplink))

    @property
    def delivered(self) -> NDArray[np.bool_]:
        return np.asarray(self.fate == "delivered")

    @property
    def delay_s(self) -> NDArray[np.float64]:
        """From arrival until the packet was handed over."""
        return np.asarray((self.departure + self.lateness - self.arrival) / 1e9)

    @property
    def configured_delay_s(self) -> NDArray[np.float64]:
        """From arrival until the link said that the packet leaves."""
        return np.asarray((self.departure - self.arrival) / 1e9)

    @property
    def lateness_s(self) -> NDArray[np.float64]:
        return np.asarray(self.lateness / 1e9)


def packets_of(rows: pl.DataFrame, *, uplink: bool) -> Packets:
    """Those of one direction of `wirelab.metrics.probes.Probes.packets`."""
    quiet = _quiet_ns(rows)
    mine = rows["uplink"].to_numpy() == uplink
    column = {name: rows[name].to_numpy()[mine] for name in rows.columns if name not in {"fate", "client_port"}}
    return Packets(
        sequence=column["sequence"], size=column["size_bytes"], arrival=column["arrival_ns"],
        departure=column["departure_ns"], lateness=column["lateness_ns"],
        fate=np.asarray(rows["fate"].to_list(), dtype=str)[mine], copy=column["copy"], corrupted=column["corrupted"],
        flow=rows["client_port"].fill_null(0).to_numpy()[mine], quiet_ns=quiet[mine],
    )  # fmt: skip


def _quiet_ns(rows: pl.DataFrame) -> NDArray[np.int64]:
    arrival = rows["arrival_ns"].to_numpy()
    latest = np.concatenate(([np.iinfo(np.int64).min // 2], arrival[:-1]))
    return np.asarray(arrival - latest)
