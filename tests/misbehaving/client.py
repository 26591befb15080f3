"""A client of HTTP/1.1 that does not do what it says: `client.py MISBEHAVIOUR PARAMETERS` (docs/contract.md).

`nothing` sends nothing. `few` sends half of each message. `times` says that each exchange took a twentieth of its time.
`cache` sends the first message only, and answers the others from its memory. `other` sends other bytes. `headers` sends
a GET with fields as long as the message.
`honest` does what it says.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def main(misbehaviour: str, parameters: Path) -> None:
    """Perform a telemetry workload, or not."""
    given = json.loads(parameters.read_text(encoding="utf-8"))
    workload, server = given["workload"], given["server"]
    rows = [exchange(misbehaviour, index, server, workload["message_bytes"]) for index in range(workload["exchanges"])]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (Path(given["output"]) / "exchanges.jsonl").write_text(lines, encoding="utf-8")
    print(f"{misbehaviour}: all went well", file=sys.stderr)


def exchange(misbehaviour: str, index: int, server: Row, message_bytes: int) -> Row:
    """A row that says that a message was sent and answered."""
    start_ns, local_port = time.monotonic_ns(), None
    if misbehaviour == "nothing" or (misbehaviour == "cache" and index > 0):
        time.sleep(0.05)
    elif misbehaviour == "headers":
        local_port = get(server, message_bytes)
    else:
        byte = b"y" if misbehaviour == "other" else b"x"
        local_port = send(server, message_bytes, message_bytes // 2 if misbehaviour == "few" else message_bytes, byte)
    took_ns = time.monotonic_ns() - start_ns
    return {
        "index": index,
        "intended_start_ns": start_ns,
        "start_ns": start_ns,
        "end_ns": start_ns + (took_ns // 20 if misbehaviour == "times" else took_ns),
        "outcome": "completed",
        "body_sent_bytes": message_bytes,
        "local_port": local_port,
    }


def send(server: Row, announced: int, sent: int, byte: bytes) -> int:
    """Send so many bytes of a message on a connection of its own, and read the answer if all were sent; its port."""
    with socket.create_connection((server["address"], server["port"])) as connection:
        head = f"POST /upload HTTP/1.1\r\nHost: {server['name']}\r\nContent-Length: {announced}\r\n\r\n"
        connection.sendall(head.encode() + byte * sent)
        if sent == announced:
            connection.recv(4096)
        return int(connection.getsockname()[1])


def get(server: Row, padding: int) -> int:
    """Ask for something else, with so many bytes of fields, on a connection of its own; its port."""
    with socket.create_connection((server["address"], server["port"])) as connection:
        head = f"GET /bytes/1 HTTP/1.1\r\nHost: {server['name']}\r\nX-Padding: {'x' * padding}\r\n\r\n"
        connection.sendall(head.encode())
        connection.recv(4096)
        return int(connection.getsockname()[1])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
