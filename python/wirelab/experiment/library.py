"""The data that ship with Wirelab: experiments, link profiles and the catalogue of implementations."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.experiment.programs.implementations import CATALOGUE, Implementation, parse
from wirelab.launcher import launched
from wirelab.opened import NO_FILE, nearest_file
from wirelab.toml import parse_toml, read_text

BUILTIN = "builtin"
_DATA = "wirelab.data"


@dataclass(frozen=True)
class Profile:
    """A named, sourced link. `sources` cites each value of `link` by its dotted path.

    `ranges` has the least and the most of values that differ between operators. `grants` names the links that a device
    has instead, where an operator grants it less power saving.
    """

    name: str
    title: str
    about: str
    link: Mapping[str, Any]
    sources: Mapping[str, str]
    ranges: Mapping[str, Sequence[str]] = field(default_factory=dict)
    grants: Sequence[str] = ()

    def values(self) -> Iterable[tuple[str, Any]]:
        """Each value of `link` with its dotted path; tables in a list count from 1 (`radio.sleeps.1.after`)."""
        return _values(self.link)


def experiment_names() -> tuple[str, ...]:
    """Shipped experiments; a file of claims is not one."""
    names = (entry.name.removesuffix(".toml") for entry in _folder("experiments") if entry.name.endswith(".toml"))
    return tuple(sorted(name for name in names if not name.endswith(".claims")))


def experiment_file(name: str) -> Traversable:
    """The file of a shipped experiment."""
    return resources.files(_DATA).joinpath("experiments", f"{name}.toml")


def templates(folder: str) -> Mapping[str, str]:
    """The files that a `protocol` or a `paper` of the user's own begins with; `NAME` in them stands for its name."""
    files = sorted(_folder(f"templates/{folder}"), key=lambda entry: entry.name)
    return {entry.name: entry.read_text(encoding="utf-8") for entry in files if entry.is_file()}


class _Profiles(Mapping[str, Profile]):
    def __init__(self) -> None:
        self._files = _files("profiles/links")
        self._read: dict[str, Profile] = {}

    def __getitem__(self, name: str) -> Profile:
        if name not in self._read:
            table = tomllib.loads(self._files[name].read_text(encoding="utf-8"))
            self._read[name] = Profile(
                name, table["title"], table["about"], table["link"], table["sources"], table.get("ranges", {}),
                table.get("grants", ()),
            )  # fmt: skip
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


@cache
def profiles() -> Mapping[str, Profile]:
    """Shipped links by name, each read when it is asked for."""
    return _Profiles()


@cache
def signal_tables() -> Mapping[str, Mapping[str, Any]]:
    """Shipped tables of receiver sensitivity as written, by technology."""
    return _tables("profiles/signals")


def is_profile_file(name: str) -> bool:
    """Whether a profile is named by its file (`./mine.toml`) rather than by a shipped link's name."""
    return name.endswith(".toml") or "/" in name


def find_profile(name: str, folder: Path) -> Profile:
    """A profile by its file, relative to the folder, or a shipped one by its name."""
    return profile_file(folder / name) if is_profile_file(name) else profiles()[name]


def profile_file(path: Path) -> Profile:
    """A user's own profile: a file with a table `link`, and what else shipped ones have as far as it is there."""
    where = Where(str(path))
    try:
        text = read_text(path, where)
    except WirelabError as error:
        if error.what == NO_FILE and (near := nearest_file(path, ".toml")) is not None:
            error.hint = f"did you mean '{near}'?"
        raise
    table = parse_toml(text, where)
    shape = {"title": str, "about": str, "link": dict, "sources": dict, "ranges": dict, "grants": list}
    for key, value in table.items():
        if key not in shape:
            raise WirelabError(f"unknown key '{key}'", where, did_you_mean(key, shape))
        if not isinstance(value, shape[key]):
            kind = {dict: "table", list: "list"}.get(shape[key], "string")
            raise WirelabError(f"should be a {kind}", Where(str(path), key=key))
    if "link" not in table:
        raise WirelabError("is not a link profile: it has no [link]", where, f"{launched('link fit FILE')} writes one")
    for key, ends in table.get("ranges", {}).items():
        if not (isinstance(ends, list) and len(ends) == 2 and all(isinstance(end, str) for end in ends)):
            at = Where(str(path), key=f"ranges.{key}")
            raise WirelabError("should be the least and the most, two strings", at, '["30 s", "180 s"]')
    return Profile(
        path.stem,
        table.get("title", path.stem),
        table.get("about", ""),
        table["link"],
        table.get("sources", {}),
        table.get("ranges", {}),
        table.get("grants", ()),
    )


def who_plays(
    programs: Mapping[str, Implementation], role: str, protocols: Iterable[str], kinds: Collection[str] = ()
) -> str:
    """Those that can play a role of any of these protocols, as a hint has it: for workloads of these kinds, or any."""
    known = list(dict.fromkeys(map(str, protocols)))
    able = (name for name, each in programs.items() if any(each.serves(role, protocol, kinds) for protocol in known))
    of = f"{role} of {' or '.join(known)}" + (f" for {' or '.join(kinds)}" if kinds else "")
    return f"{of}: {', '.join([BUILTIN, *able])}"


def implementations(folder: Path | None = None) -> Mapping[str, Implementation]:
    """The catalogue of third-party programs by name, with those of a folder's own file; `builtin` is not in it."""
    own = None if folder is None else folder / CATALOGUE
    return _shipped_implementations() | (parse(own, str(own), {}) if own is not None and own.exists() else {})


@cache
def _shipped_implementations() -> dict[str, Implementation]:
    return parse(resources.files(_DATA).joinpath(CATALOGUE), CATALOGUE, {})


def _values(table: Any, path: tuple[str, ...] = ()) -> Iterable[tuple[str, Any]]:
    if isinstance(table, list) and table and all(isinstance(entry, dict) for entry in table):
        table = {str(number): entry for number, entry in enumerate(table, start=1)}
    if isinstance(table, dict):
        for key, value in table.items():
            yield from _values(value, (*path, key))
    else:
        yield ".".join(path), table


def _tables(path: str) -> Mapping[str, Mapping[str, Any]]:
    """The TOML files of a folder by name."""
    return {name: tomllib.loads(file.read_text(encoding="utf-8")) for name, file in _files(path).items()}


def _files(path: str) -> Mapping[str, Traversable]:
    files = {entry.name.removesuffix(".toml"): entry for entry in _folder(path) if entry.name.endswith(".toml")}
    return {name: files[name] for name in sorted(files)}


def _folder(path: str) -> list[Traversable]:
    folder = resources.files(_DATA).joinpath(*path.split("/"))
    return list(folder.iterdir()) if folder.is_dir() else []
