"""The text of an experiment file with its positions, and what `--set` laid over it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.experiment import library
from wirelab.experiment.file.pages import Pages
from wirelab.experiment.file.positions import Path as KeyPath
from wirelab.experiment.file.positions import Position, positions
from wirelab.experiment.file.problems import shown
from wirelab.experiment.link.files import Files
from wirelab.experiment.programs.implementations import Implementation
from wirelab.launcher import launched
from wirelab.opened import NO_FILE, nearest_file
from wirelab.toml import check_depth, check_keys, read_text

_OPEN_TEXT = "Illegal character '\\n'"
"""What the parser says of a text that is still open at the end of its line."""
_SYNTAX = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL)
_TABLE = re.compile(r"\('.*'(,|)\)")
_QUOTED = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True)
class Source:
    """A parsed file. `shown` is its name in errors, `folder` the base of its relative paths. `programs` are the
    third-party implementations that it may name, `files` those of its links, `pages` those of its workloads. `notes`
    say what was dropped or chosen by default.
    """

    name: str
    shown: str
    text: str
    folder: Path
    document: dict[str, Any]
    index: dict[KeyPath, Position]
    sets: dict[str, list[Any]]
    programs: Mapping[str, Implementation]
    files: Files
    pages: Pages
    notes: tuple[str, ...] = ()
    _profiles: dict[str, library.Profile] = field(default_factory=dict, repr=False, compare=False)

    def profile(self, name: str) -> library.Profile:
        """A shipped link by its name, or one of the user's own by its file, which is read once."""
        if name not in self._profiles:
            if not library.is_profile_file(name) and name not in library.profiles():
                raise WirelabError(
                    f"unknown profile ({shown(name)})",
                    hint=did_you_mean(name, library.profiles(), launched("list links")),
                )
            try:
                self._profiles[name] = library.find_profile(name, self.folder)
            except WirelabError as error:
                if error.what != NO_FILE:
                    raise
                near = nearest_file(self.folder / name)
                hint = "it is sought next to the experiment file" if near is None else f"did you mean '{near}'?"
                raise WirelabError(f"{NO_FILE} ({shown(name)})", hint=hint) from None
        return self._profiles[name]

    def where(self, path: KeyPath) -> Where:
        """The place of a key, or of the nearest table around it."""
        if len(path) > 1 and path[0] == "factors" and path[1] in self.sets:
            return Where("--set", key=str(path[1]))
        if dotted(path) in self.sets or self._was_set(path[:1]):
            return Where("--set", key=dotted(path))
        known = path
        while known and known not in self.index:
            known = known[:-1]
        line, column = self.index.get(known, Position(1, 1))
        return Where(self.shown, line, column, dotted(path) or None)

    def _was_set(self, table: KeyPath) -> bool:
        """Whether a table is there by options alone."""
        return table not in self.index and any(path.startswith(f"{dotted(table)}.") for path in self.sets)


def dotted(path: KeyPath) -> str:
    """A key path as TOML writes it; array elements are left out."""
    return ".".join(f'"{part}"' if _QUOTED.search(part) else part for part in path if isinstance(part, str))


def read_source(name: str) -> Source:
    """Read a file by its path, or a shipped one by its name, which no file in this folder takes."""
    path = Path(name)
    shipped_name = name in library.experiment_names()
    if path.suffix == ".toml" or "/" in name or (path.exists() and not shipped_name):
        return source_of_text(_text(path), path.stem, path.resolve().parent, shown=name)
    if not shipped_name:
        raise WirelabError(
            f"no experiment '{name}': neither a file nor a shipped one",
            hint=did_you_mean(name, library.experiment_names(), launched("list experiments")),
        )
    shipped = Path(str(library.experiment_file(name)))
    return source_of_text(_text(shipped), name, shipped.parent, shown=shipped.name)


def _text(path: Path) -> str:
    try:
        return read_text(path, Where(str(path)))
    except WirelabError as error:
        if error.what == NO_FILE:
            near = nearest_file(path, ".toml")
            shipped = f"{launched('list experiments')} names those that ship; {launched(f'new {path.name}')} writes one"
            error.hint = shipped if near is None else f"did you mean '{near}'?"
        raise


def source_of_text(text: str, name: str, folder: Path, shown: str | None = None) -> Source:
    """Parse a text; `shown` is its name in errors, `folder` what relative paths in it start from."""
    shown = shown or name
    check_keys(text, Where(shown))
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        match = _SYNTAX.fullmatch(str(error))
        last = text.count("\n") + 1
        line, column = (int(match["line"]), int(match["column"])) if match and match["line"] else (last, 1)
        what = _TABLE.sub(
            lambda path: path[0].strip("(),'").replace("', '", "."), match["what"] if match else str(error)
        )
        where = Where(shown, line, column)
        if what == _OPEN_TEXT:
            raise WirelabError(
                "a text does not end in its line", where, hint="close it with a quotation mark"
            ) from None
        raise WirelabError(f"is not TOML: {what[:1].lower()}{what[1:]}", where) from None
    check_depth(document, Where(shown))
    programs = library.implementations(folder)
    return Source(name, shown, text, folder, document, positions(text), {}, programs, Files(folder), Pages(folder))
