"""`wirelab link`: the use of a link outside an experiment."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import secrets
import shlex
import signal
import sys
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from wirelab.cli.arguments import backend_option, clock_option, named_as_typed, with_backend
from wirelab.errors import Where, WirelabError
from wirelab.launcher import launched
from wirelab.opened import open_file, read_bytes

if TYPE_CHECKING:
    from wirelab.fit import FittedProfile, Observations


LINK = "LINK"
"""The subcommand that is implied by other first words."""
SEED_BITS = 32
"""Digits of a random seed: short enough to type."""


class LinkGroup(click.Group):
    """A group in which an unknown first word is a link for a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the implied subcommand before a link."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [LINK, *args]
        return super().parse_args(ctx, args)


class BehindCommand(click.Command):
    """A command with another one after `--`, whose options it does not parse."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words after `--` unchanged."""
        end = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:end])
        if rest:
            link = ctx.params["link"]
            hint = launched(f"link {link} [OPTIONS] -- {' '.join([*rest, *args[end + 1 :]])}")
            raise WirelabError(f"the command must follow -- ('{rest[0]}')", hint=hint)
        ctx.params["words"] = tuple(args[end + 1 :])
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Without the link, which the name of the subcommand stands for."""
        return ["[OPTIONS] [-- COMMAND [ARGUMENTS]...]"]


@click.group(
    cls=LinkGroup,
    short_help="Run a command behind a link; make a link profile from a measurement.",
    no_args_is_help=True,
    subcommand_metavar="LINK|SUBCOMMAND [ARGUMENTS]...",
)
def command() -> None:
    """Run a command behind a link; make a link profile from a measurement.

    \b
    wirelab link nb-iot -- COMMAND   runs COMMAND behind the link nb-iot
    wirelab link nb-iot              runs a shell there
    wirelab link nb-iot --help       prints the options
    wirelab list links               prints the names of links
    """


def _server_words(_ctx: click.Context, _param: click.Parameter, text: str | None) -> list[str] | None:
    if text is None:
        return None
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise click.BadParameter(f"{str(error).lower()} ({text})") from None
    if not words:
        raise click.BadParameter("is empty")
    return words


_READY = re.compile(r"(tcp|udp):([0-9]{1,5})|[0-9]{1,9}(\.[0-9]{1,9})?")


def _ready(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str | None:
    if text is None:
        return None
    match = _READY.fullmatch(text)
    if match is None or int(match[2] or 1) not in range(1, 2**16):
        raise click.BadParameter(f"'{text}' is not tcp:PORT, udp:PORT or a number of seconds")
    return text


def _pcaps(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    files: dict[str, str] = {}
    for text in texts:
        end, _, file = text.partition("=")
        if end not in {"client", "server"} or not file:
            raise click.BadParameter(f"'{text}' is not client=FILE or server=FILE")
        if end in files:
            raise click.BadParameter(f"{end} has two files")
        files[end] = file
    return files


@command.command(
    LINK,
    cls=BehindCommand,
    short_help="Run a command, or a shell, behind a link.",
    context_settings={"allow_extra_args": True},
)
@click.argument("link")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Change a value of the link. May be repeated.")
@backend_option
@clock_option
@click.option("--server", callback=_server_words, metavar="COMMAND", help="Run this command at the other end.")
@click.option(
    "--server-ready",
    callback=_ready,
    metavar="WHEN",
    help="Start COMMAND when the server listens on tcp:PORT or udp:PORT, or after so many SECONDS.  [any port]",
)
@click.option("--server-log", type=click.Path(), metavar="FILE", help="File for the server's output.  [stderr]")
@click.option(
    "--seed", type=click.IntRange(0, 2**64 - 1), help="Seed of all random values.  [random, printed at the end]"
)
@click.option("--log", type=click.Path(), metavar="FILE", help="Write a log of every packet.")
@click.option(
    "--pcap",
    "pcaps",
    multiple=True,
    callback=_pcaps,
    metavar="END=FILE",
    help="Capture what END, client or server, sees.  May be repeated.",
)
@click.option("--quiet", "-q", is_flag=True, help="No summary at the end.")
def behind(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    link: str,
    sets: tuple[str, ...],
    backend: str | None,
    clock: str | None,
    server: list[str] | None,
    server_ready: str | None,
    server_log: str | None,
    seed: int | None,
    log: str | None,
    pcaps: dict[str, str],
    *,
    quiet: bool,
    words: tuple[str, ...],
) -> None:
    """Run COMMAND behind a link; without one, a shell.

    LINK is a name of `wirelab list links`, the file of your own profile, a table such as '{ rtt = "50 ms" }', or
    clean, a link without effects: wirelab link clean --set rtt=50ms --set loss=1%.

    COMMAND reaches only the other end, not the internet. The command of --server runs at the other end; without it,
    that end only answers pings. In both commands {server} and {client} become addresses; the environment has
    WIRELAB_SERVER and WIRELAB_CLIENT. Inside a COMMAND, another wirelab link without --server starts from there: the
    links add up.

    The exit code is COMMAND's; 125 if the link failed, 126 or 127 if COMMAND could not be started or found.
    """
    from wirelab.agent import find_agent
    from wirelab.experiment.link.single import single_link
    from wirelab.link_facts import asking
    from wirelab.schema import is_netem

    for option, value in (("--server-ready", server_ready), ("--server-log", server_log)):
        if value is not None and server is None:
            raise WirelabError(f"{option} needs --server")
    given = with_backend(sets, backend)
    with asking() as ask, named_as_typed(given):
        others = [name for name in command.commands if name != LINK]
        spec = single_link(link, given, ask, others, partial(click.echo, err=True))
    if pcaps and is_netem(spec):
        raise WirelabError(
            "--pcap: netem does not report when a packet leaves, or that it was dropped", hint="tcpdump does"
        )
    described = json.dumps(spec.to_json()).encode()
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    arguments = ["--name", link, "--seed", str(seed)]
    for option, text in (
        ("--server", None if server is None else json.dumps(server)),
        ("--server-ready", server_ready),
        ("--server-log", server_log),
        ("--log", log),
    ):
        arguments += [] if text is None else [f"{option}={text}"]
    arguments += [f"--pcap={end}={file}" for end, file in pcaps.items()]
    arguments += [*(["--quiet"] if quiet else []), "--", *words]
    if clock == "virtual":
        written = [Path(file).absolute().parent for file in (server_log, log, *pcaps.values()) if file is not None]
        _in_guest(find_agent(), arguments, described, seed, written)
    # An unnamed file, so that nothing has to be removed.
    descriptor = os.memfd_create("wirelab-link")
    os.write(descriptor, described)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.set_inheritable(descriptor, True)
    _become(find_agent(), ["link-command", "--link-fd", str(descriptor), *arguments])


def _in_guest(agent: Path, arguments: list[str], link: bytes, seed: int, written: list[Path]) -> NoReturn:
    """Run the command under the virtual clock, print what it printed, and exit as it did. It may write in this folder
    and in those of the files that were asked for.
    """
    from wirelab.clock.guest import ENVIRONMENT, HERE, Command, Hypervisor, memory_folder, run_command
    from wirelab.clock.kernel import require_kernel

    if arguments[-1] == "--":
        raise WirelabError("a shell needs a terminal, and nobody talks to a guest", hint="write a COMMAND after --")
    hypervisor, here = Hypervisor(agent, require_kernel(), memory_folder()), Path.cwd()
    words = (str(agent), "link-command", "--link-file", str(HERE / "link.json"), *arguments)
    path = {"PATH": os.environ.get("PATH", ENVIRONMENT["PATH"])}
    command, folders = Command(words, directory=here, environment=path), list(dict.fromkeys([here, *written]))
    ran = run_command(hypervisor, command, folders, seed, {"link.json": link})
    sys.stdout.buffer.write(ran.stdout)
    sys.stdout.flush()
    sys.stderr.buffer.write(ran.stderr)
    sys.stderr.flush()
    sys.exit(ran.exit_code if ran.exit_code >= 0 else 128 - ran.exit_code)


def _become(agent: Path, arguments: list[str]) -> None:
    """Replace this process by the agent, so that no Python stays between the terminal and the command."""
    # Python ignores these signals, and a program that follows would inherit that.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(agent, [str(agent), *arguments])


@command.command(short_help="Fit a link profile to a ping log, an irtt result or a capture.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="File for the profile.  [stdout]")
@click.option(
    "--synchronised-clocks",
    is_flag=True,
    help="irtt: both clocks are synchronised (PTP, GPS), so one-way delays are used directly.",
)
def fit(file: Path, out: Path | None, synchronised_clocks: bool) -> None:
    """Fit a link profile to a measurement.

    FILE is a ping log (iputils, BusyBox), the JSON of `irtt client -o`, or a capture (pcap, pcapng) taken at one end.
    Comments in the profile name what the measurement cannot show. An experiment uses it by its file:
    mine = { profile = "./mine.toml" }.
    """
    from wirelab.fit import Source, fit_profile, profile_text

    if out is not None and out.exists():
        raise WirelabError("exists already", Where(str(out)), hint="choose another name")
    with open_file(file, Where(str(file)), None) as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    try:
        observations = _observe(file, synchronised_clocks)
        profile = fit_profile(observations, Source(file.name, digest))
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
            raise WirelabError(f"cannot be written: {error.strerror}", Where(str(out))) from None
        click.echo(str(out))
    _say(profile, out)


_CAPTURES = tuple(bytes.fromhex(magic) for magic in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "0a0d0d0a"))
MOST_MEASURED_BYTES = 256 * 10**6
"""Of a ping log or an irtt result, which are read at once: pings of a month, one a second."""
_GZIP = b"\x1f\x8b"


def _observe(file: Path, synchronised_clocks: bool) -> Observations:
    """Read a measurement; its first bytes give the format."""
    from wirelab.fit import observe_capture, observe_irtt, observe_ping

    with open_file(file, None, None) as content:
        first = content.read(max(map(len, _CAPTURES)))
    if first.startswith(_CAPTURES):
        _only_irtt(synchronised_clocks)
        return observe_capture(json.loads(line) for line in _captured(file).splitlines())
    data = read_bytes(file, None, MOST_MEASURED_BYTES)
    if data.startswith(_GZIP):
        data = _unpacked(data)
    text = data.decode(errors="replace")
    if text.lstrip().startswith("{"):
        return observe_irtt(text, clocks_agree=synchronised_clocks)
    _only_irtt(synchronised_clocks)
    return observe_ping(text)


def _unpacked(data: bytes) -> bytes:
    """What gzip packed, which may be a thousand times as large."""
    try:
        with gzip.open(io.BytesIO(data)) as file:
            content = file.read(MOST_MEASURED_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise WirelabError(f"is truncated, or not gzip: {str(error).lower()}") from None
    if len(content) > MOST_MEASURED_BYTES:
        raise WirelabError(f"is larger than {MOST_MEASURED_BYTES // 10**6} MB unpacked", hint="take a part of it")
    return content


def _only_irtt(synchronised_clocks: bool) -> None:
    if synchronised_clocks:
        raise WirelabError("--synchronised-clocks is for irtt results: this measurement has one clock")


def _captured(file: Path) -> str:
    from wirelab.agent import ask, find_agent

    return ask(find_agent(), ["capture"], files=[str(file)])


def _say(profile: FittedProfile, out: Path | None) -> None:
    """The results with their intervals and limits, as text."""
    for sentence in profile.measured:
        click.echo(sentence, err=True)
    click.echo("This measurement cannot show:", err=True)
    for sentence in profile.unknown:
        click.echo(f"  {sentence}", err=True)
    name = "mine.toml" if out is None else out.name
    click.echo(f'Next    [links] mine = {{ profile = "./{name}" }}', err=True)
