from wirelab.cli.describe.citations import Citations, split_mark


def test_equal_sources_share_a_number() -> None:
    cited = Citations({"rate": "A paper", "delay": "Another", "loss": "A paper"})
    assert [cited[path] for path in ("rate", "delay", "loss")] == [("[1]", ""), ("[2]", ""), ("[1]", "")]
    assert cited.texts() == [("[1]", "A paper"), ("[2]", "Another")]


def test_the_same_is_the_last_source_and_of_its_kind() -> None:
    cited = Citations({"rate": "second-hand: a page", "delay": "the same", "loss": "second-hand: the same"})
    assert {cited[path] for path in ("rate", "delay", "loss")} == {("[1]", "second-hand")}


def test_the_same_with_a_place_has_a_number_of_its_own_that_names_the_first() -> None:
    cited = Citations({"rate": "A table", "up": "the same, row 1", "down": "the same, row 2"})
    assert cited["down"] == ("[3]", "")
    assert cited.texts() == [("[1]", "A table"), ("[2]", "as [1], row 1"), ("[3]", "as [1], row 2")]


def test_words_that_only_begin_alike_are_a_source_of_their_own() -> None:
    assert Citations({"rate": "A note", "delay": "the same note, page 2"}).texts()[1] == (
        "[2]",
        "the same note, page 2",
    )


def test_what_is_assumed_or_second_hand_says_so() -> None:
    assert split_mark("assumed: one product") == ("assumed", "one product")
    assert split_mark("second-hand: IEEE 802.11: a table") == ("second-hand", "IEEE 802.11: a table")
    assert split_mark("RFC 4944: section 4") == ("", "RFC 4944: section 4")


def test_a_value_without_a_source_says_so() -> None:
    assert Citations({"rate": "A paper"})["delay"] == ("", "no source")
