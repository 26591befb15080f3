"""Lessons as they ship: whole, and true to the experiments that they run."""

from __future__ import annotations

import shlex

import pytest
from click import UsageError

from wirelab.cli import main
from wirelab.errors import WirelabError
from wirelab.experiment.library import experiment_names
from wirelab.lessons.lesson import find_lesson, lesson_names
from wirelab.report.lesson.charts import ENUMERATED, KINDS

FIVE = {"delivery", "head-of-line", "nat-forgets", "packet-price", "tls-round-trips"}


def test_there_are_five() -> None:
    assert set(lesson_names()) == FIVE


@pytest.mark.parametrize("name", lesson_names())
def test_a_lesson_has_an_idea_two_charts_packets_a_question_and_a_lab_sheet(name: str) -> None:
    lesson = find_lesson(name)
    assert lesson.experiment in experiment_names()
    assert lesson.idea and lesson.question and lesson.answer
    assert len(lesson.charts) == 2
    assert {chart.kind for chart in lesson.charts} <= (ENUMERATED.keys() if lesson.verb == "exact" else KINDS.keys())
    for chart in lesson.charts:
        assert all(lesson.case(label) for label in chart.cases)
    assert lesson.verb == "exact" or lesson.case(lesson.packets.case)
    assert len(lesson.tasks) >= 3
    assert all(task.do and task.key for task in lesson.tasks)


@pytest.mark.parametrize("name", lesson_names())
def test_commands_of_the_lab_sheet_are_ones_that_wirelab_takes(name: str) -> None:
    for task in find_lesson(name).tasks:
        if not task.command:
            continue
        program, verb, *arguments = shlex.split(task.command)
        assert program == "wirelab"
        command = main.get_command(main.make_context("wirelab", [verb], resilient_parsing=True), verb)
        assert command is not None, verb
        try:
            command.make_context(verb, arguments)
        except UsageError as error:
            pytest.fail(f"{task.command}: {error.format_message()}")


def test_an_unknown_name_is_one_error_with_a_hint() -> None:
    with pytest.raises(WirelabError, match="no lesson 'head-of-lin'") as refused:
        find_lesson("head-of-lin")
    assert "did you mean 'head-of-line'?" in (refused.value.hint or "")
