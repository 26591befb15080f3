"""The shipped scripts' half of the endpoint contract."""

from __future__ import annotations

import importlib
import json
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

CLIENTS = Path(str(resources.files("wirelab.data").joinpath("clients")))
S = 10**9
TELEMETRY = {
    "kind": "telemetry", "message_bytes": 30, "exchanges": 3, "concurrency": 1, "timeout_ns": S,
    "arrival": {"process": "periodic", "interval_ns": 600 * S}, "connection": {"policy": "new"},
}  # fmt: skip
RETRY = {
    "first_ns": 2 * S, "factor_percent": 200, "longest_ns": 300 * S, "jitter_percent": 20, "keep_ns": 43_200 * S,
    "backlog": 100,
}  # fmt: skip


@pytest.mark.parametrize(("workload", "code"), [(TELEMETRY, 0), (TELEMETRY | {"retry": RETRY}, 3)])
def test_a_script_keeps_no_message(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    workload: dict[str, Any],
    code: int,
) -> None:
    monkeypatch.syspath_prepend(str(CLIENTS))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    contract = importlib.import_module("contract")
    file = tmp_path / "parameters.json"
    server = {"address": "127.0.0.1", "port": 1, "name": "server.test"}
    parameters = {"protocol": "coap", "role": "client", "server": server, "settings": {}, "workload": workload}
    file.write_text(json.dumps({**parameters, "output": str(tmp_path), "seed": 1}), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["client", str(file)])
    if code == 0:
        assert contract.Parameters(str(file)).workload == workload
        return
    with pytest.raises(SystemExit) as ended:
        contract.main(lambda _: object())
    assert ended.value.code == code
    assert capsys.readouterr().err.startswith("retry: ")
