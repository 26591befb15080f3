"""A stack of your own: the whole client's half of the contract in 40 lines. Copy it; docs/guide/own-stack.md leads on.

It asks over TCP, one line for each exchange, and wants one line back. Its server is any that does so.
"""

import json
import socket
import sys
import time
from pathlib import Path

parameters = json.loads(Path(sys.argv[1]).read_text())
workload, server = parameters["workload"], parameters["server"]
if (workload["kind"], workload["arrival"]["process"], workload["connection"]["policy"]) != (
    "deliver",
    "closed",
    "fresh",
):
    print("this client delivers one message after another over fresh connections", file=sys.stderr)
    sys.exit(3)  # "I do not do this"

rows = []
for index in range(workload["exchanges"]):
    row = {"index": index, "start_ns": time.monotonic_ns(), "outcome": "completed"}
    row["intended_start_ns"] = row["start_ns"]
    try:
        timeout_s = workload["timeout_ns"] / 1e9
        with socket.create_connection((server["address"], server["port"]), timeout=timeout_s) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            row["tcp_connect_ns"] = row["request_start_ns"] = time.monotonic_ns()
            row["local_port"] = connection.getsockname()[1]
            connection.sendall(b"x" * (workload["message_bytes"] - 1) + b"\n")
            row["body_sent_bytes"] = workload["message_bytes"]
            if connection.makefile("rb").readline() != b"ok\n":
                row |= {"outcome": "failed", "error": "the server did not say ok"}
    except TimeoutError:
        row["outcome"] = "timed-out"
    except OSError as error:
        row |= {"outcome": "failed", "error": str(error)}
    row["end_ns"] = time.monotonic_ns()
    rows.append(json.dumps(row))

Path(parameters["output"], "exchanges.jsonl").write_text("\n".join(rows) + "\n")
