"""A folder of the user's own as a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote, unquote

from wirelab.errors import Where, WirelabError
from wirelab.site.bounds import MAX_BYTES
from wirelab.site.discovery import discover
from wirelab.site.media_types import HTML, TEXT, media_type
from wirelab.site.page import Page
from wirelab.site.urls import LeavesError, resolve
from wirelab.site.words import DOCUMENT, too_large


def read_folder(path: Path, document: str = DOCUMENT) -> Page:
    """The page of a document in a folder (a name relative to it), with every file that it needs."""
    where = Where(str(path))
    try:
        root = path.resolve(strict=True)
        if not root.is_dir():
            raise WirelabError("is not a folder", where, f"name the folder of {document}")
        if root.parent == root:
            what = "is refused: every file of this machine would be inside the page's folder"
            raise WirelabError(what, where, f"give the folder that contains {document}")
    except (OSError, RuntimeError, ValueError) as error:
        # A loop of symbolic links is a RuntimeError before Python 3.13, a zero byte a ValueError.
        raise WirelabError(f"cannot be read: {_why(error)}", where) from None
    if media_type(document) not in {HTML, TEXT}:
        raise WirelabError(f"is neither HTML nor text by its name ({document})", where, f"such as {DOCUMENT}")
    try:
        start = resolve("/", quote(document))
    except LeavesError:
        start = None
    if start is None:
        raise WirelabError(f"leaves the folder ({document})", where, f"name a document inside it, such as {DOCUMENT}")
    folder = _Folder(path, root, document)
    return discover(start, folder.read, folder.shown)


class _Folder:
    def __init__(self, path: Path, root: Path, document: str) -> None:
        self._path = path
        self._root = root
        self._document = document

    def shown(self, path: str) -> str:
        """The file of a request's path, as the user would name it."""
        return str(self._path / _name(path))

    def read(self, path: str, url: str, where: Where) -> bytes:
        """The body for a request's path. A server would follow a link out of the folder: it is refused."""
        name = _name(path)
        if path.partition("?")[0].lower().count("%2f"):
            _refuse("has an encoded slash", url, where, "write the slash as it is")
        if name.endswith("/") or not name:
            _refuse("is a folder", url, where, "name a file")
        try:
            file = (self._root / name).resolve(strict=True)
            if not file.is_relative_to(self._root):
                _refuse("leaves the folder", url, where, "all files of a page are inside its folder")
            if file.is_dir():
                _refuse("is a folder", url, where, "name a file")
            if not file.is_file():
                _refuse("is not a regular file", url, where)
            if (size := file.stat().st_size) > MAX_BYTES:
                _refuse(f"has {too_large(size, MAX_BYTES)}", url, where)
            return file.read_bytes()
        except (FileNotFoundError, NotADirectoryError, ValueError):
            hint = self._without_document() if where.line is None else self._without(path)
            _refuse("no such file", url, where, hint)
        except (OSError, RuntimeError) as error:
            _refuse(f"cannot be read: {_why(error)}", url, where)

    def _without(self, path: str) -> str:
        looked = f"looked for {self.shown(path)}"
        near = _in_other_letters(self._root, _name(path))
        return looked if near is None else f"did you mean '{near}'? ({looked})"

    def _without_document(self) -> str:
        """How to name another one, by the words of an experiment file and of the command line."""
        near = _in_other_letters(self._root, self._document)
        there = near or next((name for name in _names(self._root) if media_type(name) == HTML), "start.html")
        table = f'{{ site = {json.dumps(str(self._path), ensure_ascii=False)}, document = "{there}" }}'
        meant = f"did you mean '{near}'? " if near is not None else ""
        return (
            f"{meant}a page begins with {self._document}; another document: --set workload.page.document={there} "
            f"(or, in place of --site, --set 'workload.page={table}')"
        )


def _in_other_letters(root: Path, name: str) -> str | None:
    """What is there by this name but for capital and small letters, which servers tell apart."""
    found: list[str] = []
    for part in name.split("/"):
        names = _names(root.joinpath(*found))
        if (same := next((each for each in names if each.lower() == part.lower()), None)) is None:
            return None
        found.append(same)
    return "/".join(found)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(each.name for each in folder.iterdir())
    except (OSError, ValueError):
        return []


def _name(path: str) -> str:
    return unquote(path.partition("?")[0]).removeprefix("/")


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _refuse(what: str, url: str, where: Where, hint: str | None = None) -> NoReturn:
    raise WirelabError(f"{what} ({url})", where, hint)
