"""The link's columns."""

from wirelab.metrics.link import lateness_quantile


def test_a_quantile_is_the_upper_edge_of_its_bucket_over_both_directions() -> None:
    up = {"upper_ns": [10, 20, 30], "packets": [50, 0, 0], "max_ns": 9}
    down = {"upper_ns": [10, 20, 30], "packets": [0, 49, 1], "max_ns": 25}
    assert lateness_quantile([up, down], 0.5) == 10
    assert lateness_quantile([up, down], 0.99) == 20
    assert lateness_quantile([up, down], 1.0) == 25


def test_there_is_no_quantile_of_no_packets() -> None:
    assert lateness_quantile([{"upper_ns": [10], "packets": [0], "max_ns": 0}], 0.5) is None
    assert lateness_quantile([], 0.5) is None
