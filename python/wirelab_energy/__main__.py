"""`wirelab-energy`: what a power meter's trace says, from the command line. The only place that prints or exits."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from wirelab_energy.errors import WirelabError
from wirelab_energy.trace.answer import Sections, TraceAnswer
from wirelab_energy.units import UnitError, duration_ns, voltage_v

_Read = TypeVar("_Read")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0, or 2 for what cannot be done as written."""
    given = _parser().parse_args(arguments)
    sections = Sections(given.idle_from, given.idle_to, given.work_from, given.work_to)
    try:
        answer = TraceAnswer.of(given.trace, given.voltage, sections)
    except WirelabError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    match given.format:
        case "json":
            print(json.dumps(answer.as_dict(), ensure_ascii=False))
            return 0
        case "csv":
            print(answer.as_csv())
        case _:
            print("\n".join(answer.lines()))
    print("\n".join(answer.notes()), file=sys.stderr)
    return 0


def _parser() -> argparse.ArgumentParser:
    what = "Integrate a measured current or power above idle. Times count from the beginning of the trace."
    parser = argparse.ArgumentParser("wirelab-energy", description=what)
    parser.add_argument("trace", type=Path, metavar="TRACE", help="a file of PPK2, Otii, IoT-LAB, or other CSV")
    parser.add_argument("--voltage", type=_quantity(voltage_v), metavar="VOLTAGE", help="of a current: '3.7 V'")
    for option, name, about in (
        ("--idle-from", "idle_from", "where its idle section begins (default: found)"),
        ("--idle-to", "idle_to", "where its idle section ends"),
        ("--from", "work_from", "where the work begins (default: its beginning)"),
        ("--to", "work_to", "where the work ends (default: its end)"),
    ):
        parser.add_argument(option, dest=name, type=_quantity(duration_ns), metavar="TIME", help=about)
    parser.add_argument("--format", choices=("text", "json", "csv"), default="text", help="default: text")
    return parser


def _quantity(read: Callable[[object], _Read]) -> Callable[[str], _Read]:
    def quantity(text: str) -> _Read:
        try:
            return read(text)
        except UnitError as error:
            hint = f" ({error.hint})" if error.hint else ""
            raise argparse.ArgumentTypeError(f"{text} {error}{hint}") from None

    return quantity


if __name__ == "__main__":
    sys.exit(main())
