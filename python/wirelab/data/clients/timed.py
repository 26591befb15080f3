"""Runs a program once, for an exchange, and says when it ended and whether a line of its output was as expected.

usage: timed.py [--expect REGEX] [--status REGEX] PROGRAM ARGUMENTS...

For programs that tell nothing but words and an exit code. `--expect`: a line of stdout or stderr must match.
`--status`: its first group is the status code.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1


def end_with_me() -> None:
    """A wrapper that is killed at the time-out must not leave its program on the link."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> int:
    """Run it; its exit code is ours."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--expect")
    parser.add_argument("--status")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    start = time.monotonic()
    done = subprocess.run(
        options.command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        preexec_fn=end_with_me,
    )
    report: dict[str, object] = {"end_s": time.monotonic() - start}
    words = f"{done.stdout}\n{done.stderr}"
    if options.status and (found := re.search(options.status, words, re.MULTILINE)):
        report["status"] = int(found[1])
    elif options.status:
        report |= {"outcome": "failed", "error": f"no status in what it said: {words.strip()[-200:]}"}
    if options.expect and not re.search(options.expect, words, re.MULTILINE):
        report |= {"outcome": "failed", "error": f"did not say {options.expect}: {words.strip()[-200:]}"}
    print(json.dumps(report))
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
