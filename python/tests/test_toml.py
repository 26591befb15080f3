"""Damaged TOML of users: every reader reads it or refuses it with an error of its own."""

import tomllib
from collections.abc import Callable
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wirelab.claims.load import load as load_claims
from wirelab.errors import WirelabError
from wirelab.experiment.library import implementations, profile_file
from wirelab.runner import implementations as runner
from wirelab.toml import inline
from wirelab_energy import load_device, load_radio

DATA, ENERGY_DATA = resources.files("wirelab.data"), resources.files("wirelab_energy.data")
READERS: dict[str, tuple[Traversable, Callable[[Path], object]]] = {
    "claims": (DATA / "experiments/milosevic2021.claims.toml", load_claims),
    "profile": (DATA / "profiles/links/nb-iot.toml", profile_file),
    "radio": (ENERGY_DATA / "radios/nrf9160-nbiot.toml", lambda path: load_radio(str(path))),
    "device": (ENERGY_DATA / "devices/esp32.toml", lambda path: load_device(str(path))),
    "catalogue": (DATA / "implementations.toml", lambda path: implementations(path.parent)),
    "programs": (DATA / "implementations.toml", lambda path: runner.load(path.parent)),
}
DEEP = ["[" * 5000, f"x = {'[' * 5000}", f"x = {'9' * 5000}", "\ud800", "a\0b"]
VALUES = st.sampled_from(["1", '""', "[]", "{}", "true", "nan", "-1", "[[]]", "{ a = 1 }", '["a", 1]', "1979-05-27"])


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, name: str, data: st.DataObject) -> None:
    shipped, read = READERS[name]
    lines = shipped.read_text(encoding="utf-8").splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(lines) - 1))
        key, sign, _ = lines[place].partition(" = ")
        if sign and data.draw(st.booleans()):
            lines[place] = f"{key} = {data.draw(VALUES)}"
        else:
            cut = data.draw(st.integers(0, len(lines[place])))
            lines[place] = lines[place][:cut] + data.draw(st.text(max_size=3))
    check(tmp_path / shipped.name, "\n".join(lines).encode("utf-8", "surrogatepass"), read)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("text", DEEP)
def test_a_file_that_python_cannot_read_is_refused(tmp_path: Path, name: str, text: str) -> None:
    shipped, read = READERS[name]
    path = tmp_path / shipped.name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(WirelabError):
        read(path)


@pytest.mark.parametrize("text", ['roles = "x"', "roles.client = 1", "roles.client.protocols = 1"])
def test_a_program_with_roles_that_are_not_tables_is_refused_with_its_place(tmp_path: Path, text: str) -> None:
    (tmp_path / "implementations.toml").write_text(f"[mine]\n{text}\n")
    with pytest.raises(WirelabError, match=r"mine\.roles.*should be a"):
        implementations(tmp_path)


def check(path: Path, text: bytes, read: Callable[[Path], Any]) -> None:
    path.write_bytes(text)
    try:
        read(path)
    except WirelabError as error:
        assert error.exit_code == 2


@pytest.mark.parametrize(
    "value", [True, 3, 2.5, 'a "b" ü', [], ["a", 1], {}, {"a": {"b c": [False]}, "object-size": "10 kB"}]
)
def test_a_value_on_one_line_is_read_back(value: object) -> None:
    assert tomllib.loads(f"x = {inline(value)}") == {"x": value}
