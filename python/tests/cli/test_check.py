import re
from pathlib import Path

import pytest

from tests.cli.test_main import run
from tests.described import BASE
from tests.snapshots import assert_golden


def test_a_correct_file_is_confirmed(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(BASE)
    assert run("check", str(file)) == (0, f"{file}: ok, 2 scenarios, up to 6 trials\n", "")


def test_a_wrong_file_is_refused_without_output_on_stdout(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(BASE.replace('"20 ms"', "20"))
    code, out, err = run("check", str(file))
    assert (code, out) == (2, "")
    assert err.startswith(f"{file}:5:1: links.wire.rtt: has no unit (20)\nhint: ")


def test_an_unknown_metric_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('metric = "end-to-end-dealy"\n' + BASE)
    code, _, err = run("check", str(file))
    assert code == 2
    assert err.startswith(
        f"{file}:1:1: metric: unknown metric (\"end-to-end-dealy\")\nhint: did you mean 'end-to-end-delay'?"
    )


def test_claims_are_checked_with_their_place(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    assert run("new", str(file), "--from", "milosevic2021")[0] == 0
    claims = tmp_path / "milosevic2021.claims.toml"
    claims.write_text(claims.read_text().replace('["wire-up-packets"]', '["wire-up-packet"]'))
    code, out, err = run("check", str(file))
    assert (code, out) == (2, "")
    assert err.startswith(f"{claims}:")
    assert "did you mean 'wire-up-packets'?" in err


def test_a_level_of_a_choice_that_the_experiment_does_not_take_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    assert run("new", str(file), "--from", "milosevic2021")[0] == 0
    claims = tmp_path / "milosevic2021.claims.toml"
    claims.write_text(
        claims.read_text().replace('levels = ["20 ms", "2 ms", ', 'levels = ["20 ms", "banana", "2 ms", ')
    )
    code, _, err = run("check", str(file))
    assert code == 2
    assert err.startswith(f"{claims}:")
    assert 'choice.levels: link.rtt: is not a duration ("banana")' in err


def test_a_file_of_claims_is_called_one(tmp_path: Path) -> None:
    claims = tmp_path / "mine.claims.toml"
    claims.write_text("")
    code, out, err = run("check", str(claims))
    assert (code, out) == (2, "")
    assert err == (
        f"{claims}: is a file of claims, and not an experiment\n"
        'hint: check the experiment that names it: claims = "mine.claims.toml"\n'
    )


def test_errors_in_metric_and_claims_are_reported_with_the_others(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    assert run("new", str(file), "--from", "milosevic2021")[0] == 0
    claims = tmp_path / "milosevic2021.claims.toml"
    claims.write_text(claims.read_text().replace('["wire-up-packets"]', '["wire-up-packet"]'))
    text = (
        file.read_text()
        .replace('"end-to-end-delay"', '"end-to-end-dealy"', 1)
        .replace("exchanges = 100", "exchanges = 0")
    )
    file.write_text(text)
    code, _, err = run("check", str(file))
    assert code == 2
    assert [line.partition(": ")[2] for line in err.splitlines() if not line.startswith("hint")] == [
        "workload.exchanges: must be at least 1 (0)",
        'metric: unknown metric ("end-to-end-dealy")',
        'metrics.wire-up-packets: unknown ("wire-up-packet")',
    ]


def test_a_set_value_is_checked() -> None:
    code, _, err = run("check", "quickstart", "--set", "link.rtt=20")
    assert (code, err.splitlines()[0]) == (2, "--set: link.rtt: has no unit (20)")


def test_messages_outside_experiment_files_match_the_golden_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(BASE)
    cases = [
        ["check", "quikstart"],
        ["check", "none.toml"],
        ["check", "min.toml"],
        ["check", "quickstart", "--set", "link.rtt"],
        ["check", "quickstart", "--set", "seed=1,2"],
        ["plan", "quickstart", "--budget", "2"],
        ["plan", "quickstart", "--budget", "0s"],
        ["plan", "quickstart", "--jobs", "0"],
        ["list", "protocol"],
        ["list", "colours"],
        ["describe", "protocols", "h2"],
        ["describe", "protocol", "http2"],
        ["describe", "link", "gsm"],
        ["describe", "impairment", "los"],
        ["describe", "metric", "dealy"],
        ["describe", "experiment", "quikstart"],
        ["describe", "implementation", "ngnix"],
        ["new"],
        ["new", "mine.toml", "--from", "quikstart"],
    ]
    parts = []
    for case in cases:
        code, out, err = run(*case)
        assert (code, out) == (2, ""), case
        parts.append(f"$ wirelab {' '.join(case)}\n{err}")
    assert_golden("cli-errors.txt", "\n".join(parts))


def test_a_wrong_program_entry_is_refused_and_a_missing_program_reported(tmp_path: Path) -> None:
    file, catalogue = tmp_path / "first.toml", tmp_path / "implementations.toml"
    run("new", str(file), "--protocol", "mine")
    entry = catalogue.read_text()
    for verb in ("check", "plan"):
        catalogue.write_text(entry.replace('["{{ python }}", "--version"]', '["no-such-program-here"]'))
        code, _, err = run(verb, str(file))
        why = "no-such-program-here is not installed; it is next to the experiment"
        assert (code, err) == (2, f"2 of 6 scenarios would fail (mine, clean; mine, lossy): {why}\n")
        for wrong, words in (
            (("{{ port }}", "{{ prot }}"), "unknown variable 'prot'"),
            (("ready =", "readi ="), "readi: unknown key"),
        ):
            catalogue.write_text(entry.replace(*wrong))
            code, out, err = run(verb, str(file))
            assert (code, out) == (2, "")
            assert words in err


@pytest.mark.parametrize("verb", ["check", "plan"])
def test_unsupported_work_of_a_program_is_reported_before_the_run(tmp_path: Path, verb: str) -> None:
    file = tmp_path / "mine.toml"
    workload = 'workload = { kind = "telemetry", connection = "persistent" }'
    own = '[protocols.mqtt]\nimplementation = "mosquitto"\n'
    file.write_text(f'title = "?"\nfactors.protocol = ["http1", "mqtt"]\n{workload}\n{own}')
    code, _, err = run(verb, str(file))
    refusal = "1 of 2 scenarios would be unsupported (mqtt): mosquitto does not do connection = 'persistent'\n"
    assert (code, err) == (0, refusal)
    file.write_text(file.read_text() + 'client.implementation = "builtin"\n')
    assert refusal not in run(verb, str(file))[2]


def test_claims_are_frozen_and_a_change_to_their_grid_is_refused_from_then_on(tmp_path: Path) -> None:
    file, claims = tmp_path / "mine.toml", tmp_path / "milosevic2021.claims.toml"
    assert run("new", str(file), "--from", "milosevic2021")[0] == 0
    code, out, _ = run("check", str(file), "--freeze")
    assert (code, out.splitlines()[0].partition(", sha256 ")[0]) == (0, f"{claims}: frozen")
    frozen = claims.read_text()
    claims.write_text(frozen.replace("margin = 1.1\n", "margin = 1.2\n"))
    code, out, err = run("check", str(file))
    assert (code, out) == (2, "")
    line = 1 + frozen[: frozen.index("digest =", frozen.index("[frozen]"))].count("\n")
    assert err.startswith(f"{claims}:{line}:1: frozen.digest: ")
    assert "the claims or the grid changed after they were frozen" in err
    assert "--freeze" in err
    code, out, _ = run("check", str(file), "--freeze")
    assert code == 0
    assert re.search(
        r"frozen, sha256 [0-9a-f]{16}\.\.\.; what was frozen at 20[0-9TZ:-]+ is replaced$", out, re.MULTILINE
    )
    assert "replaced" not in run("check", str(file), "--freeze")[1]


def test_shipped_claims_and_experiments_without_claims_are_not_frozen(tmp_path: Path) -> None:
    code, _, err = run("check", "milosevic2021", "--freeze")
    assert code == 2
    assert "needs an experiment file of your own" in err
    file = tmp_path / "mine.toml"
    file.write_text(BASE)
    code, _, err = run("check", str(file), "--freeze")
    assert code == 2
    assert "names no claims" in err
