import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import wirelab
from tests.snapshots import assert_golden
from wirelab.cli import VERBS, main
from wirelab.errors import RunError

ROOT = Path(__file__).parents[3]
HEAVY = {"numpy", "scipy", "polars", "pydantic", "altair", "rich", "jinja2", "vl_convert"}


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, list(arguments), prog_name="wirelab", terminal_width=100)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["rnu"], []])
def test_help_and_errors_import_only_click(arguments: list[str]) -> None:
    script = (
        "import sys\nfrom wirelab.cli import main\n"
        f"try: main({arguments!r}, prog_name='wirelab')\nexcept SystemExit: pass\n"
        f"print(sorted(set(sys.modules) & {HEAVY!r}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT / "python", check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"


def test_help_matches_the_golden_file() -> None:
    parts = [f"$ wirelab --help\n{run('--help')[1]}"]
    parts += [f"$ wirelab {verb} --help\n{run(verb, '--help')[1]}" for verb in VERBS]
    assert_golden("help.txt", "\n".join(parts))


@pytest.mark.parametrize("verb", VERBS)
def test_the_summary_of_a_verb_is_the_same_in_both_helps(verb: str) -> None:
    command = main.get_command(main.make_context("wirelab", [verb], resilient_parsing=True), verb)
    assert command is not None
    assert command.get_short_help_str(200).rstrip(".") == VERBS[verb].summary.rstrip(".")


@pytest.mark.parametrize("verb", VERBS)
def test_the_example_of_a_verb_parses(verb: str) -> None:
    context = main.make_context("wirelab", [verb], resilient_parsing=True)
    command = main.get_command(context, verb)
    assert command is not None
    command.make_context(verb, shlex.split(VERBS[verb].example), parent=context)
    assert f"Example: wirelab {verb}" in run(verb, "--help")[1]


def test_an_unknown_verb_is_refused_with_the_nearest() -> None:
    assert run("rnu") == (2, "", "error: unknown verb 'rnu'\nhint: did you mean 'run'?\n")


def test_an_unknown_option_is_refused_with_the_help_command() -> None:
    code, out, err = run("plan", "quickstart", "--budge", "3")
    assert (code, out) == (2, "")
    assert err == "error: no such option '--budge'. Did you mean '--budget'?\nhint: wirelab plan --help\n"


def test_a_missing_argument_is_refused() -> None:
    assert run("plan") == (2, "", "error: missing argument 'FILE'\nhint: wirelab plan --help\n")


def test_an_option_without_its_value_is_refused_with_the_help_command() -> None:
    code, out, err = run("plan", "quickstart", "--budget")
    assert (code, out) == (2, "")
    assert err == "error: option '--budget' requires an argument\nhint: wirelab plan --help\n"


def test_no_arguments_print_the_help() -> None:
    code, out, err = run()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: wirelab")


def test_an_error_is_printed_once_on_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RunError("no agent", hint="build it")

    monkeypatch.setattr("wirelab.cli.check.load", fail)
    assert run("check", "quickstart") == (1, "", "error: no agent\nhint: build it\n")


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wirelab.cli.check.load", interrupt)
    assert run("check", "quickstart")[0] == 130


def test_the_version_is_printed() -> None:
    assert run("--version")[1].splitlines()[0] == f"wirelab {wirelab.__version__}"


def test_python_m_wirelab_runs_wirelab() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wirelab", "--version"], capture_output=True, text=True, cwd=ROOT / "python", check=True
    )
    assert done.stdout.splitlines()[0] == f"wirelab {wirelab.__version__}"


@pytest.mark.parametrize(
    ("words", "offered"),
    [("wirelab com", "compare"), ("wirelab run --capt", "--capture"), ("wirelab compare --marg", "--margin")],
)
def test_a_shell_can_complete_verbs_and_options(words: str, offered: str) -> None:
    asked = {"_WIRELAB_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    script = "from wirelab.cli import main; main(prog_name='wirelab')"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT / "python", check=True,
        env={**os.environ, **asked},
    )  # fmt: skip
    assert done.stdout.splitlines() == [f"plain,{offered}"]


def test_a_closed_pipe_prints_no_traceback() -> None:
    done = subprocess.run(
        f"{sys.executable} -m wirelab list | head -n 1",
        shell=True, executable="/bin/bash", capture_output=True, text=True, cwd=ROOT / "python", check=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("experiments\n", "")


def test_the_example_commands_of_help_can_be_planned_or_asked() -> None:
    lines = run("--help")[1].replace("\\\n", "").splitlines()
    planned = [line.partition("wirelab run ")[2].split() for line in lines if "wirelab run " in line]
    assert planned == [["quickstart"]]
    assert run("plan", *planned[0])[0] == 0
    asked = [line.partition("wirelab choose ")[2].split() for line in lines if "wirelab choose " in line]
    assert ["--link", "nb-iot-psm"] in asked
    assert run("describe", "link", "nb-iot-psm")[0] == 0
