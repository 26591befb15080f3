"""What third-party programs are, by their contents."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.experiment.library import templates
from wirelab.experiment.programs.contents import named_files, program_digests
from wirelab.plan import make_plan


@pytest.fixture
def own(tmp_path: Path) -> Path:
    for name, text in templates("protocol").items():
        (tmp_path / name.replace("NAME", "mine")).write_text(text.replace("NAME", "mine"))
    return tmp_path


def digest(folder: Path) -> str:
    return program_digests(["mine-py", "builtin"], folder)["mine-py"]


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("mine_client.py", "TCP_NODELAY, 1", "TCP_NODELAY, 0"),
        ("mine_server.py", 'b"k"', 'b"o"'),
        ("implementations.toml", '"{{ address }}", "{{ port }}"', '"{{ address }}", "{{ port }}", "--slow"'),
    ],
)
def test_a_changed_entry_or_script_changes_the_programs_digest(own: Path, file: str, old: str, new: str) -> None:
    before = digest(own)
    assert digest(own) == before
    edit(own / file, old, new)
    changed = digest(own)
    assert changed != before
    edit(own / file, new, old)
    assert digest(own) == before


def test_descriptions_and_other_files_do_not_change_the_digest(own: Path) -> None:
    before = digest(own)
    edit(own / "implementations.toml", 'title = "mine in Python"', 'title = "Better"')
    (own / "notes.py").write_text("x = 1")
    assert digest(own) == before


def test_modules_imported_from_the_scripts_folder_are_part_of_the_digest(own: Path) -> None:
    edit(own / "mine_client.py", "import json\n", "import json\nfrom shared import frames\n")
    (own / "shared").mkdir()
    (own / "shared" / "__init__.py").write_text("")
    (own / "shared" / "frames.py").write_text("import length\n")
    (own / "length.py").write_text("BYTES = 4\n")
    before = digest(own)
    (own / "length.py").write_text("BYTES = 8\n")
    assert digest(own) != before
    (own / "mine_client.py").write_text("this is no Python")
    assert digest(own) != before


def test_files_are_named_in_any_text_of_an_entry_and_may_hold_a_blank(own: Path) -> None:
    (own / "a b.py").write_text("")
    entry = {"command": ["{{ beside }}/a b.py", "--config={{ beside }}/x.conf --more", "{{ parameters }}"]}
    assert named_files(entry, {"beside": own}) == {"a b.py": own / "a b.py", "x.conf": own / "x.conf"}


def test_the_declared_duration_of_a_program_affects_only_the_estimate(own: Path) -> None:
    catalogue = own / "implementations.toml"
    text, before = catalogue.read_text(), digest(own)
    catalogue.write_text(
        text.replace("[mine-py.roles.server]\n", "[mine-py.roles.server]\nstarts_in_s = 90\neach_takes_s = 1\n")
    )
    assert "each_takes_s" in catalogue.read_text()
    assert digest(own) == before


def test_a_shipped_script_is_part_of_its_entrys_digest_and_unknown_names_have_none(tmp_path: Path) -> None:
    assert program_digests(["paho", "builtin", "no-such"], tmp_path).keys() == {"paho"}


def test_a_changed_script_changes_only_the_keys_of_its_scenarios(own: Path) -> None:
    before = make_plan(load_experiment(str(own / "experiment.toml")))
    edit(own / "mine_client.py", "TCP_NODELAY, 1", "TCP_NODELAY, 0")
    after = make_plan(load_experiment(str(own / "experiment.toml")))
    changed = {old.protocol for old, new in zip(before.scenarios, after.scenarios, strict=True) if old.key != new.key}
    assert changed == {"mine"}
    assert before.programs.keys() == after.programs.keys() == {"mine-py"}
    assert before.programs != after.programs


def test_a_user_defined_protocols_port_is_part_of_the_key_and_its_description_is_not(own: Path) -> None:
    def keys() -> dict[str, str]:
        return {each.name: each.key for each in make_plan(load_experiment(str(own / "experiment.toml"))).scenarios}

    before = keys()
    edit(own / "implementations.toml", 'title = "mine over TCP"', 'title = "Mine"')
    assert keys() == before
    edit(own / "implementations.toml", "port = 7007", "port = 7008")
    assert {name for name, key in keys().items() if before[name] != key} == {"mine, clean", "mine, lossy"}
