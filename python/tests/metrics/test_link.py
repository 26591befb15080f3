"""The link's columns."""

from typing import Any

from wirelab.metrics.link import lateness_quantile, link_columns
from wirelab.schema import DropCause, LatenessHistogram, LinkReport


def test_a_quantile_is_the_upper_edge_of_its_bucket_over_both_directions() -> None:
    up = LatenessHistogram(upper_ns=(10, 20, 30), packets=(50, 0, 0), max_ns=9)
    down = LatenessHistogram(upper_ns=(10, 20, 30), packets=(0, 49, 1), max_ns=25)
    assert lateness_quantile([up, down], 0.5) == 10
    assert lateness_quantile([up, down], 0.99) == 20
    assert lateness_quantile([up, down], 1.0) == 25


def test_without_packets_there_is_no_quantile() -> None:
    assert lateness_quantile([LatenessHistogram(upper_ns=(10,), packets=(0,), max_ns=0)], 0.5) is None
    assert lateness_quantile([], 0.5) is None


def direction(**counts: Any) -> dict[str, Any]:
    empty = {"upper_ns": [], "packets": [], "max_ns": 0}
    return {
        "received": 9, "delivered": 1, "dropped": [], "held": 0, "received_bytes": 90, "delivered_bytes": 10,
        "lateness": empty,
    } | counts  # fmt: skip


def columns(up: dict[str, Any], down: dict[str, Any]) -> dict[str, Any]:
    report = {"directions": [up, down], "kernel_drops": 0, "oversized": 0, "clock_step": False}
    return link_columns(LinkReport.model_validate(report | {"left_out_of_captures": 5}))


def test_every_cause_of_a_drop_has_its_column() -> None:
    dropped = [{"cause": cause, "packets": number} for number, cause in enumerate(DropCause, 1)]
    found = columns(direction(dropped=dropped, duplicated=2), direction())
    names = ("lost", "queue_full", "aqm", "outage", "retries", "nat")
    assert [found[f"up_{name}"] for name in names] == [1, 2, 3, 4, 5, 6]
    assert len(names) == len(DropCause)
    assert (found["up_duplicated"], found["down_duplicated"]) == (2, 0)
    assert [found[f"down_{name}"] for name in names] == [0] * 6
    assert found["left_out_of_captures"] == 5
