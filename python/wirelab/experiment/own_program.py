"""A program of the user's own between two links of a command line: the experiment and the entry that test it.

The two texts are those that a user would write (docs/guide/own-protocol.md), and start an experiment of their own.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from wirelab.errors import WirelabError, did_you_mean
from wirelab.experiment.library import is_profile_file, profiles
from wirelab.launcher import launched
from wirelab.toml import inline
from wirelab.units import UnitError, duration_ns

NAME, BEFORE = "own", "before"
"""Its name in `implementations.toml`, and that of the program with which it is compared."""
TITLES = {NAME: "the tested program", BEFORE: "the program that it is compared with"}
PLACEHOLDERS: Mapping[str, Mapping[str, str]] = {
    "server": {
        "{port}": "{{ port }}", "{address}": "{{ address }}", "{chain}": "{{ chain }}", "{key}": "{{ key }}",
    },
    "client": {
        "{url}": "SCHEME://{{ host }}:{{ port }}TARGET", "{host}": "{{ address }}", "{port}": "{{ port }}",
        "{topic}": "TOPIC", "{method}": "{{ method }}", "{file}": "{{ upload_file }}", "{authority}": "{{ authority }}",
    },
}  # fmt: skip
"""What each role's program is given, as a template has it. A tested client resolves no name."""
CLEAN = "clean"
"""The link without impairments."""
NEEDED = {"server": ("{port}",), "client": ("{url}", "{port}")}
"""One of these says where a server listens, or what a client asks for."""
_NUMBER_WITH_UNIT = re.compile(r"\d[\d.]*\s*\w*")


@dataclass(frozen=True)
class OwnProgram:
    """What is tested, and how. `asked` is `workload.request` as in an experiment, or `workload.publish` if it has a
    topic. `before` is another program for the same role, with which it is compared.
    """

    role: str
    program: str
    protocols: tuple[str, ...]
    over_udp: bool
    links: tuple[str, ...]
    own_links: Mapping[str, Mapping[str, str]]
    asked: Mapping[str, object]
    connection: str
    exchanges: int
    download: str
    before: str | None = None
    certified: bool = False
    """Whether a protocol has certificates, which a tested server is given."""
    schemes: tuple[str, ...] = ()
    """Protocols whose name is the scheme of their URLs (RFC 7252, section 6; RFC 8323, section 8). Of others it is
    `http` or `https`.
    """

    @property
    def programs(self) -> Mapping[str, str]:
        """The command of each, by its name in `implementations.toml`, the older first."""
        return {**({} if self.before is None else {BEFORE: self.before}), NAME: self.program}


def words_of(tested: OwnProgram, folder: Path) -> dict[str, list[str]]:
    """Each program with its arguments. Raises `WirelabError` if there is no such program, or if nothing says where it
    is to listen or what it is to ask.
    """
    first = "--client" if tested.role == "client" else "PROGRAM"
    options = {NAME: first, BEFORE: "--against"}
    found = {name: _words(tested.role, each, folder, options[name]) for name, each in tested.programs.items()}
    for name, words in found.items() if tested.role == "client" and "topic" not in tested.asked else ():
        if any("{topic}" in word for word in words):
            raise WirelabError(f"{words[0]} gets no topic", options[name], "add --topic TOPIC, or write {url}")
    for name, words in found.items() if tested.certified and tested.role == "server" else ():
        if not any("{chain}" in word for word in words):
            what = f"{words[0]} gets no certificate that the client trusts"
            raise WirelabError(
                what, options[name], "write {chain} and {key} where it takes its certificate and its key"
            )
    return found


def _words(role: str, program: str, folder: Path, option: str) -> list[str]:
    try:
        words = shlex.split(program)
    except ValueError as error:
        raise WirelabError(f"not a command: {error}", option, "close the quotation mark") from None
    if not words:
        raise WirelabError("no program", option, f"such as './app.py {NEEDED[role][0]}'")
    if all(needed not in word for word in words for needed in NEEDED[role]):
        what = "the port on which it listens" if role == "server" else "what it asks for"
        hint = f"write {NEEDED[role][0]} where the program takes it, such as '{words[0]} {NEEDED[role][0]}'"
        raise WirelabError(f"{words[0]} does not get {what}", option, hint)
    path = folder / words[0] if "/" in words[0] else Path(shutil.which(words[0]) or words[0])
    if not path.is_file():
        hint = "give its path, such as ./app.py, or one of PATH"
        if re.match(r"[A-Za-z_]\w*=", words[0]):
            hint = f"a command has no variables of its own: write 'env {program}'"
        raise WirelabError(f"no program {words[0]}", option, hint)
    return [str(path.absolute()), *words[1:]]


def experiment_text(tested: OwnProgram) -> str:
    """The experiment, as a file has it."""
    title = f"Test of {_in_words(tested.program)} over {', '.join(tested.links)}"
    return f"""\
title = {inline(title)}

[factors]
protocol = {inline(list(tested.protocols))}
link = {inline(list(tested.links))}
"{tested.role}.implementation" = {inline(list(tested.programs))}

{_links(tested.own_links)}\
[workload]
{_workload(tested)}
connection = {inline(tested.connection)}
exchanges = {tested.exchanges}

[stop]
replicates = [5, 20]
interval = "10 % of median"
"""


def _workload(tested: OwnProgram) -> str:
    """What is sent, and what our server answers with."""
    asked = inline(dict(tested.asked))
    if "topic" in tested.asked:
        return f'kind = "telemetry"\npublish = {asked}'
    return f'kind = "request-response"\nrequest = {asked}\ndownload = {inline(tested.download)}'


def _links(links: Mapping[str, Mapping[str, str]]) -> str:
    """The table of the links that do not ship."""
    lines = [f"{inline(name)} = {inline(dict(table))}" for name, table in links.items()]
    return "\n".join(["[links]", *lines, "", ""]) if lines else ""


def links_of(names: Sequence[str], folder: Path) -> dict[str, dict[str, str]]:
    """The links that do not ship, by their names: one without impairments, round trips such as `50 ms`, and profiles by
    their files. Raises `WirelabError` for a name that is none of these.
    """
    found: dict[str, dict[str, str]] = {}
    for name in names:
        if name == CLEAN:
            found[name] = {}
        elif is_profile_file(name):
            found[name] = {"profile": str((folder / name).absolute())}
        elif name in profiles():
            continue
        elif _NUMBER_WITH_UNIT.fullmatch(name):
            try:
                duration_ns(name)
            except UnitError as error:
                raise WirelabError(f"{error} ({name})", "--link", error.hint) from None
            found[name] = {"rtt": name}
        else:
            hint = did_you_mean(name, [CLEAN, *profiles()], launched("list links"))
            raise WirelabError(f"unknown link ({name})", "--link", hint)
    return found


def _in_words(program: str) -> str:
    return " ".join(program.split()).replace("\\", "").replace('"', "'")


def implementation_text(tested: OwnProgram, words: Mapping[str, Sequence[str]], folder: Path) -> str:
    """The entries of `implementations.toml`. The programs run in the user's folder."""
    return "\n".join(_entry(tested, name, each, folder) for name, each in words.items())


def _entry(tested: OwnProgram, name: str, words: Sequence[str], folder: Path) -> str:
    topic = str(tested.asked.get("topic", ""))
    target = f"/{quote(topic, safe='/$')}" if topic else str(tested.asked.get("path", ""))
    values = {"SCHEME": _scheme(tested), "TARGET": _plain(target), "TOPIC": _plain(topic)}
    filled = {
        each: re.sub("|".join(values), lambda found: values[found[0]], text)
        for each, text in PLACEHOLDERS[tested.role].items()
    }
    command = ["env", "-C", str(folder), *(_template(word, filled) for word in words)]
    ready = "udp-bound" if tested.over_udp else "tcp-connect"
    how = f'command = {inline(command)}\nready = "{ready}"' if tested.role == "server" else (
        f'workloads = ["telemetry"]\npublishes = true\nper_exchange = {inline(_reported(command))}' if topic
        else f"requests = true\nper_exchange = {inline(_reported(command))}"
    )  # fmt: skip
    return f"""\
[{name}]
title = "{TITLES[name]}"
about = {inline(_in_words(tested.programs[name]))}
homepage = ""
install = "it is the program of the command line"
version_command = ["true"]

[{name}.roles.{tested.role}]
protocols = {inline(list(tested.protocols))}
connections = {inline(["new"] if tested.role == "client" else ["new", "resumed", "persistent"])}
{how}
"""


def _scheme(tested: OwnProgram) -> str:
    """Of a URL, as a template has it."""
    own = [each for each in tested.protocols if each in tested.schemes]
    return f"{{{{ protocol if protocol in {own} else scheme }}}}" if own else "{{ scheme }}"


def _reported(command: Sequence[str]) -> list[str]:
    """A command whose own output is dropped: an empty report says that its exit code decides."""
    return ["sh", "-c", '"$@" >/dev/null && echo "{}"', "sh", *command]


def _template(word: str, filled: Mapping[str, str]) -> str:
    """A word as a template: placeholders become variables, and what looks like a template stays as it is."""
    parts = re.split("|".join(f"({re.escape(each)})" for each in filled), word)
    return "".join(filled[part] if part in filled else _plain(part) for part in parts if part)


def _plain(text: str) -> str:
    return f"{{% raw %}}{text}{{% endraw %}}" if re.search(r"\{[{%#]", text) else text
