"""`wirelab explain`: what it refuses, before anything is run."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wirelab.cli import main


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def started(*_: object) -> None:
        raise AssertionError("it was started")

    monkeypatch.setattr("wirelab.cli.run.run_trials", started)


SEVEN = (
    "--link", "nb-iot-psm", "--loss", "1 %", "--set", "link.duplicate=1 %", "--set", "link.nat={ udp = '60 s' }",
    "--set", "link.outage={ start = '10 s', duration = '1 s' }",
)  # fmt: skip


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
        (["h2", "h3", "--link", "no-such-link"], ["--link: unknown link", "no-such-link"]),
        (["h2", "h3", "--loss", "2"], ["--loss: has no unit (2)"]),
        (["h2", "h3", "--send", "30"], ["--send: has no unit (30)"]),
        (["h2", "h3", "--set", "link.loss=2"], ["--set: link.loss: has no unit (2)"]),
        (["mqtt", "amqp", "--set", "workload.kind=pubsub"], ["its exchanges have no phases (pubsub)"]),
        (
            ["h2", "h3", *SEVEN],
            ["the link of h2 has 7 causes of delay (propagation,", "remove some", "6 are the most"],
        ),
    ],
)
def test_wrong_input_is_one_error_and_starts_nothing(arguments: list[str], words: list[str], tmp_path: Path) -> None:
    done = explain(*arguments, "--clock", "live")
    assert done.exit_code == 2, done.output
    for each in words:
        assert each in done.output, done.output
    assert "Traceback" not in done.output
    assert list(tmp_path.iterdir()) == []
