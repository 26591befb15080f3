"""Every reader of a file that a user names opens it in one way: a pipe is refused, and nobody waits for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from wirelab.claims.load import load as load_claims
from wirelab.cli import main
from wirelab.errors import Where, WirelabError
from wirelab.experiment.file.source import read_source
from wirelab.experiment.library import implementations, profile_file
from wirelab.experiment.programs.own_protocols import own_protocols
from wirelab.opened import open_file, read_bytes
from wirelab.runner import implementations as runner
from wirelab_energy import load_device, load_radio
from wirelab_energy.trace import read_trace

READERS: dict[str, Callable[[Path], object]] = {
    "any file": lambda path: open_file(path, None),
    "any content": lambda path: read_bytes(path, Where("mine")),
    "experiment": lambda path: read_source(str(path)),
    "claims": load_claims,
    "profile": profile_file,
    "catalogue": lambda path: implementations(path.parent),
    "programs": lambda path: runner.load(path.parent),
    "protocols": lambda path: own_protocols(path.parent),
    "radio": lambda path: load_radio(str(path)),
    "device": lambda path: load_device(str(path)),
    "trace": read_trace,
}


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "implementations.toml"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize("name", READERS)
def test_no_reader_waits_for_a_pipe(name: str, pipe: Path) -> None:
    with pytest.raises(WirelabError, match="is not a regular file"):
        READERS[name](pipe)


@pytest.mark.parametrize(
    "words",
    [("check",), ("link", "fit"), ("energy", "--client", "10.0.0.1", "--radio", "esp32-wifi"), ("energy", "--trace")],
)
def test_no_verb_waits_for_a_pipe(words: tuple[str, ...], pipe: Path) -> None:
    done = CliRunner().invoke(main, [*words, str(pipe)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{pipe}: is not a regular file" in done.stderr
