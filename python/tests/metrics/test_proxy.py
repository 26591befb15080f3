"""The proxy's part of an exchange."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from wirelab.metrics.proxy import METRICS, with_proxy


def exchanges(*instants: tuple[int, int]) -> pl.DataFrame:
    return pl.DataFrame(
        {"start_ns": [a for a, _ in instants], "end_ns": [b for _, b in instants], "outcome": "completed"},
        schema={"start_ns": pl.Int64, "end_ns": pl.Int64, "outcome": pl.String},
    )


def parts(folder: Path, own: pl.DataFrame, *proxy: tuple[int, int | None, int]) -> list[tuple[int | None, ...]]:
    (folder / "proxy").mkdir()
    names = ("start_ns", "request_start_ns", "end_ns")
    pl.DataFrame(proxy, schema=dict.fromkeys(names, pl.UInt64), orient="row").write_ipc(
        folder / "proxy" / "exchanges.arrow"
    )
    return with_proxy(own, folder).select(metric.value.alias(metric.column) for metric in METRICS).rows()


def test_each_exchange_has_the_time_of_its_request_at_the_proxy_and_at_the_origin(tmp_path: Path) -> None:
    own = exchanges((200, 300), (0, 100))
    assert parts(tmp_path, own, (10, 30, 90), (220, None, 230)) == [(10, None), (80, 60)]


def test_a_request_that_reached_the_proxy_twice_or_without_an_exchange_is_left_out(tmp_path: Path) -> None:
    own = exchanges((0, 100), (200, 300), (400, 500))
    asked = [(10, 20, 30), (40, 50, 60), (210, 220, 310), (410, 420, 430)]
    assert parts(tmp_path, own, *asked) == [(None, None), (None, None), (20, 10)]


def test_overlapping_exchanges_and_those_without_a_proxy_have_no_proxy_times(tmp_path: Path) -> None:
    assert parts(tmp_path, exchanges((0, 100), (50, 150)), (10, 20, 30)) == [(None, None)] * 2
    alone = with_proxy(exchanges((0, 100)), tmp_path / "elsewhere")
    assert alone.select(METRICS[0].value).to_series().to_list() == [None]
