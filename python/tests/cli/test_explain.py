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
        ([], ["missing argument 'A'"]),
        (["h2", "h3", "coap"], ["unexpected extra argument (coap)"]),
        (["", "h3"], ["unknown protocol"]),
        (["h2", "h3", "--link", "20"], ["--link: '20' has no unit", 'hint: write "20 ms"']),
        (["h2", "h3", "--link", ""], ["--link: names nothing ('')"]),
        (["h2", "h3", "--loss", ""], ["--loss: names nothing ('')", "such as --loss '1 %'"]),
        (["h2", "h3", "--loss", "101 %"], ["--loss: is more than 100 %", "hint: at most 100 %"]),
        (["h2", "h3", "--send", "big"], ["--send: is not a size"]),
        (["h2", "h3", "--send", "0B"], ["--send: a message of telemetry has at least 1 B"]),
        (["h2", "h3", "--of", "nosuch.toml"], ["nosuch.toml: no such file"]),
        (["h2", "h3", "--set", "rtt"], ["--set: not PATH=VALUE (rtt)"]),
        (["h2", "h3", "--set", "nosuch=1"], ["--set: nosuch: cannot be varied"]),
        (["h2", "h3", "--set", "stop.replicates=many"], ["--set: stop.replicates: is not a number of replicates"]),
        (["h2", "h3", "--set", "workload.kind=nosuch"], ["--set: workload.kind: unknown value"]),
        (["h2", "h3", "--set", "protocol=coap"], ["message.toml has no scenario h2", "known: coap"]),
        (["h2", "h3", "--jobs", "0"], ["0 is not in the range"]),
        (["h2", "h3", "--clock", "both"], ["'both' is not one of"]),
        (["h2", "h3", "--out"], ["option '--out' requires an argument", "hint: wirelab explain --help"]),
        (["h2", "h3", "--loss", "2 %", "--set", "link.loss=1 %"], ["--loss and --set link.loss exclude each other"]),
        (["mqtt", "amqp", "--set", "workload.kind=pubsub"], ["its exchanges have no phases (pubsub)"]),
        (
            ["h2", "h3", *SEVEN],
            ["the link of h2 has 7 causes of delay (propagation,", "remove some", "6 are the most"],
        ),
    ],
)
def test_wrong_input_is_one_error_and_starts_nothing(arguments: list[str], words: list[str], tmp_path: Path) -> None:
    done = explain("--clock", "live", *arguments)
    assert done.exit_code == 2, done.output
    for each in words:
        assert each in done.output, done.output
    assert "Traceback" not in done.output
    assert "\nhint: " in done.output
    assert list(tmp_path.iterdir()) == []
