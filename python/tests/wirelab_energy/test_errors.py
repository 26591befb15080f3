import pytest

from wirelab_energy.errors import Where, WirelabError, did_you_mean, nearest


def test_an_error_has_place_message_and_hint() -> None:
    error = WirelabError("is negative (-1)", Where("a.toml", 3, 7, "links.x.rtt"), hint="such as 20 ms")
    assert str(error) == "a.toml:3:7: links.x.rtt: is negative (-1)\nhint: such as 20 ms"


def test_an_error_without_a_place_begins_with_error() -> None:
    assert str(WirelabError("no lanes")) == "error: no lanes"


def test_the_nearest_word_is_offered() -> None:
    assert did_you_mean("jiter", ["jitter", *"abcdefghij"]) == "did you mean 'jitter'?"


def test_a_short_list_is_named_completely_after_the_nearest() -> None:
    assert did_you_mean("htpp1", ["http1", "h2"]) == "did you mean 'http1'? (known: h2, http1)"


def test_without_a_near_word_all_are_named() -> None:
    assert did_you_mean("zzz", ["jitter", "rtt"]) == "known: jitter, rtt"


def test_words_with_commas_are_quoted() -> None:
    assert did_you_mean("zzz", ["h2, wire", "h3"]) == "known: 'h2, wire', 'h3'"


def test_all_names_that_contain_the_word_are_offered() -> None:
    links = ["wifi-n", "clean", "wifi-poor", "geo-satellite"]
    assert did_you_mean("wifi", links) == "did you mean 'wifi-n' or 'wifi-poor'?"


def test_the_nearest_word_ignores_case() -> None:
    assert did_you_mean("RTT", ["rtt"]) == "did you mean 'rtt'?"


@pytest.mark.parametrize(
    ("word", "known"),
    [("clean", "plan"), ("starlink", "link"), ("author", "factors"), ("count", "corrupt"), ("lora", "upload"),
     ("show-packets", "lost-packets"), ("factor", "doctor"), ("on", "down"), ("1.1", "1.2")],
)  # fmt: skip
def test_no_word_is_offered_for_a_very_different_one(word: str, known: str) -> None:
    assert nearest(word, [known]) is None


@pytest.mark.parametrize(
    ("word", "known"),
    [("rrt", "rtt"), ("tsl", "tls"), ("wier", "wire"), ("los", "loss"), ("htpp1", "http1"), ("quikstart", "quickstart"),
     ("choise", "choices"), ("wifi", "wifi-poor"), ("satellite", "geo-satellite"), ("quick", "quickstart")],
)  # fmt: skip
def test_a_typo_and_a_part_of_a_word_are_near(word: str, known: str) -> None:
    assert nearest(word, [known, "something-else"]) == known


def test_another_name_of_a_known_word_comes_before_the_nearest() -> None:
    def meant(word: str, known: object) -> str | None:
        return "a bandwidth is a rate" if word == "bandwidth" else None

    assert did_you_mean("bandwidth", ["rate", "width"], meant) == "a bandwidth is a rate (known: rate, width)"
    assert did_you_mean("widht", ["rate", "width"], meant) == "did you mean 'width'? (known: rate, width)"
