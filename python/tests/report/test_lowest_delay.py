"""Maps of which protocol has the lowest delay, over two factors of a grid."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.report.campaigns import read, store, write
from wirelab import report
from wirelab.report.blocks import Cell, Figure, Group, Section
from wirelab.report.campaign import load
from wirelab.report.figures.tiles import Tile, tiles
from wirelab.report.sections import lowest_delay

UPLOADS = ("30 B", "3.5 kB", "1 MB")
Change = Callable[[dict[str, Any]], None]


def grid(folder: Path, **more: Any) -> Path:
    """Two links and three uploads: https1 takes two round trips, h3 three, h2 four."""
    return write(folder, protocols=("https1", "h2", "h3"), uploads=UPLOADS, **more)


def section(folder: Path) -> Section:
    found = lowest_delay.section(load(folder, folder))
    assert found is not None
    return found


def figures(found: Section) -> list[Figure]:
    blocks = [inner for block in found.blocks for inner in (block.blocks if isinstance(block, Group) else [block])]
    return [block for block in blocks if isinstance(block, Figure)]


def rows(folder: Path) -> dict[tuple[str, str], list[Cell]]:
    """Cells of the only map, by the levels down and across."""
    [figure] = figures(section(folder))
    return {(row[0].text, row[1].text): list(row[2:]) for row in figure.tables[0].rows}


def change_comparisons(folder: Path, change: Change, *protocols: str) -> None:
    """Change those of the clean link between these protocols."""
    estimates = read(folder, "estimates.json")
    for comparison in estimates["comparisons"]:
        ends = comparison["a"], comparison["b"]
        if all("-clean-" in end for end in ends) and {end.split("-")[0] for end in ends} == set(protocols):
            change(comparison)
    store(folder, "estimates.json", estimates)


def test_each_cell_names_the_lowest_delay_and_the_ratio_to_the_next(tmp_path: Path) -> None:
    found = rows(grid(tmp_path))
    assert list(found) == [(link, upload) for upload in UPLOADS for link in ("clean", "lossy")]
    first, median, completed, after, ratio, grade, compared = found["clean", "30 B"]
    assert (first.text, after.text, compared.text) == ("https1", "h3", "from all")
    assert (median.text.split()[0], completed.text, grade.text) == ("40.0", "40/40", "good")
    # 60 ms over 40 ms; the comparison that was made is of h3 to https1 or the other way round.
    assert ratio.text.split()[0] == "1.50"


def test_a_cell_is_coloured_by_the_lowest_delay_and_lists_all_medians(tmp_path: Path) -> None:
    [figure] = figures(section(grid(tmp_path)))
    assert figure.svg.count('fill="var(--s3)"') == 6
    assert 'data-tip="clean, 30 B: https1 40.0 ms [39.2, 40.8]; h3 60.0 ms' in figure.svg
    assert re.findall(r">(1\.\d+ ×)</text>", figure.svg) == ["1.50 ×", "1.44 ×"] * 3


def no_evidence(comparison: dict[str, Any]) -> None:
    comparison["p_adjusted"] = 0.2


def wide(comparison: dict[str, Any]) -> None:
    comparison["ratio_of_medians"] |= {"low": 0.5, "high": 2.0}


def no_ratio(comparison: dict[str, Any]) -> None:
    comparison["ratio_of_medians"] = None


def invalid(comparison: dict[str, Any]) -> None:
    comparison["link"] = {"flag": "unusable", "why": "the endpoints waited for a CPU"}


def test_a_cell_is_not_coloured_if_a_comparison_is_unusable(tmp_path: Path) -> None:
    folder = grid(tmp_path)
    change_comparisons(folder, invalid, "https1", "h2")
    [figure] = figures(section(folder))
    assert figure.svg.count('fill="var(--s3)"') == figure.svg.count(">unusable</text>") == 3
    assert 'data-tip="clean, 30 B: https1 40.0 ms' in figure.svg
    assert figure.svg.count("quality is unusable") >= 3


def test_a_cell_is_not_coloured_if_no_other_has_a_value(tmp_path: Path) -> None:
    folder = grid(tmp_path)
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        if scenario["key"].startswith(("h2-clean", "h3-clean")):
            scenario["metrics"].pop("end-to-end-delay")
    store(folder, "estimates.json", estimates)
    [figure] = figures(section(folder))
    assert figure.svg.count('fill="var(--s3)"') == figure.svg.count(">alone</text>") == 3


@pytest.mark.parametrize("change", [wide, no_ratio])
def test_without_a_significant_difference_neither_wins(tmp_path: Path, change: Change) -> None:
    folder = grid(tmp_path)
    change_comparisons(folder, change, "https1", "h3")
    found = rows(folder)
    assert {found["clean", upload][-1].text for upload in UPLOADS} == {"not from h3"}
    assert {found["lossy", upload][-1].text for upload in UPLOADS} == {"from all"}
    [figure] = figures(section(folder))
    assert figure.svg.count(">https1, h3</text>") == figure.svg.count(f">{lowest_delay.OPEN}</text>") == 3
    assert figure.svg.count('fill="var(--s3)"') == 3


def test_a_median_above_the_timeout_is_slower_by_the_test_only(tmp_path: Path) -> None:
    folder = grid(tmp_path)
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        if scenario["key"].startswith("h3-clean"):
            scenario["metrics"]["end-to-end-delay"]["median"] |= {"point": None, "low": None, "high": None}
            scenario["denominators"] |= {"completed": 10, "timed-out": 30}
    store(folder, "estimates.json", estimates)
    change_comparisons(folder, no_ratio, "https1", "h3")
    found = rows(folder)
    first, *_, after, ratio, _, compared = found["clean", "30 B"]
    assert (first.text, after.text, compared.text) == ("https1", "h2", "from all")
    assert ratio.text.split()[0] == "2.00"
    change_comparisons(folder, no_evidence, "https1", "h3")
    assert rows(folder)["clean", "30 B"][-1].text == "not from h3"


@pytest.mark.parametrize(("point", "evidence", "compared"), [(1.5, 0.01, "from all"), (1.5, 0.2, "not from h3")])
def test_a_ratio_without_an_interval_counts_if_the_test_shows_a_shift(
    tmp_path: Path, point: float, evidence: float, compared: str
) -> None:
    folder = grid(tmp_path)

    def without_interval(comparison: dict[str, Any]) -> None:
        times = point if comparison["a"].startswith("h3") else 1 / point
        comparison["ratio_of_medians"] |= {"point": times, "low": None, "high": None}
        comparison["p_adjusted"] = evidence

    change_comparisons(folder, without_interval, "https1", "h3")
    assert rows(folder)["clean", "30 B"][-1].text == compared


def test_a_cell_says_how_many_may_have_the_lowest_delay(tmp_path: Path) -> None:
    folder = grid(tmp_path)
    change_comparisons(folder, wide, "https1", "h3")
    change_comparisons(folder, wide, "https1", "h2")
    [figure] = figures(section(folder))
    assert figure.svg.count(">3 of 3</text>") == 3
    assert rows(folder)["clean", "30 B"][-1].text == "not from h3, h2"


def test_an_echo_reference_does_not_compete(tmp_path: Path) -> None:
    folder = write(tmp_path, protocols=("raw-tcp", "https1", "h2"), uploads=UPLOADS)
    assert {row[0].text for row in rows(folder).values()} == {"https1"}


def test_a_long_level_takes_more_lines_above_a_narrow_column() -> None:
    levels = [f"{number} images of 100 kB" for number in range(8)]
    svg = tiles("t", "label", [Tile(level, "down", None, "none", "in time", "tip") for level in levels])
    assert "0 images</tspan>" in svg
    assert "of 100 kB</tspan>" in svg


def test_if_no_protocol_completed_half_none_is_named(tmp_path: Path) -> None:
    folder = grid(tmp_path)
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        if "-clean-30B" in scenario["key"]:
            scenario["metrics"]["end-to-end-delay"]["median"] |= {"point": None, "low": None, "high": None}
    store(folder, "estimates.json", estimates)
    assert {cell.reason for cell in rows(folder)["clean", "30 B"]} == {lowest_delay.NONE}
    [figure] = figures(section(folder))
    assert figure.svg.count('fill="var(--s3)"') == 5


def test_other_factors_have_a_map_each_and_choices_are_folded(tmp_path: Path) -> None:
    folder = grid(tmp_path, factors={"link.rtt": ("20 ms", "2 ms")})
    assert [figure.title for figure in figures(section(folder))] == ["link.rtt 20 ms", "link.rtt 2 ms"]
    assert not [block for block in section(folder).blocks if isinstance(block, Group)]
    plan = read(folder, "plan.json")
    plan["experiment"]["choices"] = {"link.rtt": ["2 ms"]}
    store(folder, "plan.json", plan)
    [behind] = [block for block in section(folder).blocks if isinstance(block, Group)]
    assert behind.summary == "link.rtt 2 ms"


@pytest.mark.parametrize(
    "axes", [{"links": ("clean",), "uploads": UPLOADS}, {"protocols": ("https1",), "uploads": UPLOADS}, {}]
)
def test_without_two_factors_or_two_protocols_there_is_no_map(tmp_path: Path, axes: dict[str, Any]) -> None:
    folder = write(tmp_path, **axes)
    assert lowest_delay.section(load(folder, folder)) is None


def test_a_metric_that_is_not_a_time_has_no_map(tmp_path: Path) -> None:
    folder = grid(tmp_path)
    estimates = read(folder, "estimates.json")
    estimates["metric"] = "wire-up-bytes"
    store(folder, "estimates.json", estimates)
    assert lowest_delay.section(load(folder, folder)) is None


def test_the_page_has_the_map(tmp_path: Path) -> None:
    folder = grid(tmp_path)
    assert report.write(folder).read_text(encoding="utf-8").count('id="lowest-delay"') == 1


def test_encrypted_and_unencrypted_protocols_have_maps_of_their_own(tmp_path: Path) -> None:
    found = section(write(tmp_path, protocols=("http1", "coap", "https1", "h2"), uploads=UPLOADS))
    assert [figure.title for figure in figures(found)] == ["encrypted", "unencrypted"]
    for figure, first in zip(figures(found), ("https1", "http1"), strict=True):
        assert {row[2].text for row in figure.tables[0].rows} == {first}


def test_one_encrypted_and_one_unencrypted_protocol_have_no_map(tmp_path: Path) -> None:
    folder = write(tmp_path, protocols=("http1", "h2"), uploads=UPLOADS)
    assert lowest_delay.section(load(folder, folder)) is None
