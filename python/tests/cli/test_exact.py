"""`wirelab exact`: what it refuses, before anything is run."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wirelab.cli import main
from wirelab.cli.exact import DurationsType


@pytest.fixture(autouse=True)
def _kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that is refused needs one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WIRELAB_KERNEL", str(tmp_path))


def exact(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["exact", *arguments], prog_name="wirelab")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--protocols", "coap,xx"], ["--protocols: unknown protocol", "xx"]),
        (["--link", "no-such-link"], ["--link: unknown link", "no-such-link"]),
        (["--link", "20 xs"], ["--link: unknown link", "20 xs"]),
        (["--send", "30"], ["--send: has no unit (30)"]),
        (["--send", "30B", "--set", "workload.message=40B"], ["--send and --set workload.message exclude each other"]),
        (["--loss", "1"], ["--loss: loss: has no unit"]),
        (["--loss", "0 %"], ["--loss: loses nothing (0 %)", "hint: such as --loss '1 %'"]),
        (["--loss", "{ gilbert-elliott = { p = '1 %' } }"], ["--loss: gilbert-elliott", "missing"]),
        (["--loss", "{ loss = '1 %', loss-correlation = '50 %' }"], ["--loss: successive losses are correlated"]),
        (["--beyond", "1 parsec"], ["parsec"]),
        (["--beyond", "2 min"], ["--beyond: 2 min is beyond the time-out of coap", "hint: --set workload.timeout"]),
        (["--loss", "2 % within 0 %"], ["--loss: bounds are never 0 apart"]),
        (["--loss", "2 % within a bit"], ["--loss: a bit"]),
        (["--within", "2"], ["--within"]),
        (["--set", "clock=live"], ["--set: clock: in real time no run repeats another", 'clock = "virtual"']),
        (["--set", "link.jitter=normal 1 ms"], ["is random", "remove jitter"]),
        (["--set", "workload.connection=persistent"], ["depends on those before it", "workload.connection=new"]),
        (["--send", "20MB"], ["more than 1,000 packets", "wirelab run --clock virtual"]),
        (["--link", "wifi-poor"], ["is random"]),
        (["no-such-experiment"], ["no-such-experiment"]),
        (["--link", "20"], ["--link: '20' has no unit", 'hint: write "20 ms"']),
        (["--link=-20 ms"], ["--link: '-20 ms' is negative", 'did you mean "20 ms"?']),
        (["--link", ""], ["--link: names nothing ('')", "such as --link '20 ms'"]),
        (["--protocols", " "], ["--protocols: names nothing (' ')", "such as --protocols coap,http1"]),
        (["--protocols", "coap,,h2"], ["--protocols: unknown protocol"]),
        (["--send", ""], ["--send: names nothing"]),
        (["--send", "0B"], ["--send: a message of telemetry has at least 1 B", "hint: 1 B or more"]),
        (["--send", "big"], ["--send: is not a size"]),
        (["--loss", "101 %"], ["--loss: loss: is more than 100 %", "hint: at most 100 %"]),
        (["--loss", "2 % within"], ["--loss: does not say within what (2 % within)", "'2 % within 0.5 %'"]),
        (["--loss", "2 % within 3"], ["--loss: 3 has no unit"]),
        (["--loss", "{ loss = '1 %'"], ["--loss: is not a table"]),
        (["--loss", "{ los = '1 %' }"], ["--loss: los: unknown key", "did you mean 'loss'?"]),
        (["--beyond", "200"], ["'--beyond': 200 has no unit"]),
        (["--beyond", "200 ms,,1 s"], ["'--beyond': '' is not a duration"]),
        (["--beyond", "10 min"], ["--beyond: 10 min is beyond", "hint: --set workload.timeout=10min"]),
        (["--within", "0 %"], ["'--within': must be more than 0"]),
        (["--state", "ugly"], ["'ugly' is not one of"]),
        (["--state"], ["option '--state' requires an argument", "hint: wirelab exact --help"]),
        (["--seeds", "0"], ["0 is not in the range"]),
        (["--seeds", "two"], ["'two' is not a whole number"]),
        (["--budget", "3"], ["'--budget': 3 has no unit"]),
        (["--jobs", "0"], ["0 is not in the range"]),
        (["--set", "rtt"], ["--set: not PATH=VALUE (rtt)"]),
        (["--set", "nosuch=1"], ["--set: nosuch: cannot be varied"]),
        (["nosuch.toml"], ["nosuch.toml: no such file"]),
        (["mesage"], ["no experiment 'mesage'", "did you mean 'message'?"]),
        (["message", "sensor"], ["unexpected extra argument (sensor)"]),
    ],
)
def test_wrong_input_is_one_error_and_starts_nothing(arguments: list[str], words: list[str], tmp_path: Path) -> None:
    done = exact(*arguments)
    assert done.exit_code == 2, done.output
    for each in words:
        assert each in done.output, done.output
    assert "Traceback" not in done.output
    assert "\nhint: " in done.output
    assert list(tmp_path.iterdir()) == []


def test_durations_are_read_in_any_order_each_once() -> None:
    assert DurationsType().convert("1 s, 200 ms,1s", None, None) == (200_000_000, 1_000_000_000)


def test_costs_need_a_folder_of_exact(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["show", str(tmp_path), "--cost"], prog_name="wirelab")
    assert done.exit_code == 2
    assert "no campaign" in done.output
