"""What the program itself knows, as Markdown: tables of a dataset, metrics, protocols, verbs and exit codes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
from scripts.reference.markdown import code, sentences, table

from wirelab.cli import EXIT_CODES, GROUPS, VERBS, main
from wirelab.metrics.described import described
from wirelab.metrics.documented import UNITS
from wirelab.metrics.documented import tables as documented
from wirelab.schema import registered
from wirelab.schema.describe import ProtocolDescription, SettingDescription

_PROGRAMS = Path(__file__).resolve().parents[2] / "tests" / "misbehaving"
MISBEHAVING = _PROGRAMS / "seen.json"
IN_EACH_PROTOCOL = _PROGRAMS / "protocols.json"


def tables() -> str:
    """A section for each table, with its columns."""
    return "\n\n".join(
        "\n".join([
            f"## {each.file}", "", *sentences(each.about), "",
            table(
                ("column", "type", "unit", "meaning"),
                [(code(column.name), column.kind, column.unit, column.about) for column in each.columns],
            ),
        ])
        for each in documented()
    )  # fmt: skip


def metrics() -> str:
    """A table of the metrics of exchanges, and one of those of trials."""
    columns = {column.name for each in documented() for column in each.columns}
    heads = {"exchange": "Metrics of an exchange", "trial": "Metrics of a trial"}
    return "\n\n".join(
        f"## {head}\n\n"
        + table(
            ("metric", "column", "unit", "definition"),
            [
                (
                    code(each.name),
                    code(each.column) if each.column in columns else "",
                    UNITS.get(each.unit, each.unit),
                    each.about,
                )
                for each in described()
                if each.of == of
            ],
        )
        for of, head in heads.items()
    )


def protocols() -> str:
    """A section for each protocol, with its settings."""
    parts = []
    for each in registered().protocols:
        facts = (
            f"Transport {each.transport}, port {each.default_port}. "
            f"Roles: {', '.join(map(str, each.roles))}. Workloads: {', '.join(map(str, each.workloads))}."
        )
        own = (
            table(("setting", "values", "default", "meaning"), map(_setting, each.settings))
            if each.settings
            else "It has no settings."
        )
        parts.append("\n".join([f"## `{each.name}`: {each.title}", "", *sentences(f"{each.about} {facts}"), "", own]))
    return "\n\n".join(parts)


def confirmed() -> str:
    """What the packets of each protocol show of its exchanges."""
    return table(
        ("protocol", "sent twice", "what may cover a small message", "messages that nothing answers"),
        [(code(each.name), _repeats(each), _covers(each), _unanswered(each)) for each in registered().protocols],
    )


def misbehaving() -> str:
    """What runs show of the misbehaving programs of the tests."""
    rows = json.loads(MISBEHAVING.read_text(encoding="utf-8"))
    head = ("role", "protocol", "program", "what it does", "what a run shows", "why it is not seen")
    keys = ("role", "protocol", "program", "does", "shows", "why")
    marked = {"protocol", "program"}
    return table(head, [tuple(code(row[key]) if key in marked else row[key] for key in keys) for row in rows])


def in_each_protocol() -> str:
    """What runs show of programs that speak no protocol, in each protocol and role."""
    rows = json.loads(IN_EACH_PROTOCOL.read_text(encoding="utf-8"))
    head = (
        "protocol", "client sends nothing", "client sends half of the bytes", "client sends as many other bytes",
        "subscriber receives nothing", "server answers nothing",
    )  # fmt: skip
    programs = ("nothing", "few", "bytes", "receives-nothing", "deaf")
    return table(head, [(code(row["protocol"]), *(_shown(row.get(each)) for each in programs)) for row in rows])


def _shown(words: str | None) -> str:
    if words is None:
        return "no such role"
    if words == "nothing":
        return "0 of 5"
    return words.partition(" exchanges are ")[0] if "not confirmed" in words else words.partition(";")[0]


def _repeats(protocol: ProtocolDescription) -> str:
    if protocol.transport == "tcp":
        return "counts once (sequence numbers)"
    if protocol.secure:
        return "counts twice: encryption hides it"
    return "never sent twice" if protocol.echo else "counts once (message IDs)"


def _covers(protocol: ProtocolDescription) -> str:
    if protocol.echo:
        return "nothing" if protocol.transport == "tcp" else "the header of each datagram (8 bytes)"
    parts = ["handshake"] * protocol.secure + ["headers"]
    trips = protocol.timing.round_trips
    return ", ".join([*parts[:-1], *["session"] * (trips.session > 0), parts[-1]])


def _unanswered(protocol: ProtocolDescription) -> str:
    return ", ".join(
        f"`telemetry` with {code(f'{change.setting} = {change.value}')}"
        for change in protocol.timing.changes
        if change.part == "request" and change.round_trips == 0
    )


def _setting(setting: SettingDescription) -> tuple[str, ...]:
    values = setting.values
    match values.type:
        case "choice":
            words = ", ".join(code(f'"{choice}"') for choice in values.choices)
        case "boolean":
            words = "boolean"
        case _:
            bounds = f"{values.minimum} to {values.maximum}" + (f" {values.unit}" if values.unit else "")
            words = ", ".join([f"integer, {bounds}", *(code(f'"{word}"') for word in values.words or ())])
    default = setting.default
    shown = (
        str(default).lower() if isinstance(default, bool) else f'"{default}"' if isinstance(default, str) else default
    )
    return code(setting.name), words, code(str(shown)), setting.about


def verbs() -> str:
    """A section for each verb, by group, with its arguments and options."""
    parts = []
    for group, members in GROUPS.items():
        parts.append(f"## {group}")
        for name, verb in members.items():
            command = main.get_command(click.Context(main), name)
            assert command is not None
            parts += _verb(f"wirelab {name}", command, verb.summary)
    return "\n\n".join(parts)


def _verb(path: str, command: click.Command, summary: str) -> Iterator[str]:
    # A command remembers its help option from the first context that it sees: this one names it as `main` does.
    context = click.Context(command, info_name=path, **main.context_settings)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    yield f"### `{path}`\n\n" + "\n".join(sentences(summary)) + f"\n\n```\n{usage}\n```"
    rows = [
        (", ".join(map(code, option.opts)) + _value(option, context), _sentence(option.help or ""))
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden and option.help
    ]
    if rows:
        yield table(("option", "meaning"), rows)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (each := command.get_command(context, name)) is not None and not each.hidden:
                yield from _verb(f"{path} {name}", each, each.get_short_help_str(200))


def _value(option: click.Option, context: click.Context) -> str:
    if option.is_flag:
        return ""
    words = option.make_metavar(context)
    return f" {code('N' if words.startswith('INTEGER') else words)}"


def _sentence(text: str) -> str:
    words = " ".join(text.split())
    return words if words.endswith((".", "]")) else f"{words}."


def _verbs_with(number: int) -> str:
    return ", ".join(code(name) for name, verb in VERBS.items() if number in verb.judges) or "every verb"


def exit_codes() -> str:
    """Every exit code, and what it says of which verb."""
    rows = [(str(number), _verbs_with(number), about) for number, about in EXIT_CODES.items()]
    rows += [
        ("1", code(name), f"{verb.fails_if[0].upper()}{verb.fails_if[1:]}.")
        for name, verb in VERBS.items()
        if verb.fails_if
    ]
    rows.sort(key=lambda row: int(row[0]))
    return table(("exit code", "verbs", "meaning"), rows)
