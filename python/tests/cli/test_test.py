"""`wirelab test`: what is refused before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.stats.compare.test_clocks import edit_plan, virtually
from tests.synthetic import write_campaign
from wirelab.answer.compare.kept import keep
from wirelab.cli import main
from wirelab.stats.analyze import analyze

SERVER = "sh -c 'sleep 1' {port}"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["test", *arguments], prog_name="wirelab")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [((), "no program"), ((SERVER, "--client", "sh {url}"), "one is tested at a time"),
     ((SERVER, "--get", "/", "--put", "/"), "GET and PUT"), ((SERVER, "--get", "items"), "--get: is not a path"),
     ((SERVER, "--header", "x"), "--header: not NAME: VALUE"), ((SERVER, "--link", "cleam"), "did you mean 'clean'?"),
     ((SERVER, "--link", ","), "--link: names nothing"), ((SERVER, "--protocol", "mqtt"), "has no methods and paths"),
     ((SERVER, "--protocol", "h2,h3"), "are tested apart"),
     ((SERVER, "--protocol", "h22"), "did you mean 'h2'?"), (("sh",), "does not get the port"),
     (("--client", "sh {url}", "--protocol", "mqtt"), "--topic TOPIC publishes"),
     (("--client", "sh {port} {topic}"), "gets no topic"),
     ((SERVER, "--topic", "a", "--protocol", "http1"), "http1 has no topics"),
     ((SERVER, "--topic", "a", "--get", "/"), "excludes --get"), ((SERVER, "--topic", ""), "--topic: is not a topic"),
     ((SERVER, "--topic", "a", "--header", "x: y"), "excludes --header"),
     (("--client", "sh {url}", "--topic", "a", "--reply", "1kB"), "excludes --reply"),
     ((SERVER, "--get", ""), "--get: is not a path"), ((SERVER, "--topic", "\udc80"), "--topic: is not UTF-8"),
     ((SERVER, "--reply", "1kB"), "--reply: is what our server"),
     (("--client", "sh {url}", "--connection", "persistent"), "--connection: a tested client is started"),
     ((SERVER, "--against", SERVER), "--against: is the tested program itself"),
     ((SERVER, "--protocol", "h2"), "gets no certificate"),
     ((SERVER, "--against", "none.tar.xz"), "--against: no such file (none.tar.xz)"),
     ((SERVER, "--header", "x: \udc80"), "--header: is not UTF-8"),
     (("--client", "sh {url}", "--reply", "5 XB"), "--reply: "), ((SERVER, "--header", "host: x"), "--header: "),
     (("FOO=1 sh {port}",), "write 'env FOO=1 sh {port}'")],
)  # fmt: skip
def test_a_mistake_names_its_option_and_leaves_nothing(
    arguments: tuple[str, ...], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    assert what in done.stderr
    assert not [*tmp_path.iterdir()]


def test_an_earlier_test_of_something_else_names_options_of_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, change in (("live", None), ("virtual", virtually)):
        campaign = write_campaign(tmp_path / name)
        if change is not None:
            edit_plan(campaign, change)
        analyze(campaign)
        keep(campaign, tmp_path / f"{name}.tar.xz")
    other = run(SERVER, "--clock", "live", "--against", "virtual.tar.xz")
    assert (other.exit_code, other.stderr.splitlines()) == (2, [
        "--against: virtual.tar.xz was tested with --clock virtual, and this is --clock live",
        "hint: test with --clock virtual, or keep it anew: --keep virtual.tar.xz",
    ])  # fmt: skip
    other = run(SERVER, "--clock", "live", "--against", "live.tar.xz")
    assert other.stderr.startswith("--against: no scenario is on both sides")
    assert other.stderr.endswith("hint: test what was tested then, or keep it anew: --keep live.tar.xz\n")


def test_a_refusal_leaves_an_earlier_test_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "results" / "test" / "test.toml"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"\xff earlier")
    (tmp_path / "other.tar.xz").write_bytes(b"no archive")
    for arguments in (("--header", "host: x"), ("--against", "other.tar.xz")):
        done = run(SERVER, *arguments)
        assert done.exit_code == 2, done.output
        assert (kept.read_bytes(), [*kept.parent.iterdir()]) == (b"\xff earlier", [kept])


def test_every_mistake_of_the_options_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("--client", "sh {url}", "--reply", "5 XB", "--header", "host: x")
    assert done.exit_code == 2
    assert "--reply: " in done.stderr
    assert "--header: " in done.stderr
