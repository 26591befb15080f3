"""`[expect]` and `--fail-if`, as written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.errors import WirelabError
from wirelab.experiment.file.expect import expectation, read_failure, read_subject
from wirelab.units import UnitError

EXPERIMENT = """
title = "Expected"
[factors]
protocol = ["http1", "h2"]
"link.rtt" = ["2 ms", "20 ms"]
[workload]
kind = "request-response"
upload = "30 B"
exchanges = 40
[stop]
replicates = 2
[expect]
"""


def written(folder: Path, line: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(EXPERIMENT + line + "\n")
    return path


@pytest.mark.parametrize(
    ("bound", "value", "unit"),
    [("< 800 ms", 0.8, "s"), ("<= 2kB", 2000, "B"), ("> 1 Mbit/s", 1e6, "bit/s"), (">= 99 %", 0.99, "share"),
     ("< 5 mJ", 0.005, "J"), ("<3", 3, "")],
)  # fmt: skip
def test_a_bound_has_the_unit_of_an_estimate(bound: str, value: float, unit: str) -> None:
    found = expectation(read_subject("mean"), bound, "end-to-end-delay")
    assert (found.bound_in_unit, found.unit) == (pytest.approx(value), unit)
    assert bound.startswith(found.sign)


@pytest.mark.parametrize(
    ("text", "means"),
    [("p95", ("p95", None, {})), ("p50 of wire-bytes", ("median", "wire-bytes", {})),
     ("completed where link = a b and protocol=h2", ("completed", None, {"link": "a b", "protocol": "h2"}))],
)  # fmt: skip
def test_a_subject_has_a_statistic_and_may_have_a_metric_and_levels(
    text: str, means: tuple[str, str | None, dict[str, str]]
) -> None:
    found = read_subject(text)
    assert (found.statistic, found.metric, found.where) == means


def test_what_fails_is_the_opposite_of_what_is_expected() -> None:
    signs = [read_failure(f"p95 {sign} 3 ms", "load-time").sign for sign in ("<", "<=", ">", ">=")]
    assert signs == [">=", ">", "<=", "<"]
    assert read_failure("p95 > 3 ms", "load-time").metric == "load-time"
    assert (
        read_failure("mean of wire-bytes where protocol = h2 > 3 B", "x").subject
        == "mean of wire-bytes where protocol = h2"
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [("p95", "has no bound"), ("p95 > 3 foo", "is no quantity"), ("q95 > 3 ms", "not a statistic"),
     ("completed of wire-bytes > 3 %", "of no metric"), ("p95 where h2 > 3 ms", "no level of a factor"),
     ("> 3 ms", "does not say what is expected")],
)  # fmt: skip
def test_what_cannot_be_read_is_named(text: str, what: str) -> None:
    with pytest.raises(UnitError, match=what) as raised:
        read_failure(text, "end-to-end-delay")
    assert raised.value.hint


def test_a_file_has_expectations(tmp_path: Path) -> None:
    loaded = load_experiment(str(written(tmp_path, '"median where link.rtt = 2 ms" = "< 30 ms"')), [])
    [found] = loaded.expect
    assert (found.statistic, found.metric, found.where) == ("median", "end-to-end-delay", {"link.rtt": "2 ms"})


@pytest.mark.parametrize(
    ("line", "what"),
    [('p95 = "800 ms"', 'is not a bound ("800 ms")'), ('p95 = "< 800 ms"', "the p95 needs 100 values"),
     ('"mean where protocol = h3" = "< 8 ms"', "hint: known: http1, h2"),
     ('"mean where rtt = 2 ms" = "< 8 ms"', "hint: known: link, link.rtt, protocol"),
     ("p95 = 8", "should be a string")],
)  # fmt: skip
def test_an_expectation_that_cannot_be_decided_is_refused_at_its_line(tmp_path: Path, line: str, what: str) -> None:
    with pytest.raises(WirelabError) as raised:
        load_experiment(str(written(tmp_path, line)), [])
    assert what in str(raised.value)
    assert "mine.toml:13" in str(raised.value)


def test_a_switch_is_written_as_in_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, '"mean where protocol.nagle = true" = "< 8 ms"')
    file.write_text(file.read_text().replace('"link.rtt" = ["2 ms", "20 ms"]', '"protocol.nagle" = [true, false]'))
    assert load_experiment(str(file), []).expect


def test_levels_are_those_of_one_scenario(tmp_path: Path) -> None:
    both = '"mean where protocol = h2 and link.rtt = 2 ms" = "< 8 ms"'
    assert load_experiment(str(written(tmp_path, both)), []).expect
    file = written(tmp_path, both)
    file.write_text(file.read_text().replace('"2 ms", "20 ms"', '"20 ms"') + "[links.x]\n")
    with pytest.raises(WirelabError, match=r"link\.rtt = 2 ms"):
        load_experiment(str(file), [])
