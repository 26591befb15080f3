"""`scripts/in-ci`, with a program in place of Wirelab that writes down how it was called."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE = """#!/bin/sh
echo "$*" >>"$CALLS"
[ "$1" = test ] || exit 0
[ "${WRITES:-yes}" = no ] || echo "a table" >wirelab.md
exit "${FAILS_WITH:-0}"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "wirelab"
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "in-ci", folder / "scripts" / "in-ci")
    (folder / "wirelab").write_text(FAKE)
    (folder / "wirelab").chmod(0o755)
    return folder


def called(checkout: Path, *arguments: str, **environment: str) -> tuple[int, list[str]]:
    calls = checkout / "calls"
    calls.unlink(missing_ok=True)
    work = checkout.parent / "work"
    work.mkdir(exist_ok=True)
    done = subprocess.run(
        [checkout / "scripts" / "in-ci", *arguments], cwd=work, check=False, timeout=60,
        env={**os.environ, "CALLS": str(calls), "GITHUB_STEP_SUMMARY": "", **environment},
    )  # fmt: skip
    return done.returncode, calls.read_text().splitlines()


def test_the_kernel_is_built_and_the_results_are_left_for_the_job(checkout: Path) -> None:
    code, calls = called(checkout, "app {port}", "--get", "/")
    assert code == 0
    assert calls == [
        "clock build",
        "test app {port} --get / --clock virtual --markdown wirelab.md --junit wirelab.xml",
    ]


@pytest.mark.parametrize("words", [("--clock", "live"), ("--clock=live",)])
def test_another_clock_needs_no_kernel(checkout: Path, words: tuple[str, ...]) -> None:
    _, calls = called(checkout, "app {port}", *words)
    assert calls == [f"test app {{port}} {' '.join(words)} --markdown wirelab.md --junit wirelab.xml"]


@pytest.mark.parametrize("code", [1, 2, 4, 5, 6])
def test_the_exit_code_is_that_of_the_test_and_the_summary_has_the_table(checkout: Path, code: int) -> None:
    summary = checkout / "summary.md"
    found, _ = called(checkout, "app {port}", FAILS_WITH=str(code), GITHUB_STEP_SUMMARY=str(summary))
    assert found == code
    assert summary.read_text() == "a table\n"


def test_an_earlier_table_is_not_taken_for_this_ones(checkout: Path) -> None:
    summary = checkout / "summary.md"
    called(checkout, "app {port}")
    called(checkout, "app {port}", WRITES="no", FAILS_WITH="2", GITHUB_STEP_SUMMARY=str(summary))
    assert not summary.exists()


def test_the_action_calls_the_script_and_names_what_it_takes() -> None:
    text = (ROOT / "action.yml").read_text()
    assert '"$GITHUB_ACTION_PATH/scripts/in-ci" "${words[@]}"' in text
    assert "eval" not in text, "what is passed is split as a shell does, and nothing of it runs"
    assert re.search(r"ARGUMENTS: \$\{\{ inputs\.arguments \}\}", text)
    [script] = re.findall(r"      run: \|\n((?:        .*\n)+)", text)
    assert "${{" not in script, "nothing of the workflow becomes part of the script"
    subprocess.run(["/bin/bash", "-n"], input=script, text=True, check=True, timeout=60)


@pytest.mark.parametrize("code", [0, 4])
def test_the_steps_script_runs_as_a_runner_runs_it(checkout: Path, code: int) -> None:
    """By bash with `-eo pipefail`, from a file, with the inputs in its environment."""
    [script] = re.findall(r"      run: \|\n((?:        .*\n)+)", (ROOT / "action.yml").read_text())
    step, output, calls = checkout / "step.sh", checkout / "output", checkout / "calls"
    step.write_text(script)
    planted = checkout / "planted"
    arguments = f"'python3 app.py --port {{port}}' --get '/a b' --fail-if \"p95 > 800ms\" $(touch {planted}) '' ; *"
    done = subprocess.run(
        ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", step], cwd=checkout, check=False, timeout=60,
        env={
            **os.environ, "ARGUMENTS": arguments, "GITHUB_ACTION_PATH": str(checkout), "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(checkout / "summary.md"), "CALLS": str(calls), "FAILS_WITH": str(code),
        },
    )  # fmt: skip
    assert (done.returncode, output.read_text()) == (code, f"exit-code={code}\n")
    assert not planted.exists()
    words = f"python3 app.py --port {{port}} --get /a b --fail-if p95 > 800ms $(touch {planted})  ; *"
    assert calls.read_text().splitlines()[1].startswith(f"test {words} --clock virtual")
    assert (checkout / "summary.md").read_text() == "a table\n"
