"""`wirelab link`: what is done with a link outside of an experiment."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.errors import RunError, Where, WirelabError, did_you_mean

if TYPE_CHECKING:
    from wirelab.fit import FittedProfile, Observations


class LinkGroup(click.Group):
    """A group whose unknown first words are kept for names of links."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse what is no subcommand, and say which there are."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise WirelabError(f"unknown subcommand '{args[0]}' of wirelab link", hint=did_you_mean(args[0], self.commands))
        return super().resolve_command(ctx, args)


@click.group(
    cls=LinkGroup,
    short_help="Make a link profile from a measurement of your own.",
    no_args_is_help=True,
    subcommand_metavar="SUBCOMMAND [ARGUMENTS]...",
)
def command() -> None:
    """Make a link profile from a measurement of your own."""


@command.command(short_help="Fit a link profile to a ping log, an irtt result or a capture.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the profile there.  [stdout]")
@click.option(
    "--synchronised-clocks",
    is_flag=True,
    help="irtt: both ends' clocks agree (PTP, GPS), so that one-way delays hold as they are.",
)
def fit(file: Path, out: Path | None, synchronised_clocks: bool) -> None:
    """Fit a link profile to a measurement.

    FILE is a ping log (iputils, BusyBox), the JSON of `irtt client -o`, or a capture (pcap, pcapng) that was taken at
    one end. The profile says in its comments what the measurement cannot tell. An experiment names it by its file:
    mine = { profile = "./mine.toml" }.
    """
    from wirelab.fit import Source, fit_profile, profile_text

    if out is not None and out.exists():
        raise WirelabError("exists already", Where(str(out)), hint="choose another name")
    data = _read(file)
    try:
        observations = _observe(file, data, synchronised_clocks)
        profile = fit_profile(observations, Source(file.name, hashlib.sha256(data).hexdigest()))
    except WirelabError as error:
        if error.where is None:
            error.where = Where(str(file))
        raise
    text = profile_text(profile)
    if out is None:
        click.echo(text, nl=False)
    else:
        try:
            out.write_text(text, encoding="utf-8")
        except OSError as error:
            raise RunError(f"cannot be written: {error.strerror}", Where(str(out))) from None
        click.echo(str(out))
    _say(profile, out)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise WirelabError("no such file", Where(str(file))) from None
    except OSError as error:
        raise WirelabError(f"cannot be read: {error.strerror}", Where(str(file))) from None


_CAPTURES = tuple(bytes.fromhex(magic) for magic in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "0a0d0d0a"))
_GZIP = b"\x1f\x8b"


def _observe(file: Path, data: bytes, synchronised_clocks: bool) -> Observations:
    """Read a measurement by what it begins with."""
    from wirelab.fit import observe_capture, observe_irtt, observe_ping

    if data.startswith(_CAPTURES):
        _only_irtt(synchronised_clocks)
        return observe_capture(json.loads(line) for line in _captured(file).splitlines())
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError) as error:
            raise WirelabError(f"is cut off, or no gzip: {str(error).lower()}") from None
    text = data.decode(errors="replace")
    if text.lstrip().startswith("{"):
        return observe_irtt(text, clocks_agree=synchronised_clocks)
    _only_irtt(synchronised_clocks)
    return observe_ping(text)


def _only_irtt(synchronised_clocks: bool) -> None:
    if synchronised_clocks:
        raise WirelabError("--synchronised-clocks is for irtt results: this measurement has one clock")


def _captured(file: Path) -> str:
    from wirelab.agent import ask, find_agent

    agent = find_agent()
    try:
        return ask(agent, ["capture", str(file)])
    except RunError as error:
        raise WirelabError(error.what) from None


def _say(profile: FittedProfile, out: Path | None) -> None:
    """The figures with their intervals and what is missing, for people."""
    for sentence in profile.measured:
        click.echo(sentence, err=True)
    click.echo("Cannot be told from it:", err=True)
    for sentence in profile.untold:
        click.echo(f"  {sentence}", err=True)
    name = "mine.toml" if out is None else out.name
    click.echo(f'Next    [links] mine = {{ profile = "./{name}" }}', err=True)
