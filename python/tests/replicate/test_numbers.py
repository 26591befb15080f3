"""Printed numbers and ours."""

from __future__ import annotations

from pathlib import Path

from tests.claims.grids import FILE
from tests.replicate.sources import claim, row, source
from tests.report.replication.records import PRINTED, record, scenario
from wirelab.claims.load import load
from wirelab.replicate.numbers import numbers


def test_each_printed_number_has_ours_where_it_was_run(tmp_path: Path) -> None:
    """The campaign was run at 2 ms alone; the fitted interpretation of 4 ms and the first levels were not run."""
    found = record(tmp_path)
    numbers = [
        (each["interpretation"], each["paper"], each["ours"]["point"], each["fitted"]) for each in found["numbers"]
    ]
    assert numbers == [("lan", 0.04, 0.048, False), ("lan", 0.03, 0.031, False)]
    assert found["units"] == {"end-to-end-delay": "s"}
    assert found["printed"] == 2


def test_numbers_are_those_of_the_file_that_combines_whatever_a_campaign_numbered_first(tmp_path: Path) -> None:
    """One campaign was judged before the first row was printed, and of equally large ones the earlier gives ours."""
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE + PRINTED)
    judged = claim("C1", [row("confirmed", rtt="2 ms")])
    one, other = (
        source(judged, scenarios=[scenario(protocol, mean)], published_numbers=known)
        for protocol, mean, known in (
            ("h3", 0.031, [{"metric": "end-to-end-delay", "levels": {"protocol": "h3", "link": "lossy"},
                            "statistic": "mean", "value": 0.03}]),
            ("h2", 0.048, []),
        )
    )  # fmt: skip
    found, _ = numbers(load(path), [one, other])
    assert [(each["paper"], each["ours"]["point"], each["campaign"]) for each in found] == [
        (0.04, 0.048, 1), (0.03, 0.031, 0),
    ]  # fmt: skip
