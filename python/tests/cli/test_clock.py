"""`wirelab clock`, with a kernel that nothing compiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_main import run
from wirelab.clock import kernel, sources
from wirelab.clock.kernel import Kernel, Tell
from wirelab.clock.sources import Source


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Source | Path, int]]:
    """What was built, and with how many compilers."""
    asked: list[tuple[Source | Path, int]] = []

    def build(source: Source | Path, tell: Tell, jobs: int) -> Kernel:
        tell(0.5, "compiling, 7 files", 1.0)
        asked.append((source, jobs))
        return Kernel(Path("/kernels/abc/linux"), "6.12.9", "abc", 250, "gcc", "0" * 64, "digest")

    monkeypatch.setattr(kernel, "build", build)
    return asked


def test_the_first_accepted_source_is_built(asked: list[tuple[Source | Path, int]]) -> None:
    code, out, err = run("clock", "build", "--jobs", "3")
    assert (code, out) == (0, "Linux 6.12.9, 250 Hz, recipe abc: /kernels/abc/linux\n")
    assert "compiling, 7 files" in err
    assert asked == [(sources.accepted()[0], 3)]


def test_a_version_or_a_tree_of_ones_own_may_be_named(tmp_path: Path, asked: list[tuple[Source | Path, int]]) -> None:
    last = sources.accepted()[-1]
    assert run("clock", "build", "--jobs", "1", "--version", last.version)[0] == 0
    assert run("clock", "build", "--jobs", "1", "--source", str(tmp_path))[0] == 0
    assert asked == [(last, 1), (tmp_path, 1)]


def test_what_cannot_be_built_is_an_error(tmp_path: Path, asked: list[tuple[Source | Path, int]]) -> None:
    first = sources.accepted()[0].version
    code, _, err = run("clock", "build", "--version", f"{first}x")
    assert code == 2
    assert f"no accepted version is '{first}x'" in err
    assert f"did you mean '{first}'?" in err
    code, _, err = run("clock", "build", "--source", str(tmp_path), "--version", first)
    assert code == 2
    assert "--source and --version exclude each other" in err
    assert asked == []
