"""Texts of an `implementations.toml` as jinja2 templates. Starts no program, and knows no entry.

A text renders to one string, so that no value can become two arguments. jinja2 is imported with the first text that
has something to fill in: an experiment that names no program of the user's own is checked without it.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.experiment.file.positions import Path as KeyPath
from wirelab.experiment.file.positions import positions

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.environment import TemplateExpression
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_OPENS = ("{{", "{%", "{#")
_OLD = re.compile(r"(?<![{%$])\{([a-z][a-z_0-9]*)\}(?!\})")
_FENCE = re.compile(r"'''|\"\"\"")
_FILE = "<template>"
"""What jinja2 calls a template without a file."""
_RANDOM = {"globals": ("lipsum",), "filters": ("random",)}


class TextError(Exception):
    """A text cannot be rendered: what is wrong, in which of its lines (from 1), and what to do."""

    def __init__(self, text: str, what: str, line: int, hint: str | None = None) -> None:
        super().__init__(what)
        self.text, self.what, self.line, self.hint = text, what, line, hint

    def located(self, source: str, content: str, entry: Any, name: str) -> WirelabError:
        """The same with the file, its line and the entry's key, if the text is found there as written."""
        shown = self.text if len(self.text) <= 60 and "\n" not in self.text else _line(self.text, self.line)
        what = f"{self.what} ({shown})"
        if (key := _find(entry, self.text)) is None:
            return WirelabError(what, Where(source, key=name), self.hint)
        # A header such as [NAME.roles.client] has its place too, so that some part of the path always has one.
        place, found = (name, *key), positions(content)
        line = next((found[place[:end]].line for end in range(len(place), 0, -1) if place[:end] in found), None)
        if line is not None:
            start = content.splitlines()[line - 1]
            if (fence := _FENCE.search(start)) is not None:
                line += self.line - 1 + (not start[fence.end() :].strip())
        return WirelabError(what, Where(source, line, key=".".join(map(str, place))), self.hint)


class FilledLater:
    """A value that the agent fills in for each exchange: a template can write it, and nothing else."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return f"{{{self.name}}}"

    def _unknown(self, *_: object) -> NoReturn:
        raise TypeError(f"{self.name} is filled in for each exchange, so that a template can only write it")

    __bool__ = __eq__ = __lt__ = __gt__ = __le__ = __ge__ = __len__ = __iter__ = _unknown
    __hash__ = None  # type: ignore[assignment]


PER_EXCHANGE = {
    name: FilledLater(name) for name in ("url", "scheme", "method", "upload_file", "fields_file", "timeout_s")
}
"""Further variables of a command that is executed for each exchange."""


def render(text: str, values: Mapping[str, object]) -> str:
    """A text with its values; one without a template is returned unchanged."""
    if not any(sign in text for sign in _OPENS):
        return text
    with _reported(text, values):
        return _template(text).render(values)


def holds(condition: str, values: Mapping[str, object]) -> bool:
    """Whether an expression is true."""
    with _reported(condition, values):
        return bool(_expression(condition)(values))


def check_text(text: str, known: Iterable[str], *, condition: bool = False, words: bool = True) -> Iterator[TextError]:
    """What is wrong with a text before any value is known: its syntax, and each variable that nothing gives.

    Of words of a command, `{name}` is reported as well: it would be passed on as it stands.
    """
    names = {*known}
    asked: set[str] = set()
    if condition or any(sign in text for sign in _OPENS):
        from jinja2 import meta

        try:
            with _reported(text, {}):
                if condition:
                    _expression(text)
                asked = meta.find_undeclared_variables(_environment().parse(f"{{{{{text}}}}}" if condition else text))
                asked -= _environment().globals.keys()
        except TextError as error:
            yield error
    for name in sorted(asked - names):
        line = next((at for at, each in enumerate(text.splitlines(), 1) if re.search(rf"\b{name}\b", each)), 1)
        yield TextError(text, f"unknown variable '{name}'", line, did_you_mean(name, names))
    if words and not condition:
        for old in _OLD.findall(text):
            if old in names:
                yield TextError(text, f"{{{old}}} is not a variable", 1, f"write {{{{ {old} }}}}")


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
    # The same plan gives the same commands.
    for table, names in _RANDOM.items():
        for name in names:
            del getattr(environment, table)[name]
    return environment


@cache
def _template(text: str) -> Template:
    return _environment().from_string(text)


@cache
def _expression(text: str) -> TemplateExpression:
    return _environment().compile_expression(text, undefined_to_none=False)


@contextmanager
def _reported(text: str, values: Mapping[str, object]) -> Iterator[None]:
    from jinja2 import TemplateSyntaxError, UndefinedError

    try:
        yield
    except TemplateSyntaxError as error:
        raise TextError(text, f"is not a template: {error.message}", error.lineno) from None
    except UndefinedError as error:
        quoted = re.fullmatch(r"'(\w+)' is undefined", error.message or "")
        hint = did_you_mean(quoted[1], values) if quoted and quoted[1] not in values else None
        raise TextError(text, error.message or "is undefined", _line_of(error), hint) from None
    except Exception as error:  # An expression of the user's may raise anything.
        raise TextError(text, f"cannot be rendered: {error}", _line_of(error)) from None


def _line_of(error: Exception) -> int:
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 1 for frame in reversed(frames) if frame.filename == _FILE), 1)


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    return lines[min(number, len(lines)) - 1].strip()[:60]


def _find(value: Any, text: str) -> KeyPath | None:
    """The path of a text in what TOML gave."""
    parts: Iterable[tuple[str | int, Any]] = ()
    match value:
        case str():
            return () if value == text else None
        case dict():
            parts = value.items()
        case list():
            parts = enumerate(value)
    found = ((key, path) for key, part in parts if (path := _find(part, text)) is not None)
    return next(((key, *path) for key, path in found), None)
