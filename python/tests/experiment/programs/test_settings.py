from pathlib import Path

import pytest

from tests.asked import load_experiment
from tests.described import IDLE, KNOWN, NAGLE, STREAMS, TLS, WINDOW
from wirelab.errors import WirelabError
from wirelab.experiment.programs.settings import describe_default, describe_values, read_setting, resolve_settings
from wirelab.schema import ProtocolDescription, SettingDescription
from wirelab.units import UnitError

H2 = KNOWN.protocol("h2")
assert H2 is not None
_PROTOCOL = H2.model_dump()


def setting(table: dict[str, object]) -> SettingDescription:
    return SettingDescription.model_validate(table)


@pytest.mark.parametrize(
    ("table", "written", "value"),
    [(TLS, "1.2", "1.2"), (NAGLE, True, True), (WINDOW, "64 KiB", 65536), (STREAMS, 7, 7), (IDLE, "5 s", 5000)],
)
def test_a_value_is_read_in_the_settings_unit(table: dict[str, object], written: object, value: object) -> None:
    assert read_setting(setting(table), written) == value


@pytest.mark.parametrize(
    ("table", "written"),
    [(TLS, 1.2), (NAGLE, "true"), (NAGLE, 1), (WINDOW, 64), (STREAMS, "7 B"), (STREAMS, True), (STREAMS, 0), (IDLE, 5)],
)
def test_a_value_of_another_kind_is_refused(table: dict[str, object], written: object) -> None:
    with pytest.raises(UnitError):
        read_setting(setting(table), written)


def test_every_setting_is_resolved_and_later_layers_win() -> None:
    assert H2 is not None
    resolved = resolve_settings(H2, [{"tls": "1.2", "nagle": True, "elsewhere": 1}, {"tls": "1.3"}])
    assert resolved == {"nagle": True, "tls": "1.3", "initial-window": 65535, "streams": 1}


def test_values_and_defaults_are_described_with_their_units() -> None:
    described = [
        (describe_values(setting(table)), describe_default(setting(table))) for table in (TLS, NAGLE, IDLE, STREAMS)
    ]
    assert described == [("1.3, 1.2", "1.3"), ("true, false", "false"), ("1 ms to 1 min", "30 s"), ("1 to 100", "1")]


LEFT = {
    "name": "window",
    "about": "Window.",
    "values": {"type": "integer", "minimum": 1, "maximum": 65_535, "unit": "bytes", "words": ["default"]},
    "default": "default",
}
PROFILE = {
    "name": "profile",
    "about": "Several at once.",
    "values": {"type": "choice", "choices": ["none", "small"]},
    "default": "none",
    "stands_for": {"small": {"window": 512, "elsewhere": 1}},
}


def test_a_number_may_be_left_to_the_library() -> None:
    left = setting(LEFT)
    assert [read_setting(left, written) for written in ("default", "4 KiB")] == ["default", 4096]
    assert (describe_values(left), describe_default(left)) == ("1 B to 65535 B, default", "default")
    for written in ("most", "0 B", 7):
        with pytest.raises(UnitError):
            read_setting(left, written)
    with pytest.raises(UnitError) as caught:
        read_setting(left, "64 KiB")
    assert caught.value.hint == "1 B to 65535 B or 'default'"


def test_a_profile_sets_values_that_are_left_to_the_library() -> None:
    protocol = ProtocolDescription.model_validate(_PROTOCOL | {"settings": [PROFILE, LEFT]})
    assert resolve_settings(protocol, [{"profile": "small"}]) == {"profile": "small", "window": 512}
    given = resolve_settings(protocol, [{"profile": "small", "window": "1 B"}])
    assert given == {"profile": "small", "window": 1}
    assert resolve_settings(protocol, []) == {"profile": "none", "window": "default"}


NOTIFY = """
title = "Test"
[factors]
protocol = [{protocols}]
{factor}
[link]
rtt = "20 ms"
[workload]
kind = "pubsub"
message = "30 B"
{table}
"""


def refused(folder: Path, protocols: str, *, factor: str = "", table: str = "") -> str:
    file = folder / "test.toml"
    file.write_text(NOTIFY.format(protocols=protocols, factor=factor, table=table))
    with pytest.raises(WirelabError) as caught:
        load_experiment(str(file))
    return str(caught.value)


def test_a_value_that_one_protocol_takes_and_another_does_not_names_both(tmp_path: Path) -> None:
    both = '"http1", "h2"'
    for reported in (
        refused(tmp_path, both, table='[protocol]\nnotification = "push"'),
        refused(tmp_path, both, factor='"protocol.notification" = ["long-poll", "push"]'),
    ):
        assert 'unknown value of http1 ("push")' in reported
        assert "h2 has it: set it for that protocol only, in [protocols.h2]" in reported


def test_a_value_is_read_by_the_experiments_protocols_only(tmp_path: Path) -> None:
    file = tmp_path / "test.toml"
    file.write_text(NOTIFY.format(protocols='"h2"', factor="", table='[protocol]\nnotification = "push"'))
    [scenario] = load_experiment(str(file)).scenarios
    assert scenario.settings["notification"] == "push"


def test_a_factors_path_without_quotes_is_refused_with_the_correct_form(tmp_path: Path) -> None:
    reported = refused(tmp_path, '"http1"', factor='server.implementation = ["builtin", "nginx"]')
    assert 'one key, in quotes: "server.implementation" = ["builtin", "nginx"]' in reported
