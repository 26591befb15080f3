"""CoAP by libcoap's example server, which serves what was put to it: `/upload` and `/bytes/N` are, before it is ready.

usage: libcoap_server.py PARAMETERS PAYLOAD OPTIONS...

They are put by libcoap's client in the clear, from the server's own host, so nothing of it is on the link.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

SERVER, CLIENT = "coap-server-openssl", "coap-client-openssl"
TIED = ("setpriv", "--pdeathsig", "KILL", "--")
TIMEOUT_S = 15
SECURE = {"coaps", "coaps+tcp"}


def _put(url: str, path: str) -> bool:
    """Make a resource; true if libcoap's client, which exits with 0 whatever came, logs a response of success."""
    command = [CLIENT, "-v", "7", "-B", "2", "-m", "put", "-f", path, url]
    said = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return " c:2.0" in said.stdout + said.stderr


def main() -> int:
    """Its exit code, or 0 if it was asked to end."""
    file, payload, *options = sys.argv[1:]
    parameters = json.loads(Path(file).read_text(encoding="utf-8"))
    address, port = parameters["server"]["address"], parameters["server"]["port"]
    workload = parameters["workload"]
    plain = port - 1 if parameters["protocol"] in SECURE else port
    command = [*TIED, SERVER, "-A", address, "-p", str(plain), "-d", "20", *options]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    asked: list[int] = []

    def hand_on(number: int, _frame: object) -> None:
        asked.append(number)
        server.send_signal(number)

    signal.signal(signal.SIGTERM, hand_on)
    host = f"[{address}]" if ":" in address else address
    paths = [f"bytes/{workload['download_bytes']}"] if workload.get("download_bytes") else []
    upload = Path(payload).with_name("before")
    upload.write_bytes(b"-")
    give_up = time.monotonic() + TIMEOUT_S
    for path, content in [("upload", str(upload)), *((path, payload) for path in paths)]:
        while not _put(f"coap://{host}:{plain}/{path}", content):
            if server.poll() is not None or time.monotonic() > give_up:
                print(f"/{path} could not be put to it", file=sys.stderr)
                return server.returncode or 1
    print(json.dumps({"event": "ready", "ports": {"main": port}}), flush=True)
    server.wait()
    return 0 if asked else server.returncode


if __name__ == "__main__":
    sys.exit(main())
