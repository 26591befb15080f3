"""A program of the command line as an experiment and an entry of `implementations.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.errors import WirelabError
from wirelab.experiment.own_program import (
    OwnProgram,
    experiment_text,
    implementation_text,
    links_of,
    words_of,
)
from wirelab.experiment.programs.texts import PER_EXCHANGE, render

SERVER = OwnProgram(
    role="server", program="sh -c 'echo {{x}} {port} {address}'", protocols=("http1", "h2c"), over_udp=False,
    links=("clean", "20 ms", "nb-iot"), own_links={"clean": {}, "20 ms": {"rtt": "20 ms"}},
    asked={"method": "GET", "path": "/a?b=1"}, connection="persistent", exchanges=3, download="0 B",
)  # fmt: skip
CLIENT = replace(SERVER, role="client", program="sh -c 'exit 0' {url}", protocols=("http1",), connection="new")


def test_both_files_are_those_of_an_experiment(tmp_path: Path) -> None:
    for tested in (SERVER, CLIENT):
        words = words_of(tested, tmp_path)
        (tmp_path / "implementations.toml").write_text(implementation_text(tested, words, tmp_path))
        (tmp_path / "test.toml").write_text(experiment_text(tested))
        loaded = load_experiment(str(tmp_path / "test.toml"))
        assert len(loaded.scenarios) == len(tested.protocols) * 3
        assert {each.implementation[tested.role] for each in loaded.scenarios} == {"own"}
        assert {each.workload.to_json()["request"]["target"] for each in loaded.scenarios} == {"/a?b=1"}


def test_a_broker_gets_messages(tmp_path: Path) -> None:
    tested = replace(SERVER, protocols=("mqtt",), asked={"topic": "sensors/1"})
    words = words_of(tested, tmp_path)
    (tmp_path / "implementations.toml").write_text(implementation_text(tested, words, tmp_path))
    (tmp_path / "test.toml").write_text(experiment_text(tested))
    for each in load_experiment(str(tmp_path / "test.toml")).scenarios:
        assert each.workload.to_json()["publish"] == {"topic": "sensors/1"}


def test_the_server_runs_in_the_users_folder_with_its_placeholders_filled_in(tmp_path: Path) -> None:
    words = words_of(SERVER, tmp_path)
    entry = tomllib.loads(implementation_text(SERVER, words, tmp_path))["own"]["roles"]["server"]
    assert entry["command"][:3] == ["env", "-C", str(tmp_path)]
    assert entry["command"][-1] == "{% raw %}echo {{x}} {% endraw %}{{ port }} {{ address }}"
    assert entry["ready"] == "tcp-connect"


def test_the_client_gets_the_url_and_its_exit_code_decides(tmp_path: Path) -> None:
    words = words_of(CLIENT, tmp_path)
    entry = tomllib.loads(implementation_text(CLIENT, words, tmp_path))["own"]["roles"]["client"]
    assert entry["per_exchange"][-1] == "{{ scheme }}://{{ host }}:{{ port }}/a?b=1"
    assert (entry["requests"], entry["connections"]) == (True, ["new"])


def _command(tested: OwnProgram, folder: Path) -> list[str]:
    """The last words of the client's command as they are filled in for `tested`'s only scenario over a clean link."""
    (folder / "implementations.toml").write_text(implementation_text(tested, words_of(tested, folder), folder))
    (folder / "test.toml").write_text(experiment_text(tested))
    [scenario] = load_experiment(str(folder / "test.toml")).scenarios
    assert (scenario.implementation["client"], scenario.protocol) == ("own", tested.protocols[0])
    return tomllib.loads((folder / "implementations.toml").read_text())["own"]["roles"]["client"]["per_exchange"]


def test_urls_of_coap_have_its_scheme_and_those_of_a_topic_end_with_it(tmp_path: Path) -> None:
    one = replace(CLIENT, links=("clean",), own_links={"clean": {}})
    coap = replace(one, protocols=("coap",), schemes=("coap",))
    [url] = _command(coap, tmp_path)[-1:]
    assert render(url, {"protocol": "coap", "host": "[::1]", "port": 1, **PER_EXCHANGE}) == "coap://[::1]:1/a?b=1"
    assert render(url, {"protocol": "http1", "host": "h", "port": 1, **PER_EXCHANGE}) == "{scheme}://h:1/a?b=1"
    mqtt = replace(
        one, protocols=("mqtt",), schemes=("mqtt",), asked={"topic": "a/b c"}, program="sh {url} {host} {topic} {file}"
    )
    values = {"protocol": "mqtt", "host": "[::1]", "address": "::1", "port": 1, **PER_EXCHANGE}
    words = [render(word, values) for word in _command(mqtt, tmp_path)[-4:]]
    assert words == ["mqtt://[::1]:1/a/b%20c", "::1", "a/b c", "{upload_file}"]


def test_a_server_over_udp_is_ready_when_its_port_is_bound(tmp_path: Path) -> None:
    text = implementation_text(replace(SERVER, protocols=("coap",), over_udp=True), {"own": ["/bin/sh"]}, tmp_path)
    assert tomllib.loads(text)["own"]["roles"]["server"]["ready"] == "udp-bound"


@pytest.mark.parametrize(
    ("tested", "what"),
    [(replace(SERVER, program="sh -c 'true"), "not a command"), (replace(SERVER, program=""), "no program"),
     (replace(SERVER, program="sh"), "does not get the port"), (replace(CLIENT, program="sh"), "what it asks for"),
     (replace(SERVER, program="./none {port}"), "no program ./none")],
)  # fmt: skip
def test_a_program_that_cannot_be_started_is_refused(tmp_path: Path, tested: OwnProgram, what: str) -> None:
    with pytest.raises(WirelabError, match=what) as raised:
        words_of(tested, tmp_path)
    assert raised.value.hint


def test_a_path_is_sought_in_the_users_folder(tmp_path: Path) -> None:
    (tmp_path / "app").touch()
    assert words_of(replace(SERVER, program="./app {port}"), tmp_path) == {"own": [str(tmp_path / "app"), "{port}"]}


def test_a_program_and_the_one_before_it_are_two_levels_of_one_factor(tmp_path: Path) -> None:
    both = replace(SERVER, before="sh -c 'echo before {port}'")
    words = words_of(both, tmp_path)
    (tmp_path / "implementations.toml").write_text(implementation_text(both, words, tmp_path))
    (tmp_path / "test.toml").write_text(experiment_text(both))
    loaded = load_experiment(str(tmp_path / "test.toml"))
    assert loaded.factors["server.implementation"] == ("before", "own")
    entries = tomllib.loads((tmp_path / "implementations.toml").read_text())
    assert [entries[name]["roles"]["server"]["command"][-1] for name in ("before", "own")] == [
        "echo before {{ port }}", "{% raw %}echo {{x}} {% endraw %}{{ port }} {{ address }}",
    ]  # fmt: skip


def test_a_wrong_program_before_names_its_option(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match=r"--against: no program ./none"):
        words_of(replace(SERVER, before="./none {port}"), tmp_path)


def test_links_are_names_round_trips_or_files(tmp_path: Path) -> None:
    found = links_of(["clean", "50 ms", "./mine.toml", "nb-iot", "4g-bad"], tmp_path)
    profile = {"profile": str(tmp_path / "mine.toml")}
    assert found == {"clean": {}, "50 ms": {"rtt": "50 ms"}, "./mine.toml": profile}
    for name, what in (("cleam", "unknown link"), ("4g-bda", "unknown link"), ("5 foo", "unknown unit")):
        with pytest.raises(WirelabError, match=what):
            links_of([name], tmp_path)
