from pathlib import Path

import pytest

from tests.cli.test_main import run
from wirelab.cli.list import KINDS


def test_everything_is_listed_without_a_kind() -> None:
    code, out, err = run("list")
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if line and not line.startswith(" ")] == list(KINDS)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("experiments", "quickstart"), ("links", "geo-satellite"), ("protocols", "h3"), ("impairments", "gilbert-elliott"),
     ("impairments", "wifi"), ("impairments", "nat"),
     ("metrics", "end-to-end-delay"), ("implementations", "builtin")],
)  # fmt: skip
def test_a_kind_is_listed_by_name(kind: str, name: str) -> None:
    code, out, _ = run("list", kind)
    assert code == 0
    assert name in [line.split()[0] for line in out.splitlines()]


@pytest.mark.parametrize("kind", KINDS)
def test_lines_fit_a_terminal(kind: str) -> None:
    assert max(len(line) for line in run("list", kind)[1].splitlines()) <= 120


def test_protocols_and_programs_of_this_folder_are_listed_and_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("new", str(tmp_path / "first.toml"), "--protocol", "mine")
    monkeypatch.chdir(tmp_path)
    for kind, name, title in (("protocols", "mine", "mine over TCP"), ("implementations", "mine-py", "mine in Python")):
        assert [name, title] in [line.split(maxsplit=1) for line in run("list", kind)[1].splitlines()]
        code, out, _ = run("describe", name)
        assert (code, out.splitlines()[0]) == (0, f"{name}: {title}")
    assert "implementations  mine-py (client), mine-py (server)" in run("describe", "mine")[1]
