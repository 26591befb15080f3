"""What is registered."""

from wirelab.metrics import described
from wirelab.metrics.registry import METRICS
from wirelab.schema.generated import generated


def test_names_and_columns_are_unique_and_every_metric_has_a_description() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    assert len({(metric.of, metric.column) for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert metric.about.endswith("."), metric.name
        assert metric.of in {"exchange", "trial"}


def test_a_column_carries_its_unit_once() -> None:
    columns = {metric.name: metric.column for metric in METRICS}
    assert columns["end-to-end-delay"] == "end_to_end_delay_ns"
    assert columns["wire-up-bytes"] == "wire_up_bytes"
    assert columns["goodput"] == "goodput_bps"
    assert columns["retransmissions"] == "retransmissions"


def test_the_shipped_metrics_file_matches_the_registry() -> None:
    assert generated(described.FILE) == described.of_registry(), "run: make generate"


def test_metrics_are_described_in_the_order_of_the_registry() -> None:
    assert [each.name for each in described.described()] == [metric.name for metric in METRICS]
