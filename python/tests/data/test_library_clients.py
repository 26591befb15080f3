"""The shipped scripts on libraries with threads of their own: nothing of an exchange continues after its timeout."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

CLIENTS = Path(str(resources.files("wirelab.data").joinpath("clients")))
TIMEOUT_S = 60
# From one exchange to the next, of which the time-out is a small part.
APART_S = 12


@pytest.mark.parametrize(("script", "protocol"), [("paho_mqtt.py", "mqtt"), ("proton_amqp.py", "amqp")])
def test_a_connection_to_a_server_that_says_nothing_is_closed_at_the_time_out(
    script: str, protocol: str, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(TIMEOUT_S)
        workload = {
            "kind": "telemetry", "message_bytes": 3, "exchanges": 2, "concurrency": 1, "timeout_ns": 2 * 10**9,
            "arrival": {"process": "fixed", "rate_hz": 1 / APART_S}, "connection": {"policy": "new"},
        }  # fmt: skip
        parameters = {
            "protocol": protocol, "role": "client", "settings": {}, "workload": workload, "certificates": None,
            "server": {"address": "127.0.0.1", "port": server.getsockname()[1], "name": "s"}, "seed": 7,
            "output": str(tmp_path),
        }  # fmt: skip
        (tmp_path / "parameters.json").write_text(json.dumps(parameters))
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, CLIENTS / script, tmp_path / "parameters.json"]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as client:
            try:
                first, _ = server.accept()
                with first:
                    first.settimeout(TIMEOUT_S)
                    while first.recv(4096):
                        pass
                # The next has not begun, so it was not the process's end that closed it.
                server.setblocking(False)
                with pytest.raises(BlockingIOError):
                    server.accept()
                server.settimeout(TIMEOUT_S)
                server.accept()[0].close()
                _, words = client.communicate(timeout=TIMEOUT_S)
            finally:
                client.kill()
    assert client.returncode == 0, words
    rows = [json.loads(line) for line in (tmp_path / "exchanges.jsonl").read_text().splitlines()]
    assert [row["outcome"] for row in rows] == ["timed-out", "failed"]
