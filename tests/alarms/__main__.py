"""`python -m tests.alarms FOLDER [EQUAL] [LONGER]`: how often `compare` finds a change in real time.

EQUAL runs have two sides that are the same program, compared without a margin: what is found is a false alarm. LONGER
runs are of raw TCP over links of 20 and 23 ms: what is not found is missed. The same command continues.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.alarms.rates import Alarm, faults, rate

EQUAL, LONGER = 200, 20
SERVER = """
import http.server, sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
"""
PROGRAM = """
[{name}]
title = "The same server"
about = "One side."
homepage = ""
install = "it is in this folder"
version_command = ["true"]
[{name}.roles.server]
protocols = ["http1"]
command = ["{{{{ python }}}}", "{{{{ beside }}}}/server.py", "{{{{ port }}}}"]
ready = "tcp-connect"
"""
FILE = """
title = "Two sides"
[factors]
{factors}
[links]
"20 ms" = {{ rtt = "20 ms" }}
"23 ms" = {{ rtt = "23 ms" }}
[workload]
kind = "request-response"
{message}
exchanges = 20
[stop]
replicates = 10
"""
OWN = 'protocol = ["http1"]\n"server.implementation" = ["one", "two"]\nlink = ["20 ms"]'
RAW = 'protocol = ["raw-tcp"]\nlink = ["20 ms", "23 ms"]'
SIDES: Mapping[str, tuple[str, str]] = {
    "equal": ("server.implementation", FILE.format(factors=OWN, message='request = { path = "/" }')),
    "longer": ("link", FILE.format(factors=RAW, message='upload = "30 B"')),
}
"""What two sides differ in, and their experiment."""


def main(arguments: Sequence[str]) -> int:
    """The number of faults."""
    folder, equal, longer = _read(arguments)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "server.py").write_text(SERVER)
    (folder / "implementations.toml").write_text("".join(PROGRAM.format(name=name) for name in ("one", "two")))
    alarms = [*_compared(folder, "equal", equal, margin="0 %"), *_compared(folder, "longer", longer, margin="5 %")]
    for kind in SIDES:
        mine = [each for each in alarms if each.kind == kind]
        verdicts = ", ".join(
            f"{count} {verdict}" for verdict, count in sorted(Counter(e.verdict for e in mine).items())
        )
        print(f"{kind}: {rate(mine)}; {verdicts}")
    wrong = faults(alarms)
    print("\n".join(wrong), file=sys.stderr)
    return len(wrong)


def _read(arguments: Sequence[str]) -> tuple[Path, int, int]:
    defaults = [str(EQUAL), str(LONGER)]
    folder, equal, longer = [*arguments, *defaults[len(arguments) - 1 :]]
    return Path(folder), int(equal), int(longer)


def _compared(folder: Path, kind: str, runs: int, *, margin: str) -> Iterator[Alarm]:
    by, experiment = SIDES[kind]
    file = folder / f"{kind}.toml"
    file.write_text(experiment)
    for number in range(1, runs + 1):
        out = folder / f"{kind}-{number}"
        _wirelab("run", str(file), "--seed", str(number), "--no-probes", "--out", str(out))
        done = _wirelab("compare", str(out), "--by", by, "--margin", margin, "--json", codes=(0, 4, 5))
        yield Alarm(kind, json.loads(done)["verdict"])


def _wirelab(*arguments: str, codes: Sequence[int] = (0,)) -> str:
    done = subprocess.run([sys.executable, "-m", "wirelab", *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in codes:
        raise SystemExit(f"wirelab {' '.join(arguments)}: exit code {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
