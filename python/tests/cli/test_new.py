from pathlib import Path

import pytest

from tests.cli.test_main import run


def test_a_new_experiment_file_passes_check(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    assert run("new", str(file), "--from", "quickstart") == (0, f"{file}\n", f"Next    wirelab plan {file}\n")
    assert run("check", str(file))[0] == 0


def test_claims_are_copied_too(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    code, out, _ = run("new", str(file), "--from", "milosevic2021")
    assert (code, out.splitlines()) == (0, [str(file), str(tmp_path / "milosevic2021.claims.toml")])
    assert run("check", str(file))[0] == 0


def test_a_users_file_can_be_copied(tmp_path: Path) -> None:
    run("new", str(tmp_path / "one.toml"))
    assert run("new", str(tmp_path / "two.toml"), "--from", str(tmp_path / "one.toml"))[0] == 0
    assert (tmp_path / "one.toml").read_text() == (tmp_path / "two.toml").read_text()


def test_the_name_of_a_shipped_experiment_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused = "quickstart: is the name of a shipped experiment\nhint: write quickstart.toml\n"
    assert run("new", "quickstart") == (2, "", refused)
    Path("quickstart").write_text("no experiment")
    assert run("check", "quickstart")[0] == 0
    assert run("check", "./quickstart")[0] == 2


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    (tmp_path / "milosevic2021.claims.toml").write_text("mine")
    code, out, err = run("new", str(file), "--from", "milosevic2021")
    assert (code, out) == (2, "")
    assert err == f"{tmp_path / 'milosevic2021.claims.toml'}: exists already\nhint: choose another name\n"
    assert not file.exists()


def test_a_missing_folder_is_refused_with_the_command_to_make_it(tmp_path: Path) -> None:
    folder = tmp_path / "my folder"
    code, out, err = run("new", str(folder / "mine.toml"))
    assert (code, out) == (2, "")
    assert err == f"{folder / 'mine.toml'}: there is no folder {folder}\nhint: mkdir -p '{folder}'\n"


def test_new_protocol_writes_an_experiment_programs_and_their_entry(tmp_path: Path) -> None:
    file = tmp_path / "first.toml"
    code, out, _ = run("new", str(file), "--protocol", "mine")
    assert code == 0
    assert {Path(line).name for line in out.splitlines()} == {
        "first.toml", "implementations.toml", "mine_client.py", "mine_server.py"
    }  # fmt: skip
    assert not [path for path in tmp_path.iterdir() if "NAME" in path.read_text()]
    assert run("check", str(file))[0] == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--protocol", "h2"), "'h2' is the name of a built-in protocol"),
        (("--protocol", "My Protocol"), "'My Protocol' is not a valid protocol name"),
        (("--protocol", "mine", "--site", "."), "--site and --protocol exclude each other"),
        (("--site", ".", "--from", "quickstart"), "quickstart has no line `page = …` in [workload]"),
        (("--site", ".", "--from", "fischer2021"), "the claims of fischer2021 are about its own pages"),
        (("--protocol", "mine", "--from", "quickstart"), "--from and --protocol exclude each other"),
    ],
)
def test_an_impossible_new_protocol_is_refused(options: tuple[str, ...], words: str, tmp_path: Path) -> None:
    code, _, err = run("new", str(tmp_path / "first.toml"), *options)
    assert code == 2
    assert words in err
    assert not list(tmp_path.iterdir())


def test_a_second_new_protocol_is_added_to_the_first(tmp_path: Path) -> None:
    run("new", str(tmp_path / "first.toml"), "--protocol", "mine")
    before = (tmp_path / "implementations.toml").read_text()
    code, _, err = run("new", str(tmp_path / "second.toml"), "--protocol", "yours")
    assert code == 0, err
    assert (tmp_path / "implementations.toml").read_text().startswith(before)
    for file in ("first.toml", "second.toml"):
        assert run("check", str(tmp_path / file))[0] == 0
    text = (tmp_path / "second.toml").read_text().replace('"yours"', '"mine", "yours"')
    (tmp_path / "both.toml").write_text(text)
    assert run("check", str(tmp_path / "both.toml"))[0] == 0


def test_a_protocol_that_exists_in_the_folder_is_refused(tmp_path: Path) -> None:
    run("new", str(tmp_path / "first.toml"), "--protocol", "mine")
    before = {path: path.read_text() for path in tmp_path.iterdir()}
    code, _, err = run("new", str(tmp_path / "second.toml"), "--protocol", "mine")
    assert (code, err) == (
        2, f"{tmp_path / 'implementations.toml'}: has 'mine-py' already\nhint: choose another name\n"
    )  # fmt: skip
    assert {path: path.read_text() for path in tmp_path.iterdir()} == before


def test_new_page_writes_an_experiment_for_a_folder(tmp_path: Path) -> None:
    (tmp_path / "my shop").mkdir()
    (tmp_path / "my shop" / "index.html").write_text("<title>Mine</title>")
    file = tmp_path / "mine.toml"
    assert run("new", str(file), "--site", str(tmp_path / "my shop"))[:2] == (0, f"{file}\n")
    code, out, _ = run("plan", str(file))
    assert code == 0
    assert "page my shop: 1 resource, 19 B, 10 loads a trial" in out


def test_new_page_without_a_document_writes_nothing(tmp_path: Path) -> None:
    code, _, err = run("new", str(tmp_path / "mine.toml"), "--site", str(tmp_path))
    assert code == 2
    assert "no such file (index.html)" in err
    assert list(tmp_path.iterdir()) == []


def test_a_made_up_paper_passes_check_and_can_be_frozen(tmp_path: Path) -> None:
    file, claims = tmp_path / "mine2026.toml", tmp_path / "mine2026.claims.toml"
    written = f"{file}\n{claims}\n"
    code, out, err = run("new", str(file), "--paper")
    assert (code, sorted(out.split()), err) == (0, sorted(written.split()), f"Next    wirelab check {file} --freeze\n")
    assert run("check", str(file), "--freeze")[0] == 0
    assert "[frozen]" in claims.read_text()
    assert run("plan", str(file), "--clock", "virtual")[0] == 0


def test_a_made_up_paper_says_so_in_both_files(tmp_path: Path) -> None:
    run("new", str(tmp_path / "mine.toml"), "--paper")
    for path in tmp_path.iterdir():
        assert "made up" in path.read_text() or "made-up" in path.read_text()
        assert "NAME" not in path.read_text()


def test_the_wrong_number_of_a_made_up_paper_contradicts_its_own(tmp_path: Path) -> None:
    from wirelab.claims.load import load
    from wirelab.claims.printed import orders_inside

    run("new", str(tmp_path / "mine.toml"), "--paper")
    [order] = orders_inside(load(tmp_path / "mine.claims.toml"))
    [cell] = order["against"]
    assert cell["lower"]["levels"]["protocol"] == "http1"
    assert cell["z"] is not None
    assert cell["z"] > 5


@pytest.mark.parametrize("name", ["mine", "my paper.toml", 'a".toml'])
def test_a_name_that_claims_cannot_have_is_refused(name: str, tmp_path: Path) -> None:
    code, _, err = run("new", str(tmp_path / name), "--paper")
    assert code == 2
    assert "is not a valid name for a paper's experiment" in err


@pytest.mark.parametrize("option", ["--from", "--protocol"])
def test_a_paper_excludes_other_origins(option: str, tmp_path: Path) -> None:
    code, _, err = run("new", str(tmp_path / "mine.toml"), "--paper", option, "quickstart")
    assert (code, f"{option} and --paper exclude each other" in err) == (2, True)
