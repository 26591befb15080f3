"""One side of a load: runs commands in parallel and says what each took. `python -m bench.side COMMANDS`

COMMANDS is JSON: a list of commands, each a list of words. What each prints is in `out-N.txt` of the working folder.
Prints JSON: how long all took together, and of each its CPU time and exit code. SIGTERM is handed on to all.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def main() -> int:
    """1 if a command failed."""
    commands = json.loads(sys.argv[1])
    began = time.monotonic()
    started = {}
    for number, words in enumerate(commands):
        with Path(f"out-{number}.txt").open("wb") as out:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        # Forgotten, it would be waited for by `Popen` itself if it has ended already.
        started[process.pid] = number, process
    ended = []

    def stop(*_signal: object) -> None:
        for _, process in started.values():
            process.terminate()

    signal.signal(signal.SIGTERM, stop)
    while started:
        pid, status, used = os.wait4(-1, 0)
        number, process = started.pop(pid)
        process.returncode = code = os.waitstatus_to_exitcode(status)
        ended.append({"number": number, "user_s": used.ru_utime, "system_s": used.ru_stime, "code": code})
    print(json.dumps({"wall_s": time.monotonic() - began, "commands": ended}))
    return 1 if any(each["code"] for each in ended) else 0


if __name__ == "__main__":
    sys.exit(main())
