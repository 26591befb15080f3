"""Levels of choices that experiments take, or none does."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirelab.claims.interpretations import ChoiceTable
from wirelab.claims.model import ClaimsFile
from wirelab.claims.settable import refusals, unknown_levels
from wirelab.experiment.file.source import Source, read_source, source_of_text


def _file(tables: list[ChoiceTable], **grid: list[str]) -> ClaimsFile:
    metrics = {"delay": ["end-to-end-delay", "response-time"]}
    return ClaimsFile.model_construct(choice=tables, metrics=metrics, grid=grid, choices={})


def _said(experiments: list[Source], **choices: list[str]) -> list[str]:
    """What is said of these choices, whose names have `__` for a point."""
    tables = [
        ChoiceTable(path=name.replace("__", ".").replace("_", "-"), title="", levels=levels)
        for name, levels in choices.items()
    ]
    file = _file(tables)
    return [what for _, what, _ in unknown_levels(file, experiments)]


def _experiment(text: str) -> Source:
    return source_of_text(f'title = "mine"\n[factors]\nprotocol = ["coap"]\n{text}', "mine", Path())


def test_levels_that_an_experiment_takes_and_meanings_of_metrics_are_no_mistake() -> None:
    taken = {"link__rtt": ["2 ms", "4 ms"], "workload__connection": ["new", "persistent"]}
    assert _said([read_source("quickstart")], **taken, delay=["end-to-end-delay", "response-time"]) == []


@pytest.mark.parametrize(
    ("path", "levels", "what"),
    [
        ("link__rtt", ["2 ms", "banana"], 'link.rtt: is not a duration ("banana")'),
        ("link__jiter", ["none", "normal 1 ms"], "link.jiter: link has no key 'jiter'"),
        ("workload__connection", ["new", "kept"], 'workload.connection: is not a connection policy ("kept")'),
    ],
)
def test_a_path_or_a_level_that_no_experiment_has_is_named(path: str, levels: list[str], what: str) -> None:
    assert _said([read_source("quickstart")], **{path: levels}) == [what]


def test_one_experiment_that_takes_a_choice_is_enough() -> None:
    without, having = _experiment(""), _experiment('[links.far]\nrtt = "1 s"\n')
    levels = ["1 s", "2 s"]
    [said] = _said([without], links__far__rtt=levels)
    assert said.startswith("links.far.rtt: ")
    assert _said([without, having], links__far__rtt=levels) == _said([having, without], links__far__rtt=levels) == []


def test_the_key_is_that_which_is_wrong() -> None:
    def key(path: str, *levels: str) -> list[object]:
        table = ChoiceTable(path=path, title="", levels=[*levels])
        file = _file([table])
        return [at[-1] for at, _, _ in unknown_levels(file, [read_source("quickstart")])]

    assert key("link.rtt", "2 ms", "banana") == ["levels"]
    assert key("link.rrt", "2 ms", "4 ms") == ["path"]


def test_a_factor_is_asked_as_a_choice_is() -> None:
    said = unknown_levels(_file([], link=["lossless", "losy"]), [read_source("quickstart")])
    assert [(at, what) for at, what, _ in said] == [(("grid", "link"), 'link: unknown link ("losy")')]


def test_without_an_experiment_nothing_is_refused() -> None:
    assert _said([], link__rtt=["2 ms", "banana"]) == []


def test_what_is_not_set_and_tables_are_not_asked() -> None:
    assert _said([read_source("quickstart")], link__jitter=["unset", '{"distribution": "table"}']) == []


def test_a_refusal_has_its_hint() -> None:
    [(path, (what, hint))] = refusals(read_source("quickstart"), {"link.jiter": "none", "link.rtt": "2 ms"})
    assert (path, what, hint) == ("link.jiter", "link has no key 'jiter'", "did you mean 'jitter'?")
