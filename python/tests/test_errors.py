from wirelab.errors import CombinedError, RunError, WirelabError, did_you_mean, offer


def test_wrong_use_exits_with_2_and_failure_with_1() -> None:
    assert (WirelabError("").exit_code, RunError("").exit_code) == (2, 1)


def test_several_errors_are_reported_one_after_another() -> None:
    assert str(CombinedError([WirelabError("a", "x"), WirelabError("b", "y", "c")])) == "x: a\ny: b\nhint: c"


def test_a_hint_offers_what_is_also_called_so_before_the_nearest_word() -> None:
    assert did_you_mean("http2", ["h2", "h2c"]) == "did you mean 'h2' or 'h2c'?"
    assert offer("bandwidth", ["rate", "width"]) == "did you mean 'rate'?"
    assert offer("zzz", ["rate"]) is None


def test_many_names_are_left_to_the_command_that_lists_them() -> None:
    many = [f"name-{number}" for number in range(11)]
    assert did_you_mean("zzz", many, "wirelab list links") == "wirelab list links names all 11"
    assert did_you_mean("zzz", many[:2], "wirelab list links") == "known: name-0, name-1"
    assert did_you_mean("nmae-7", many, "wirelab list links") == "did you mean 'name-7'?"
