"""`wirelab explain`: what it refuses, before anything is run."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wirelab.cli import main


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def explain(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["explain", *arguments], prog_name="wirelab")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["h2"], ["missing argument 'B'"]),
        (["h2", "h4"], ["h4", "protocol"]),
        (["20 ms", "60 ms"], ["message.toml has no scenario 20 ms", "coap, h2, h3, http1"]),
        (["h2", "h2"], ["A and B are one scenario: h2"]),
        (["h2", "h3", "--of", "no-such-experiment"], ["no-such-experiment"]),
        (["h2", "h3", "--of", "."], ["."]),
        (["h2", "h3", "--of", "milosevic2021"], ["h2 may be", "scenarios", "name one of them: 'h2, lossless, 30 B'"]),
        (["h2", "h3", "--link", "no-such-link"], ["no-such-link"]),
        (["h2", "h3", "--loss", "2"], ["loss", "2"]),
        (["h2", "h3", "--send", "30"], ["workload.message", "30"]),
        (["mqtt", "coap", "--set", "workload.kind=pubsub"], ["workload"]),
    ],
)
def test_wrong_input_is_one_error_and_starts_nothing(arguments: list[str], words: list[str], tmp_path: Path) -> None:
    done = explain(*arguments, "--clock", "live")
    assert done.exit_code == 2, done.output
    for each in words:
        assert each in done.output, done.output
    assert "Traceback" not in done.output
    assert list(tmp_path.iterdir()) == []
