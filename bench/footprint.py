"""Size of the least endpoint binary of each stack, built for size and stripped.

    bench/footprint            every stack
    bench/footprint h2 http1   some

Each binary is `crates/wirelab-stacks/examples/footprint.rs` with one stack, all of its roles, and what every endpoint
of ours needs; `none` is that without a stack, which the others add to.
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
COLUMNS = ("stack", "kB", "kB beyond none", "of http1's")
_PLACE = "WIRELAB_FOOTPRINT_STACK"
_BASE = "http1"


def stacks() -> list[str]:
    """In the order of the registry, which `schema/stacks.json` keeps."""
    document = json.loads((ROOT / "schema" / "stacks.json").read_text(encoding="utf-8"))
    return [str(stack["name"]) for stack in document["stacks"]]


def size(stack: str, profile: str) -> int:
    """Bytes of the binary with this stack alone."""
    environment = {name: value for name, value in os.environ.items() if name != _PLACE}
    if stack != NONE:
        environment[_PLACE] = str(stacks().index(stack))
    words = ["cargo", "build", "--locked", "--quiet", f"--profile={profile}", "--package=wirelab-stacks"]
    subprocess.run([*words, "--example=footprint"], cwd=ROOT, env=environment, check=True)
    built = target() / ("debug" if profile == "dev" else profile) / "examples" / "footprint"
    return built.stat().st_size


def rows(sizes: dict[str, int]) -> list[tuple[Cell, ...]]:
    """For a table: kilobytes, beyond those without a stack, and as a share of what HTTP/1.1 adds."""
    floor = sizes[NONE]
    base = sizes[_BASE] - floor if _BASE in sizes else None
    return [
        (name, whole / 1e3, (whole - floor) / 1e3, None if base is None else (whole - floor) / base)
        for name, whole in sizes.items()
    ]


def main(words: Sequence[str] | None = None) -> int:
    """`bench/footprint`."""
    arguments = argparse.ArgumentParser(description="Size of the least endpoint binary of each stack.")
    arguments.add_argument("stacks", nargs="*", metavar="STACK", help="these alone; all without any")
    arguments.add_argument("--profile", default=PROFILE, help="cargo's profile (default: footprint)")
    given = arguments.parse_args(words)
    if unknown := sorted(set(given.stacks) - set(stacks())):
        print(f"no stack {', '.join(unknown)}; there are {', '.join(stacks())}", file=sys.stderr)
        return 2
    sizes = {}
    for name in (NONE, *(given.stacks or stacks())):
        sizes[name] = size(name, given.profile)
        print(f"{name}: {sizes[name]} bytes", file=sys.stderr, flush=True)
    print(f"{compiler()}; profile {given.profile}")
    print(table(COLUMNS, rows(sizes)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
