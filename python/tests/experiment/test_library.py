import re
from typing import Any

import pytest

from wirelab.experiment.library import experiment_names, implementations, profiles
from wirelab.experiment.link import LinkTable, check_conflicts, link_spec
from wirelab.schema import registered


def leaves(table: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(table, dict):
        return [path]
    return [leaf for key, value in table.items() for leaf in leaves(value, (*path, key))]


@pytest.mark.parametrize("name", sorted(profiles()))
def test_no_number_of_a_profile_lacks_its_source(name: str) -> None:
    profile = profiles()[name]
    assert set(profile.sources) == {".".join(leaf) for leaf in leaves(profile.link)}
    assert all(len(source) >= len("the same") for source in profile.sources.values())


@pytest.mark.parametrize("name", sorted(profiles()))
def test_a_source_that_refers_back_has_something_to_refer_to(name: str) -> None:
    assert not next(iter(profiles()[name].sources.values())).startswith("the same")


@pytest.mark.parametrize("name", sorted(profiles()))
def test_a_profile_is_a_link(name: str) -> None:
    check_conflicts(profiles()[name].link)
    assert link_spec(LinkTable.model_validate(profiles()[name].link)).uplink


@pytest.mark.parametrize("name", sorted(profiles()))
def test_a_profile_names_no_number_that_it_does_not_have(name: str) -> None:
    profile = profiles()[name]
    known = " ".join(str(value) for value in _values(profile.link)) + profile.about
    for number in re.findall(r"\d+(?:\.\d+)?(?= (?:ms|[kM]bit/s))", profile.title):
        assert number in known


def test_the_shipped_experiments_are_listed_without_their_claims() -> None:
    assert experiment_names() == ("milosevic2021", "milosevic2021-choices", "quickstart")


def test_foreign_implementations_name_registered_stacks() -> None:
    known = {stack.name for stack in registered().stacks}
    for program in implementations().values():
        assert program.stacks
        assert {stack for stacks in program.stacks.values() for stack in stacks} <= known


def test_an_implementation_serves_the_roles_it_lists() -> None:
    curl = implementations()["curl"]
    assert curl.serves("client", "http1")
    assert not curl.serves("server", "http1")
    assert curl.roles("h3") == ()


def _values(table: Any) -> list[Any]:
    return [inner for value in table.values() for inner in (_values(value) if isinstance(value, dict) else [value])]
