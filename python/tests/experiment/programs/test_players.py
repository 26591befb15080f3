"""Who plays which role, by what a file says of it."""

from pathlib import Path

import pytest

from tests.asked import load_experiment
from tests.described import BASE, load
from wirelab.experiment.programs.settings import ROLES

BOTH = {"client": "builtin", "server": "builtin"}
ENTRY = """
[{0}]
title = "{0}"
homepage = "here"
install = "it lies here"
version_command = ["true"]
roles.client = {{ protocols = ["h2", "mine"], command = ["true"] }}
roles.server = {{ protocols = ["h2", "mine"], command = ["true"], ready = "event" }}
"""
LAYERS = (
    ("[protocols.h2]", "implementation"),
    ("[protocols.h2]", "server.implementation"),
    ("[factors]", "implementation"),
    ("[factors]", "protocols.h2.implementation"),
    ("[factors]", "server.implementation"),
    ("[factors]", "protocols.h2.server.implementation"),
)
"""Weakest first, above `[endpoints]`."""


def players(folder: Path, *, weakest: int, upto: int) -> dict[str, str]:
    """Of h2, where each layer names a program of its own."""
    (folder / "implementations.toml").write_text("".join(ENTRY.format(f"p{index}") for index in range(len(LAYERS) + 1)))
    tables = {"[protocols.h2]": "", "[factors]": ""}
    for index, (table, path) in enumerate(LAYERS, 1):
        if weakest <= index <= upto:
            tables[table] += f'{path} = "p{index}"\n' if table != "[factors]" else f'"{path}" = ["p{index}"]\n'
    text = BASE.replace("[links.wire]", f"{tables['[factors]']}\n[links.wire]", 1)
    text += f"[protocols.h2]\n{tables['[protocols.h2]']}"
    text += '[endpoints]\nserver = { implementation = "p0" }\n' * (weakest == 0)
    text = text.replace('["http1", "h2"]', '["h2"]')
    [scenario] = load(folder, text).scenarios
    return dict(scenario.implementation)


@pytest.mark.parametrize("upto", range(len(LAYERS) + 1))
def test_the_strongest_layer_chooses_the_servers_implementation(tmp_path: Path, upto: int) -> None:
    assert players(tmp_path, weakest=0, upto=upto)["server"] == f"p{upto}"


@pytest.mark.parametrize(("layer", "client"), list(enumerate(["p1", "builtin", "p3", "p4", "builtin", "builtin"], 1)))
def test_choosing_the_server_does_not_change_the_client(tmp_path: Path, layer: int, client: str) -> None:
    assert players(tmp_path, weakest=layer, upto=layer) == {"client": client, "server": f"p{layer}"}


@pytest.mark.parametrize("role", ROLES)
def test_a_role_of_one_protocol_can_be_set_back_to_builtin(tmp_path: Path, role: str) -> None:
    own = f'[protocols.mqtt]\nimplementation = "mosquitto"\n{role}.implementation = "builtin"\n'
    file = tmp_path / "mine.toml"
    file.write_text(f'title = "?"\nfactors.protocol = ["mqtt", "http1"]\nworkload.kind = "telemetry"\n{own}')
    mqtt, http1 = (dict(each.implementation) for each in load_experiment(str(file)).scenarios)
    assert mqtt == {**dict.fromkeys(ROLES, "mosquitto"), role: "builtin"}
    assert http1 == BOTH


def test_the_server_of_one_protocol_can_be_varied_and_changes_no_other_protocol(tmp_path: Path) -> None:
    text = BASE.replace("[links.wire]", '"protocols.h2.server.implementation" = ["builtin", "nginx"]\n[links.wire]', 1)
    scenarios = load(tmp_path, text).scenarios
    assert [(each.name, each.protocol, each.implementation["server"]) for each in scenarios] == [
        ("http1", "http1", "builtin"),
        ("h2, builtin", "h2", "builtin"),
        ("h2, nginx", "h2", "nginx"),
    ]
    assert all(each.implementation["client"] == "builtin" for each in scenarios)


def test_a_user_defined_protocols_table_chooses_between_two_programs(tmp_path: Path) -> None:
    protocol = (
        '[protocols.mine]\ntitle = "Mine"\nabout = "Mine."\ntransport = "tcp"\nport = 7007\nworkloads = ["telemetry"]\n'
    )
    (tmp_path / "implementations.toml").write_text(protocol + ENTRY.format("one") + ENTRY.format("other"))
    file = tmp_path / "mine.toml"
    own = '[protocols.mine]\nimplementation = "one"\nclient.implementation = "other"\n'
    file.write_text(f'title = "?"\nfactors.protocol = ["mine"]\nworkload.kind = "telemetry"\n{own}')
    [scenario] = load_experiment(str(file)).scenarios
    assert dict(scenario.implementation) == {"client": "other", "server": "one"}
