"""A subscriber that receives nothing, and writes that all came: `subscriber.py PARAMETERS` (docs/contract.md)."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main(parameters: Path) -> None:
    """Say that it waits, and write a row for each message."""
    given = json.loads(parameters.read_text(encoding="utf-8"))
    workload = given["workload"]
    print('{"event": "ready", "ports": {}}', flush=True)
    rows = []
    for index in range(workload["messages"]):
        for client in range(workload["subscribers"]):
            now_ns = time.monotonic_ns()
            rows.append({
                "index": index, "client": client, "intended_start_ns": now_ns, "start_ns": now_ns,
                "end_ns": now_ns + 12_000_000, "outcome": "completed", "copies": 1,
                "body_received_bytes": workload["message_bytes"],
            })  # fmt: skip
    time.sleep(0.1)
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (Path(given["output"]) / "exchanges.jsonl").write_text(lines, encoding="utf-8")
    print("subscriber: all went well", file=sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
