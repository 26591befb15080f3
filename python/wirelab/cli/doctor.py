"""`wirelab doctor`: checks what this machine allows, and shows a fix for each failure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from wirelab.errors import RunError

if TYPE_CHECKING:
    from rich.console import Console


@click.command("doctor", short_help="Check what this computer allows, and say how to fix what it does not.")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def command(*, as_json: bool) -> int:
    """Check what a campaign needs on this machine, and show a fix for each failure.

    IPv6 is needed only by IPv6 links, netem only by links with that backend, third-party programs only by experiments
    that use them. Exits with 1 if a campaign cannot run.
    """
    from rich.console import Console

    from wirelab import agent
    from wirelab.runner.implementations import load, version

    program = agent.find_agent()
    checks = _parsed(agent.ask(program, ["probe"], allowed=frozenset({0, 1})))
    programs = {name: (version(entry), entry.install) for name, entry in load(None).items()}
    kernel = _kernel()
    if as_json:
        found = {name: said for name, (said, _) in programs.items()}
        click.echo(json.dumps({"agent": str(program), "checks": checks, "kernel": kernel, "programs": found}, indent=1))
    else:
        console = Console(highlight=False, soft_wrap=True)
        _print_checks(console, checks)
        _print_kernel(console, kernel, all(check["ok"] or check["optional"] for check in checks))
        _print_programs(console, programs)
    return 0 if all(check["ok"] or check["optional"] for check in checks) else 1


def _parsed(text: str) -> list[dict[str, object]]:
    try:
        checks: list[dict[str, object]] = json.loads(text)
    except json.JSONDecodeError as error:
        raise RunError(
            f"wirelab-agent probe answered '{text[:80]}'", hint="is WIRELAB_AGENT a wirelab-agent?"
        ) from error
    return checks


def _print_checks(console: Console, checks: list[dict[str, object]]) -> None:
    from rich.text import Text

    width = max((len(str(check["name"])) for check in checks), default=0)
    for check in checks:
        line = Text.assemble(
            ("ok  ", "green") if check["ok"] else ("-   ", "yellow") if check["optional"] else ("no  ", "bold red"),
            (f"{check['name']!s:<{width}}  ", "bold"),
            str(check["detail"]),
        )
        console.print(line)
        if check["cure"]:
            for cure in str(check["cure"]).splitlines():
                console.print(Text(f"    {'':<{width}}  {cure}", style="yellow"))


def _kernel() -> str | None:
    """The kernel of the virtual clock; None if it is not built."""
    from wirelab.clock.kernel import find_kernel

    found = find_kernel()
    return None if found is None else f"Linux {found.version}, {found.hertz} Hz, recipe {found.recipe}"


def _print_kernel(console: Console, kernel: str | None, can_run: bool) -> None:
    from rich.text import Text

    from wirelab.launcher import launched

    console.print("\nVirtual clock, for experiments with --clock virtual")
    if kernel is not None:
        console.print(Text.assemble(("ok  ", "green"), kernel))
    else:
        console.print(Text.assemble(("-   ", "dim"), f"no kernel: {launched('clock build')}"))
    if not can_run:
        console.print(Text("    It needs neither root nor namespaces on this machine.", style="yellow"))


def _print_programs(console: Console, programs: dict[str, tuple[str | None, str]]) -> None:
    from rich.text import Text

    console.print("\nThird-party programs, for experiments that use them")
    width = max((len(name) for name in programs), default=0)
    for name, (version, install) in programs.items():
        mark = ("ok  ", "green") if version else ("-   ", "dim")
        # Build options follow in brackets, often over lines; --json has them.
        said = version.partition(" (")[0] if version else f"not installed: {install}"
        console.print(Text.assemble(mark, (f"{name:<{width}}  ", "bold"), said))
