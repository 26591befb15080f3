"""Protocols of the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.errors import CombinedError, WirelabError
from wirelab.experiment.programs.own_protocols import own_protocols
from wirelab.plan import make_plan
from wirelab.schema import ChoiceValues, IntegerValues

PROTOCOL = """
[protocols.mine]
title = "Mine over TCP"
transport = "tcp"
port = 7007
[protocols.mine.settings.window]
about = "Bytes."
default = 10
minimum = 1
maximum = 100
unit = "bytes"
[protocols.mine.settings.mode]
about = "How."
default = "slow"
choices = ["slow", "fast"]
"""
PROGRAM = """
[{name}]
title = "Mine"
homepage = "https://example.org"
install = "it is here"
version_command = ["true"]
[{name}.roles.{role}]
protocols = ["mine"]
settings = ["mode", "window"]
command = ["true"]
{more}
"""
EXPERIMENT = """
title = "Mine"
[factors]
protocol = ["raw-tcp", "mine"]
[workload]
kind = "telemetry"
{more}
"""


def write(folder: Path, *programs: tuple[str, str], more: str = "", protocol: str = PROTOCOL) -> str:
    entries = [
        PROGRAM.format(name=name, role=role, more='ready = "event"' if role == "server" else "")
        for name, role in programs
    ]
    (folder / "implementations.toml").write_text(protocol + "".join(entries))
    path = folder / "experiment.toml"
    path.write_text(EXPERIMENT.format(more=more))
    return str(path)


def test_user_defined_settings_are_read_as_those_of_a_builtin_protocol(tmp_path: Path) -> None:
    write(tmp_path)
    [protocol] = own_protocols(tmp_path)
    assert isinstance(protocol.settings[0].values, IntegerValues)
    assert isinstance(protocol.settings[1].values, ChoiceValues)
    assert not protocol.builtin


def test_the_only_program_of_a_protocol_takes_each_role_by_default(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, ("one", "client"), ("other", "server")))
    assert {each.protocol: dict(each.implementation) for each in experiment.scenarios} == {
        "raw-tcp": {"client": "builtin", "server": "builtin"},
        "mine": {"client": "one", "server": "other"},
    }


def test_a_plan_contains_a_user_defined_protocol_so_that_it_runs_elsewhere(tmp_path: Path) -> None:
    plan = make_plan(load_experiment(write(tmp_path, ("one", "client"), ("other", "server"))))
    assert [protocol.name for protocol in plan.protocols] == ["mine"]
    assert plan.known.protocol("mine") is not None


def test_a_role_with_no_program_or_several_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="no programs play the server of mine"):
        load_experiment(write(tmp_path, ("one", "client")))
    with pytest.raises(WirelabError, match="2 programs play the client of mine"):
        load_experiment(write(tmp_path, ("one", "client"), ("two", "client"), ("other", "server")))


def test_all_errors_are_reported_together_with_their_keys(tmp_path: Path) -> None:
    write(tmp_path, protocol=PROTOCOL.replace('"tcp"', '"sctp"').replace("7007", "70000"))
    with pytest.raises(CombinedError) as caught:
        own_protocols(tmp_path)
    assert "protocols.mine.transport" in str(caught.value)
    assert "protocols.mine.port" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("default = 10", "default = 1000", "settings.window.default: is out of range (1000)\nhint: 1 to 100"),
        ("default = 10", "default = true", "settings.window.default: should be a whole number (true)"),
        ("default = 10", 'default = "10 ms"', "settings.window.default: "),
        (
            'default = "slow"',
            'default = "slo"',
            'mode.default: unknown value ("slo")',
        ),
        (
            'default = "slow"\nchoices = ["slow", "fast"]',
            'default = "slow"',
            "mode.default: should be true or",
        ),
        ("maximum = 100\n", "", "settings.window.maximum: is missing with minimum"),
        ("minimum = 1\n", "", "settings.window.maximum: has no minimum with it"),
        ("minimum = 1\n", "minimum = 101\n", "settings.window.maximum: is less than minimum, 101"),
        (
            "minimum = 1\n",
            'minimum = 1\nchoices = ["a"]\n',
            "window.maximum: is of a number",
        ),
    ],
)
def test_a_setting_with_invalid_values_or_an_invalid_default_is_refused(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    write(tmp_path, protocol=PROTOCOL.replace(old, new))
    with pytest.raises(WirelabError) as caught:
        own_protocols(tmp_path)
    assert words in str(caught.value)


@pytest.mark.parametrize(("written", "default"), [("10", 10), ('"100 B"', 100)])
def test_a_default_is_in_the_settings_unit_or_has_its_own(tmp_path: Path, written: str, default: int) -> None:
    write(tmp_path, protocol=PROTOCOL.replace("default = 10", f"default = {written}"))
    assert own_protocols(tmp_path)[0].settings[0].default == default


def test_a_user_defined_protocol_cannot_have_a_builtin_name(tmp_path: Path) -> None:
    write(tmp_path, protocol=PROTOCOL.replace("mine", "h2"))
    with pytest.raises(WirelabError, match="is the name of a built-in protocol"):
        own_protocols(tmp_path)
