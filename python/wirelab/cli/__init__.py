"""The command line: one file per verb, the only place that prints or exits.

stdout is data, stderr is words. A verb's module exports `command`; it is imported when the verb is used, so that
`--help` costs click alone. What a verb returns, if it is an integer, is the exit code.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import click

from wirelab.errors import WirelabError, did_you_mean
from wirelab.launcher import LAUNCHER, launched, program


class Verb(NamedTuple):
    """Where a verb lives (`module:attribute`), its line in `wirelab --help`, and arguments that its own help shows.

    `fails_if` says when it exits with 1 although it did all that was asked for; empty if it never does. `judges` are
    further exit codes that say what it found.
    """

    target: str
    summary: str
    example: str
    fails_if: str = ""
    judges: tuple[int, ...] = ()


GROUPS = {
    "Ask": {
        "choose": Verb(
            "wirelab.cli.choose:command", "Answer which protocol a device should speak over its link.",
            "--link nb-iot-psm --send 64B --every 10min --auth psk", "nothing can be ranked",
        ),
        "replicate": Verb(
            "wirelab.cli.replicate:command", "Replicate a paper: run its campaigns, explain its verdicts.",
            "milosevic2021 --quick", "no trial of a campaign succeeded, or it left trials out",
        ),
        "exact": Verb(
            "wirelab.cli.exact:command", "Enumerate lost packets: exact probabilities of long delays.",
            "--protocols coap,http1,h2,h3 --link 20ms --send 30B", "a run failed, or is not repeatable",
        ),
        "explain": Verb(
            "wirelab.cli.explain:command", "Split the difference of two scenarios by what causes it.",
            "h2 h3 --link 20ms --loss 2%", "a scenario has no completed exchange",
        ),
        "lesson": Verb(
            "wirelab.cli.lesson:command", "Show one idea of networking by a run of less than a minute.",
            "head-of-line", "no trial of the lesson succeeded",
        ),
    },
    "Measure": {
        "run": Verb(
            "wirelab.cli.run:command", "Run an experiment, measure, analyze and report it.",
            "quickstart --set link.rtt=20ms,200ms",
            "no trial of a protocol succeeded, a program did not become ready, or the link did not carry a completed "
            "exchange",
            (4, 6),
        ),
        "link": Verb(
            "wirelab.cli.link:command", "Run a command behind a link; make a link profile from a measurement.",
            "wifi-poor -- ./my-client",
        ),
        "test": Verb(
            "wirelab.cli.test:command", "Test your own server or client over links, with an exit code.",
            "'python3 app.py --port {port}' --get /api/items --link wifi-poor --fail-if 'p95 > 800ms'",
            "no request of a scenario completed, or a program did not become ready",
            (4, 6),
        ),
        "compare": Verb(
            "wirelab.cli.compare:command", "Compare two runs: what changed, with an exit code.",
            "results/before results/after --margin '5 %'", judges=(4, 5, 6),
        ),
        "interop": Verb(
            "wirelab.cli.interop:command", "Try every client with every server of each protocol.", "--protocol coap",
            "a pair failed",
        ),
    },
    "Look": {
        "report": Verb(
            "wirelab.cli.report:command", "Write the report of a run as one HTML file.", "results/quickstart"
        ),
        "figures": Verb(
            "wirelab.cli.figures:command", "Write the charts and tables of a run as files for a paper or slides.",
            "results/quickstart --for ieee",
        ),
        "show": Verb(
            "wirelab.cli.show:command", "Show a request of a run as a packet diagram, or a packet log as a table.",
            "results/quickstart --protocol h2 --slowest",
        ),
        "list": Verb(
            "wirelab.cli.list:command", "List experiments, links, protocols, metrics, …", "links"
        ),
        "describe": Verb(
            "wirelab.cli.describe:command",
            "Describe one thing that `list` names: settings, units, defaults, sources.", "nb-iot",
        ),
    },
    "Prepare": {
        "new": Verb(
            "wirelab.cli.new:command", "Create your own experiment file from a shipped one.", "mine.toml"
        ),
        "check": Verb("wirelab.cli.check:command", "Check an experiment file; start nothing.", "mine.toml"),
        "plan": Verb(
            "wirelab.cli.plan:command", "Print what an experiment would run and how long it takes; start nothing.",
            "quickstart --link nb-iot --set workload.interval=10min --clock virtual",
        ),
        "doctor": Verb(
            "wirelab.cli.doctor:command", "Check what this computer allows, and say how to fix what it does not.", "",
            "something that is needed is missing",
        ),
        "calibrate": Verb(
            "wirelab.cli.calibrate:command", "Send probes over a link and compare it with its configuration.",
            "4g-medium", "the quality of the link is unusable",
        ),
        "clock": Verb(
            "wirelab.cli.clock:command",
            "Build the kernel of the virtual clock, or compare that clock with real time.",
            "build",
        ),
    },
    "Data": {
        "energy": Verb(
            "wirelab.cli.energy:command", "Energy of a capture by a radio's model, or of a measured trace.",
            "up.pcap --radio nrf9160-nbiot --client 10.0.0.7",
        ),
        "measure": Verb(
            "wirelab.cli.measure:command", "Measure again: turn the raw records of a run into a dataset.",
            "results/quickstart",
        ),
        "analyze": Verb(
            "wirelab.cli.analyze:command", "Analyze again: turn the dataset of a run into estimates and verdicts.",
            "results/quickstart",
        ),
        "merge": Verb(
            "wirelab.cli.merge:command", "Put the parts of a run together: trials of several machines as one campaign.",
            "results/part-1 results/part-2 --out results/all", "no trial of a protocol succeeded",
            (4, 6),
        ),
        "slurm": Verb(
            "wirelab.cli.slurm:command", "Write the scripts that run an experiment in shards on a Slurm cluster.",
            "milosevic2021 --clock virtual --shards 20",
        ),
        "archive": Verb(
            "wirelab.cli.archive:command", "Write a run as one file that others check and repeat.",
            "results/quickstart --licence CC-BY-4.0",
        ),
        "verify": Verb(
            "wirelab.cli.verify:command", "Check an archive, or a run of the virtual clock, or repeat it.",
            "results/quickstart --again", "a record differs",
        ),
        "check-implementation": Verb(
            "wirelab.cli.check_implementation:command",
            "Try a program of implementations.toml on the endpoint contract.", "curl", "the program broke the contract",
        ),
    },
}  # fmt: skip
"""Verbs by what a user wants to do."""
VERBS = {name: verb for verbs in GROUPS.values() for name, verb in verbs.items()}
EXIT_CODES = {
    0: "Everything was done.",
    1: "Something failed while it was done. stderr says what.",
    2: "The input or an option is wrong, and nothing was started. stderr says what, where and how to fix it.",
    4: "A result misses a bound of `[expect]` or `--fail-if`, or is worse than what it is compared with.",
    5: "Something changed between two runs, and nothing is worse.",
    6: "A bound or a comparison is inconclusive, and `--fail-if-inconclusive` asks to fail then.",
    130: "The user cancelled the command (Ctrl-C).",
}
"""What each exit code means, of every verb; `wirelab link LINK -- COMMAND` exits as COMMAND does."""


class LazyGroup(click.Group):
    """A group that imports a verb when it is used and prints every error once, on stderr."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Verbs, in the order of `--help`."""
        # `list` is a verb's module here, once that is imported.
        return [*VERBS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the verb."""
        verb = VERBS.get(cmd_name)
        if verb is None:
            return None
        module, _, attribute = verb.target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        command.epilog = f"\b\nExample: {launched(f'{cmd_name} {verb.example}'.rstrip())}"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown verb with the nearest one."""
        if args and not args[0].startswith("-") and args[0] not in VERBS:
            raise WirelabError(f"unknown verb '{args[0]}'", hint=did_you_mean(args[0], VERBS))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the verbs' lines without importing them."""
        width = max(map(len, VERBS))
        for group, verbs in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:{width}}", verb.summary) for name, verb in verbs.items()])

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run the command line; exits with 0, 1 (it failed) or 2 (it cannot be done as written)."""
        extra["standalone_mode"] = False
        if LAUNCHER in os.environ:
            extra["prog_name"] = program()
        try:
            status = super().main(args, *rest, **extra)
        except WirelabError as error:
            click.echo(printable(str(error)), err=True)
            sys.exit(error.exit_code)
        except click.ClickException as error:
            click.echo(printable(_usage(error, sys.argv[1:] if args is None else args)), err=True)
            sys.exit(error.exit_code)
        except OSError as error:
            click.echo(printable(f"error: {_of_the_system(error)}"), err=True)
            sys.exit(1)
        except MemoryError:
            click.echo("error: not enough memory\nhint: raise the limit (ulimit -v), or end other programs", err=True)
            sys.exit(1)
        except click.Abort:
            click.echo("cancelled", err=True)
            sys.exit(130)
        sys.exit(status if isinstance(status, int) else 0)


def printable(text: str) -> str:
    """Text without control characters: those of a user's value must not reach the terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""All of them but tabs and ends of lines."""


def _of_the_system(error: OSError) -> str:
    place = error.filename or error.filename2
    return f"{os.fsdecode(place)}: {error.strerror}" if isinstance(place, str | bytes) else str(error.strerror or error)


_START = f"""\b
Start with: {launched("run quickstart")}
Which protocol over NB-IoT, with a message every 10 minutes?
  {launched("choose --link nb-iot-psm")}"""


def _version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        from wirelab.cli.version import version_lines

        click.echo("\n".join(version_lines()))
        context.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    no_args_is_help=True,
    subcommand_metavar="VERB [ARGUMENTS]...",
    epilog=_START,
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version,
    help="Show the version, its commit and the agent, and exit.",
)  # fmt: skip
def main() -> None:
    """Which application protocol should my devices speak over my link? Measured, with intervals."""


def _usage(error: click.ClickException, args: Sequence[str]) -> str:
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return error.message
    line = f"error: {message[:1].lower()}{message[1:]}".replace("is not a valid integer range", "is not a whole number")
    if context is not None:
        return f"{line}\nhint: {context.command_path} --help"
    # An option without its value has no context.
    verb = next((arg for arg in args if arg in VERBS), "")
    return f"{line}\nhint: {launched(f'{verb} --help'.strip())}"
