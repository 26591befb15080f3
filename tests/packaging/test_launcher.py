"""`./wirelab` of a checkout, with another uv and another Wirelab behind it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def launched(tmp_path: Path, *words: str) -> tuple[int, list[str]]:
    """Process id of the launcher, and what another Wirelab behind it says of itself: process id, how it was called, and
    its words.
    """
    shutil.copy(ROOT / "wirelab", tmp_path)
    for name, line in {
        "scripts/uv": 'echo "$@" > "$(dirname "$0")/asked"',
        ".venv/bin/wirelab": 'printf "%s\\n" $$ "$WIRELAB_COMMAND" "$@"',
    }.items():
        program = tmp_path / name
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
    environment = {**os.environ, "WIRELAB_AGENT": "/agent"}
    process = subprocess.Popen(["./wirelab", *words], env=environment, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    out, _ = process.communicate(timeout=60)
    return process.pid, out.splitlines()


def test_a_signal_to_the_launcher_ends_wirelab(tmp_path: Path) -> None:
    pid, [inner, _, *words] = launched(tmp_path, "run", "two words")
    assert int(inner) == pid
    assert words == ["run", "two words"]
    assert (tmp_path / "scripts" / "asked").read_text().startswith("sync ")


def words_of(tmp_path: Path, uv: str, wirelab: str = "exit 0", *, earlier: bool = True) -> tuple[int, str]:
    """Exit code of the launcher and what is said on stderr, with another uv and another Wirelab behind it."""
    tmp_path.mkdir(exist_ok=True)
    shutil.copy(ROOT / "wirelab", tmp_path)
    for name, line in {"scripts/uv": uv, ".venv/bin/wirelab": wirelab}.items():
        program = tmp_path / name
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755 if earlier or "uv" in name else 0o644)
    done = subprocess.run(
        ["./wirelab"], env={**os.environ, "WIRELAB_AGENT": "/agent"}, capture_output=True, text=True, cwd=tmp_path,
        check=False, timeout=60,
    )  # fmt: skip
    return done.returncode, done.stderr


def test_a_launcher_that_builds_prints_one_notice(tmp_path: Path) -> None:
    later = "building the agent with cargo and installing Python packages, or waiting for another call that does"
    makes = 'chmod +x "$(dirname "$0")/../.venv/bin/wirelab"'
    code, words = words_of(tmp_path / "first", f"sleep 4; {makes}", earlier=False)
    assert (code, words) == (0, f"wirelab: first run in this checkout: {later} (some minutes)\n")
    code, words = words_of(tmp_path / "again", "sleep 4")
    assert (code, words) == (0, f"wirelab: {later} (some minutes)\n")


def test_a_launcher_without_a_build_is_silent(tmp_path: Path) -> None:
    assert words_of(tmp_path, "exit 0") == (0, "")


def test_wirelab_inherits_no_child_from_its_launcher(tmp_path: Path) -> None:
    tells = 'read -r children </proc/$$/task/$$/children; echo "children: $children" >&2'
    assert words_of(tmp_path, "exit 0", tells) == (0, "children: \n")


def test_a_failed_build_gives_the_launcher_its_exit_code(tmp_path: Path) -> None:
    code, words = words_of(tmp_path, "echo 'cargo: no' >&2; exit 2")
    assert (code, words) == (2, "cargo: no\n")


def test_uv_waits_for_another_build_unless_configured_otherwise(tmp_path: Path) -> None:
    lines = (ROOT / "scripts/uv").read_text().splitlines()
    version = next(line for line in lines if line.startswith("version=")).removeprefix("version=")
    uv = tmp_path / "wirelab" / f"uv-{version}" / "bin" / "uv"
    uv.parent.mkdir(parents=True)
    uv.write_text('#!/bin/sh\necho "$UV_LOCK_TIMEOUT"\n')
    uv.chmod(0o755)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("UV_LOCK_TIMEOUT", None)
    for more, seconds in (({}, "3600\n"), ({"UV_LOCK_TIMEOUT": "5"}, "5\n")):
        done = subprocess.run(
            [ROOT / "scripts/uv"], env={**environment, **more}, capture_output=True, text=True, check=True
        )
        assert done.stdout == seconds


def test_wirelab_gets_the_launchers_path(tmp_path: Path) -> None:
    _, [_, called, *_] = launched(tmp_path, "plan", "quickstart")
    assert called == "./wirelab"
