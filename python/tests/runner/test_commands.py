"""Commands, variables and files of every shipped program, compared with `golden/commands/`.

A case that is not listed there is equal to the same case with default settings. Whether the programs work is tested in
`tests/interop`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from difflib import unified_diff
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.runner.fakes import addresses, make_plan
from tests.snapshots import FOLDER, assert_golden
from wirelab.runner.barriers import program_barrier
from wirelab.runner.endpoints import Endpoints
from wirelab.runner.implementations import load
from wirelab.runner.pages import MadePage
from wirelab.schema import (
    Certificates,
    ChoiceValues,
    Fixed,
    IntegerValues,
    PageFiles,
    PageIdentity,
    PageLoads,
    PubSub,
    RequestResponse,
    Role,
    SettingDescription,
    Stream,
    Telemetry,
    WorkloadSpec,
    registered,
)
from wirelab.schema.plan import Implementations, Scenario
from wirelab.site.manifest import Kind, Resource, Site

NUMBERS = {
    "initial-window-size": 4095, "connection-window": 131_071, "header-table-size": 0, "enable-push": 0,
    "max-concurrent-streams": 7, "max-header-list-size": 5000,
}  # fmt: skip
PATHS = [
    ("/index.html", "text/html", Kind.DOCUMENT), ("/a%20b.css?v=1", "text/css", Kind.STYLESHEET),
    ("/x.js", "text/javascript", Kind.SCRIPT), ("/1.jpg", "image/jpeg", Kind.IMAGE),
    ("/i/2.jpg", "image/jpeg", Kind.IMAGE), ("/f.woff2", "font/woff2", Kind.FONT), ("/bare", "text/plain", Kind.OTHER),
]  # fmt: skip
SITE = Site(
    resources=tuple(
        Resource(path=path, body_bytes=9, sha256="0" * 64, media_type=media, kind=kind, parent=0 if index else None)
        for index, (path, media, kind) in enumerate(PATHS)
    )
)
PAGE = PageIdentity(name="seven", sha256=SITE.digest, resources=7, body_bytes=63)
ASKING: dict[str, Any] = (
    make_plan(1, 1).scenarios[0].workload.model_dump(exclude={"kind", "upload_bytes", "download_bytes"})
)
WORKLOADS: dict[str, WorkloadSpec] = {
    "up": RequestResponse(upload_bytes=30, download_bytes=0, **ASKING),
    "down": RequestResponse(upload_bytes=0, download_bytes=200, **ASKING),
    "both": RequestResponse(upload_bytes=30, download_bytes=200, **ASKING),
    "sizes in turn": RequestResponse(upload_bytes=0, download_bytes=(7000, 6), **ASKING),
    "telemetry": Telemetry(message_bytes=30, **ASKING),
    "pubsub": PubSub(message_bytes=30, messages=9, arrival=Fixed(rate_hz=1), timeout_ns=10**9),
    "stream": Stream(message_bytes=30, messages=9, rate_hz=1, playout_delay_ns=0, timeout_ns=10**9),
    "page": PageLoads(loads=2, timeout_ns=10**9, page=PAGE),
}
KEPT = {path.stem for path in (FOLDER / "commands").glob("*.txt")}
"""The others are started with every setting as well, and compared with nothing."""
PROGRAMS = load(None)
ROLES = [
    (name, role.value, protocol)
    for name, program in sorted(PROGRAMS.items())
    for role in (Role.CLIENT, Role.SERVER)
    if (entry := program.role(role)) is not None
    for protocol in entry.protocols
]


@pytest.mark.parametrize("name", sorted({name for name, _, _ in ROLES}))
def test_the_command_and_files_of_a_shipped_program_match_the_golden_ones(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wirelab.runner.endpoints.find_program", lambda program: f"/found/{program}")
    monkeypatch.setattr("wirelab.runner.implementations.find_program", lambda program: program)
    monkeypatch.setattr("wirelab.runner.implementations.find_spec", lambda module: module)
    cases: dict[str, list[str]] = {}
    for played, role, protocol in ROLES:
        if played != name:
            continue
        for index, (workload, changed, scenario) in enumerate(_scenarios(name, role, protocol)):
            text = json.dumps(_started(scenario, role, tmp_path / f"{role} {protocol} {index}"), indent=1)
            if not changed:
                defaults = text
            else:
                text = "\n".join(unified_diff(defaults.splitlines(), text.splitlines(), "defaults", "", "", "", 0, ""))
            if text:
                label = ", ".join([role, protocol, workload, *(f"{key} = {value}" for key, value in changed.items())])
                cases.setdefault(text, []).append(label)
    kept = ["\n".join([*labels, text, ""]) for text, labels in cases.items()]
    if name in KEPT or os.environ.get("WIRELAB_UPDATE_GOLDEN") == "1":
        assert_golden(f"commands/{name}.txt", "\n".join(kept))


def test_every_golden_command_is_of_a_shipped_program() -> None:
    assert KEPT
    assert {name for name, _, _ in ROLES} >= KEPT


def _scenarios(name: str, role: str, protocol: str) -> Iterator[tuple[str, dict[str, Any], Scenario]]:
    """Every workload with the defaults, with each other value of each setting that the role takes, and with pairs."""
    [one] = make_plan(1, 1).scenarios
    described = registered().protocol(protocol)
    assert described is not None
    entry = PROGRAMS[name].role(Role(role))
    assert entry is not None
    taken = [setting for setting in described.settings if setting.name in entry.settings]
    defaults = {setting.name: setting.default for setting in described.settings}
    changes: list[dict[str, Any]] = [{}]
    changes += [{setting.name: value} for setting in taken for value in _values(setting)]
    changes += [
        {each.name: value, other.name: last}
        for each, other in product(taken, taken)
        if each.name in ("tls", "hints") and other.name not in ("tls", "hints", "certificate-key")
        for value in _values(each)
        for last in _values(other)[-1:]
    ]
    players = Implementations(**{"client": "builtin", "server": "builtin", role: name})
    for workload, changed in product(WORKLOADS, changes):
        update = {
            "protocol": protocol, "settings": defaults | changed,
            "implementation": players, "workload": WORKLOADS[workload],
        }  # fmt: skip
        yield workload, changed, one.model_copy(update=update)


def _values(setting: SettingDescription) -> list[Any]:
    if setting.name == "certificate-key":
        return ["ed25519"]
    match setting.values:
        case ChoiceValues(choices=choices):
            return [choice for choice in choices if choice != setting.default]
        case IntegerValues():
            return [0, 2] if setting.name == "qos" else [NUMBERS[setting.name]]
    return [not setting.default]


def _started(scenario: Scenario, role: str, folder: Path) -> dict[str, Any]:
    """The process of a role with its files; or why its entry refuses the scenario."""
    if (barrier := program_barrier(scenario, PROGRAMS, registered())) is not None:
        return {"refused": barrier.error}
    key = str(scenario.settings.get("certificate-key", "ecdsa-p256"))
    pem = Certificates(authority=Path("/pem/a.pem"), chain=Path("/pem/c.pem"), key=Path("/pem/k.pem"))
    page = MadePage(SITE, PageFiles(manifest=Path("/page/manifest.json"), folder=Path("/page/site")))
    endpoints = Endpoints(
        Path("/agent"), PROGRAMS, {key: pem}, addresses("10.0.0.2", "fd00::2"), pages={SITE.digest: page}
    )
    [block] = make_plan(1, 1).blocks
    request = endpoints.request(scenario, block.trials[0], 3, folder)
    [process] = [each for each in request.endpoints if each.name == role]
    scripts = str(resources.files("wirelab.data").joinpath("clients"))

    def plain(text: str) -> str:
        for path, word in ((str(folder), "FOLDER"), (scripts, "SCRIPTS"), (sys.executable, "PYTHON")):
            text = text.replace(path, word)
        return text

    files = {
        path.relative_to(folder / role).as_posix(): plain(path.read_text()) if path.stat().st_size else ""
        for path in sorted((folder / role).rglob("*"))
        if path.is_file() and path.name != "parameters.json"
    }
    payload = {name: f"{len(text)} B" for name, text in files.items() if not text.strip("\0")}
    return {
        "command": [plain(word) for word in process.command],
        "environment": {key: plain(value) for key, value in process.environment.items()},
        "files": {name: text.split("\n") for name, text in files.items()} | payload,
    }
