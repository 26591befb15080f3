"""Runs a server that tells in words when it is ready, and says so as the contract has it.

usage: says_ready.py PORT REGEX PROGRAM ARGUMENTS...

What it prints goes to stderr; from the line on that matches it is ready. SIGTERM is handed on.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys

TIED = ("setpriv", "--pdeathsig", "KILL", "--")


def main() -> int:
    """Run it; its exit code is ours, or 0 if it was asked to end."""
    port, expected, *command = sys.argv[1:]
    asked: list[int] = []
    with subprocess.Popen(
        [*TIED, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as server:

        def hand_on(number: int, _frame: object) -> None:
            asked.append(number)
            server.send_signal(number)

        signal.signal(signal.SIGTERM, hand_on)
        assert server.stdout is not None
        ready = False
        for line in server.stdout:
            sys.stderr.write(line)
            if not ready and re.search(expected, line):
                ready = True
                print(json.dumps({"event": "ready", "ports": {"main": int(port)}}), flush=True)
    return 0 if asked else server.returncode


if __name__ == "__main__":
    sys.exit(main())
