"""Where figures stand."""

from wirelab.report.export.venues import VENUES


def test_a_column_is_narrower_than_the_page_and_text_can_be_read() -> None:
    for venue in VENUES.values():
        assert venue.column_pt < venue.text_pt
        assert venue.least_pt >= 7
