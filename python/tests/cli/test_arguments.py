"""Options that several verbs share."""

import click
import pytest
from click.testing import CliRunner

from wirelab.cli.arguments import DurationType, budget_option, load
from wirelab.errors import WirelabError


@pytest.mark.parametrize(("word", "nanoseconds"), [("2min", 120 * 10**9), ("1.5 s", 15 * 10**8), ("1 ns", 1)])
def test_a_duration_is_read_with_its_unit(word: str, nanoseconds: int) -> None:
    assert DurationType().convert(word, None, None) == nanoseconds


def test_a_default_in_nanoseconds_stays_as_it_is() -> None:
    assert DurationType().convert(7, None, None) == 7


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("2", '2 has no unit (write "2 ms"'),
        ("soon", "soon is not a duration"),
        ("0 s", "must be more than 0"),
        ("-1 s", "-1 s "),
        ("1e99 s", "1e99 s "),
    ],
)
def test_what_is_no_duration_is_a_usage_error_with_its_value(word: str, says: str) -> None:
    @click.command()
    @budget_option
    def command(budget: int | None) -> None:
        raise AssertionError(budget)

    result = CliRunner().invoke(command, ["--budget", word])
    assert result.exit_code == 2
    assert f"Invalid value for '--budget': {says}" in " ".join(result.output.split())


def test_a_metric_that_nobody_defined_is_refused_where_it_stands() -> None:
    with pytest.raises(WirelabError) as caught:
        load("milosevic2021", ["metric=latenzy"])
    assert 'unknown metric ("latenzy")' in caught.value.what
    assert caught.value.hint is not None
