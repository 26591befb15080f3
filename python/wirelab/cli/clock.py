"""`wirelab clock`: the kernel of the virtual clock, and its agreement with real time."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli import clock_compare


@click.group("clock", short_help="Build the kernel of the virtual clock, or compare that clock with real time.")
def command() -> None:
    """The virtual clock: its kernel, and its agreement with real time.

    Under it real protocol stacks run on real Linux TCP in simulated time: the clock jumps over idle time,
    and computing takes none of it.
    """


@command.command("build", short_help="Download, configure and compile the kernel.")
@click.option(
    "--source", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR",
    help="A source tree of Linux to use instead of Debian's package.",
)  # fmt: skip
@click.option("--version", metavar="VERSION", help="Which accepted version of Debian's package.  [the first]")
@click.option("--jobs", "-j", type=click.IntRange(1, 256), metavar="N", help="Compilers at a time.  [all CPUs]")
def build(source: Path | None, version: str | None, jobs: int | None) -> int:
    """Build the kernel, without root, into the user's cache.

    It takes about 8 minutes on 2 idle CPUs. The same command continues a build that was interrupted.
    """
    from rich.console import Console

    from wirelab.cli.progress import LiveLine
    from wirelab.clock import kernel, sources
    from wirelab.errors import WirelabError, did_you_mean
    from wirelab.runner import cpus

    accepted = {each.version: each for each in sources.accepted()}
    if source is not None and version is not None:
        raise WirelabError("--source and --version exclude each other")
    if version is not None and version not in accepted:
        raise WirelabError(f"no accepted version is '{version}'", hint=did_you_mean(version, accepted))
    chosen = source or accepted[version or next(iter(accepted))]
    with LiveLine(Console(stderr=True, highlight=False)) as line:
        built = kernel.build(chosen, line.show, jobs or cpus.count())
    click.echo(f"Linux {built.version}, {built.hertz} Hz, recipe {built.recipe}: {built.path}")
    return 0


command.add_command(clock_compare.command)
