"""The version in the workspace's `Cargo.toml` is the source, and what repeats it agrees."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import wirelab

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", [".", "python/wirelab_energy"])
def test_each_distribution_has_the_version_of_the_workspace(folder: str) -> None:
    project = tomllib.loads(read(f"{folder}/pyproject.toml"))
    assert "version" in project["project"]["dynamic"]
    source = project["tool"]["hatch"]["version"]
    found = re.search(source["pattern"], read(f"{folder}/{source['path']}"), re.MULTILINE)
    assert found is not None
    assert found["version"] == wirelab.__version__ == VERSION


def test_wirelab_depends_on_the_energy_of_its_own_version() -> None:
    needs = tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]
    assert [each for each in needs if each.startswith("wirelab")] == [f"wirelab-energy=={VERSION}"]


def test_every_crate_that_ships_has_the_version_of_the_workspace() -> None:
    for manifest in sorted((ROOT / "crates").glob("*/Cargo.toml")):
        package = tomllib.loads(manifest.read_text(encoding="utf-8"))["package"]
        assert package["version"] == {"workspace": True}, manifest
    locked = tomllib.loads(read("Cargo.lock"))["package"]
    ours = {each["name"]: each["version"] for each in locked if each["name"].startswith("wirelab-")}
    # Nobody installs the fuzz targets.
    assert ours.pop("wirelab-fuzz") == "0.0.0"
    assert set(ours.values()) == {VERSION}, ours


def test_the_citation_has_the_version_of_the_workspace() -> None:
    assert re.findall(r"^version: (.+)$", read("CITATION.cff"), re.MULTILINE) == [VERSION]


def test_the_changelog_has_a_section_for_the_version() -> None:
    sections = re.findall(r"^## (.+)$", read("CHANGELOG.md"), re.MULTILINE)
    assert VERSION in sections[:2]
    assert sections[0] in {VERSION, "Unreleased"}


def test_the_lock_file_of_python_does_not_repeat_the_version() -> None:
    packages = tomllib.loads(read("uv.lock"))["package"]
    ours = {each["name"]: each for each in packages if each["name"].startswith("wirelab")}
    assert ours.keys() == {"wirelab", "wirelab-energy"}
    assert not [name for name, package in ours.items() if "version" in package]
