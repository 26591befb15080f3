"""Size of the least endpoint binary of each protocol, built for size and stripped.

    bench/footprint            every protocol
    bench/footprint h2 http1   some

Each binary is `crates/wirelab-stacks/examples/footprint.rs` with one protocol in all its roles, and what every endpoint
needs; `none` is that without a protocol, which the others add to.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence

from bench.build import ROOT, compiler, target
from bench.results import Cell, table

PROFILE = "footprint"
NONE = "none"
COLUMNS = ("protocol", "kB", "kB beyond none", "of http1's")
_PLACE = "WIRELAB_FOOTPRINT_PROTOCOL"
_BASE = "http1"


def protocols() -> list[str]:
    """In the order of the registry, which `schema/protocols.json` keeps."""
    document = json.loads((ROOT / "schema" / "protocols.json").read_text(encoding="utf-8"))
    return [str(protocol["name"]) for protocol in document["protocols"]]


def size(protocol: str, profile: str) -> int:
    """Bytes of the binary with this protocol alone."""
    environment = {name: value for name, value in os.environ.items() if name != _PLACE}
    if protocol != NONE:
        environment[_PLACE] = str(protocols().index(protocol))
    words = ["cargo", "build", "--locked", "--quiet", f"--profile={profile}", "--package=wirelab-stacks"]
    subprocess.run([*words, "--example=footprint"], cwd=ROOT, env=environment, check=True)
    built = target() / ("debug" if profile == "dev" else profile) / "examples" / "footprint"
    return built.stat().st_size


def rows(sizes: dict[str, int]) -> list[tuple[Cell, ...]]:
    """For a table: kilobytes, beyond those without a protocol, and as a share of what HTTP/1.1 adds."""
    floor = sizes[NONE]
    base = sizes[_BASE] - floor if _BASE in sizes else None
    return [
        (name, whole / 1e3, (whole - floor) / 1e3, None if base is None else (whole - floor) / base)
        for name, whole in sizes.items()
    ]


def main(words: Sequence[str] | None = None) -> int:
    """`bench/footprint`."""
    arguments = argparse.ArgumentParser(description="Size of the least endpoint binary of each protocol.")
    arguments.add_argument("protocols", nargs="*", metavar="PROTOCOL", help="these alone; all without any")
    arguments.add_argument("--profile", default=PROFILE, help="cargo's profile (default: footprint)")
    given = arguments.parse_args(words)
    if unknown := sorted(set(given.protocols) - set(protocols())):
        print(f"no protocol {', '.join(unknown)}; there are {', '.join(protocols())}", file=sys.stderr)
        return 2
    sizes = {}
    for name in (NONE, *(given.protocols or protocols())):
        sizes[name] = size(name, given.profile)
        print(f"{name}: {sizes[name]} bytes", file=sys.stderr, flush=True)
    print(f"{compiler()}; profile {given.profile}")
    print(table(COLUMNS, rows(sizes)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
