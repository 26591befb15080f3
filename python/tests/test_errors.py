from wirelab.errors import CombinedError, RunError, Where, WirelabError, did_you_mean


def test_an_error_says_where_what_and_what_to_do() -> None:
    error = WirelabError("is negative (-1)", Where("a.toml", 3, 7, "links.x.rtt"), hint="such as 20 ms")
    assert str(error) == "a.toml:3:7: links.x.rtt: is negative (-1)\nhint: such as 20 ms"


def test_an_error_without_a_place_begins_with_error() -> None:
    assert str(WirelabError("no lanes")) == "error: no lanes"


def test_wrong_use_exits_with_2_and_failure_with_1() -> None:
    assert (WirelabError("").exit_code, RunError("").exit_code) == (2, 1)


def test_several_errors_are_told_one_after_another() -> None:
    assert str(CombinedError([WirelabError("a", "x"), WirelabError("b", "y", "c")])) == "x: a\ny: b\nhint: c"


def test_the_nearest_word_is_offered() -> None:
    assert did_you_mean("jiter", ["jitter", *"abcdefghij"]) == "did you mean 'jitter'?"


def test_few_words_are_all_named_beside_the_nearest() -> None:
    assert did_you_mean("http2", ["http1", "h2"]) == "did you mean 'http1'? (known: h2, http1)"


def test_without_a_near_word_all_are_named() -> None:
    assert did_you_mean("zzz", ["jitter", "rtt"]) == "known: jitter, rtt"


def test_words_with_commas_are_quoted() -> None:
    assert did_you_mean("zzz", ["h2, wire", "h3"]) == "known: 'h2, wire', 'h3'"


def test_case_is_no_difference_to_the_nearest_word() -> None:
    assert did_you_mean("RTT", ["rtt"]) == "did you mean 'rtt'?"
