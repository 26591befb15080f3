"""The chart of the answer."""

from __future__ import annotations

from pathlib import Path

from tests.report.campaigns import judge, read, store, write
from wirelab.report.campaign import load
from wirelab.report.first_chart import MOST_MARKS, FirstChart, first_chart


def chart(folder: Path) -> FirstChart:
    found = first_chart(load(folder, folder))
    assert found is not None
    return found


def test_a_small_campaign_is_shown_whole(tmp_path: Path) -> None:
    found = chart(write(tmp_path))
    assert (found.section, found.whole) == ("glance", True)
    assert len(found.figure.tables[0].rows) == 4
    assert "All scenarios" not in found.figure.caption
    assert found.legend is not None
    assert [(entry.text, entry.note, entry.key) for entry in found.legend.entries] == [
        ("http1", "", "2"),
        ("h2", "", "4"),
    ]


def test_of_a_large_campaign_the_first_rows_are_shown_and_it_says_so(tmp_path: Path) -> None:
    found = chart(write(tmp_path, protocols=("http1", "h2", "h3"), uploads=("30 B", "1 kB", "3.5 kB", "1 MB")))
    assert not found.whole
    assert found.figure.caption.endswith("The first 4 of 8 rows; all are under Charts.")
    assert len(found.figure.tables[0].rows) == 12 <= MOST_MARKS


def test_a_row_with_more_protocols_than_fit_is_shown_all_the_same(tmp_path: Path) -> None:
    found = chart(write(tmp_path, protocols=tuple(f"h2-{i}" for i in range(MOST_MARKS + 2)), links=("clean", "lossy")))
    assert len(found.figure.tables[0].rows) == MOST_MARKS + 2


def test_a_paper_that_prints_magnitudes_has_them_next_to_ours(tmp_path: Path) -> None:
    folder = judge(write(tmp_path))
    assert chart(folder).section == "glance", "one count is too few"
    verdicts = read(folder, "verdicts.json")
    ours = {"point": 1.2, "low": 1.1, "high": 1.3, "level": 0.95, "n": 80, "method": "made up"}
    for claim, verdict in zip(verdicts["claims"], ("confirmed", "contradicted", "inconclusive"), strict=True):
        claim |= {"form": "ratio", "paper": 1.5, "ours": ours, "verdict": verdict}
    store(folder, "verdicts.json", verdicts)
    found = chart(folder)
    assert (found.section, found.whole) == ("claims", False)
    assert "M1: paper 1.50, ours 1.20 [1.10, 1.30]; confirmed" in found.figure.svg
    assert [[cell.text for cell in row] for row in found.figure.tables[0].rows] == [
        ["M1", "confirmed", "1.5", "1.20 [1.10, 1.30]"],
        ["M2", "contradicted", "1.5", "1.20 [1.10, 1.30]"],
        ["M3", "inconclusive", "1.5", "1.20 [1.10, 1.30]"],
    ]
    assert found.legend is not None
    assert [entry.text for entry in found.legend.entries] == ["confirmed", "contradicted", "inconclusive"]


def test_numbers_that_nothing_can_be_divided_by_are_left_out(tmp_path: Path) -> None:
    folder = judge(write(tmp_path))
    verdicts = read(folder, "verdicts.json")
    ours = {"point": 1.2, "low": None, "high": None, "level": 0.95, "n": 80, "method": "made up"}
    verdicts["claims"] = [
        {**verdicts["claims"][2], "id": f"M{i}", "form": form, "paper": paper, "ours": value}
        for i, (form, paper, value) in enumerate(
            [("ratio", 2, ours), ("ratio", "twice", ours), ("ratio", 0, ours), ("order", 2, ours), ("ratio", 2, None),
             ("quotient", 2, ours), ("count", 2, ours)]
        )
    ]  # fmt: skip
    store(folder, "verdicts.json", verdicts)
    assert [row[0].text for row in chart(folder).figure.tables[0].rows] == ["M0", "M5", "M6"]
