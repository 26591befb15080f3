"""The client of a protocol of your own: its whole half of the contract. Replace what is between the two lines."""

import json
import socket
import sys
import time
from pathlib import Path

parameters = json.loads(Path(sys.argv[1]).read_text())
workload, server = parameters["workload"], parameters["server"]
if parameters["protocol"] != "NAME" or workload["kind"] != "telemetry" or workload["connection"]["policy"] != "new":
    print("this client delivers messages over new connections", file=sys.stderr)
    sys.exit(3)  # "I do not do this"

rows = []
for index in range(workload["exchanges"]):
    row = {"index": index, "start_ns": time.monotonic_ns(), "outcome": "completed"}
    row["intended_start_ns"] = row["start_ns"]
    try:
        # ---- your protocol: a message there, and word that it came
        timeout_s = workload["timeout_ns"] / 1e9
        with socket.create_connection((server["address"], server["port"]), timeout=timeout_s) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            row["local_port"] = connection.getsockname()[1]
            row["tcp_connect_ns"] = row["request_start_ns"] = time.monotonic_ns()
            connection.sendall(b"x" * (workload["message_bytes"] - 1) + b"\n")
            row["body_sent_bytes"] = workload["message_bytes"]
            if connection.recv(1) != b"k":
                row |= {"outcome": "failed", "error": "the server did not say k"}
        # ----
    except TimeoutError:
        row["outcome"] = "timed-out"
    except OSError as error:
        row |= {"outcome": "failed", "error": str(error)}
    row["end_ns"] = time.monotonic_ns()
    rows.append(json.dumps(row) + "\n")

Path(parameters["output"], "exchanges.jsonl").write_text("".join(rows))
