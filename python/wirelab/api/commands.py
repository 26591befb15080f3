"""Verbs of the command line as functions. Each runs in a process of its own, as it does from a shell."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from wirelab.api.campaign import Campaign, load
from wirelab.errors import RunError, WirelabError
from wirelab.schema.choose import CHOSEN, Chosen, read_chosen
from wirelab.schema.exact import EXACT, Exact, read_exact

if TYPE_CHECKING:
    import polars as pl

Option = str | int | float | bool | Path | Sequence[str | int | float]
"""The value of an option: True stands for an option without one, False and None leave it out; commas join a list."""
Progress = Callable[[str], None]
Record = TypeVar("Record")
JUDGED = frozenset({0, 4, 5, 6})
"""Exit codes of a verb that did what it was asked for."""
REPEATED = frozenset({"loss", "fail_if"})
"""Options that are given once for each item of a list."""
_PAGE = re.compile(r"^(?:Report|Page) +(.+)$", re.MULTILINE)
_STEP_S = 0.2
_ERROR, _LAST = "error: ", 20
"""How an error begins, and how many lines are kept of what was said without one."""


@dataclass(frozen=True, repr=False)
class Answer(Generic[Record]):
    """What a verb found: the text that it prints, its record, and the page in its folder."""

    text: str
    record: Record
    page: Path

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f'<pre style="line-height: 1.35">{escape(self.text)}</pre>'


def run(
    experiment: str | Path,
    *,
    sets: Mapping[str, Option] | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Option | None,
) -> Campaign[pl.DataFrame]:
    """Run an experiment as `wirelab run` does, and load its results. `experiment` is a path or the name of a shipped
    one, `sets` has levels by path, such as `{"link.rtt": ["20 ms", "50 ms"]}`, and `options` are those of the command,
    such as `budget="30s"` or `clock="virtual"`. What is in `out` already is not run again. `progress` gets each line
    that the command says. Raises `WirelabError` if something is wrong with the input, and `RunError` if the run failed:
    `load` has what it measured.
    """
    assigned = [word for path, level in (sets or {}).items() for word in ("--set", f"{path}={_text(level)}")]
    text = _wirelab("run", [str(experiment), *assigned, *_words(options), *_out(out)], progress)
    return load(_page(text).parent)


def choose(
    question: str | Path | None = None,
    *,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Option | None,
) -> Answer[Chosen]:
    """Find out which protocol a device should speak, as `wirelab choose` does: `question` is a file, or `options` are
    those of the command, such as `link="nb-iot-psm", send="64B", every="10min"`. Raises as `run`.
    """
    words = [*([] if question is None else [str(question)]), *_words(options), *_out(out)]
    # It exits with 1 if nothing can be ranked, and says why.
    text = _wirelab("choose", words, progress, answers={0, 1})
    page = _page(text)
    return Answer(text, read_chosen(page.with_name(CHOSEN)), page)


def exact(
    experiment: str | Path | None = None,
    *,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Option | None,
) -> Answer[Exact]:
    """Enumerate which packets are lost, as `wirelab exact` does, with its `options`, such as `protocols=["coap", "h2"],
    link="20 ms", send="30B"`. Needs the virtual clock's kernel. Raises as `run`.
    """
    words = [*([] if experiment is None else [str(experiment)]), *_words(options), *_out(out)]
    text = _wirelab("exact", words, progress)
    page = _page(text)
    return Answer(text, read_exact(page.with_name(EXACT)), page)


def _out(out: str | Path | None) -> list[str]:
    return [] if out is None else ["--out", str(out)]


def _page(text: str) -> Path:
    """The page that a verb names; the record that it draws stands next to it."""
    found = _PAGE.findall(text)
    if not found:
        raise RunError(f"names no page of its results: {text[-200:]}")
    return Path(found[-1])


def _words(options: Mapping[str, Option | None]) -> list[str]:
    """Options as words of a command line."""
    words: list[str] = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif name in REPEATED and not isinstance(value, str | int | float | Path | None):
            words += [word for each in value for word in (option, _text(each))]
        elif value is not None and value is not False:
            words += [option, _text(value)]
    return words


def _text(value: Option) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float | Path) else ",".join(map(_text, value))


def _wirelab(verb: str, words: Sequence[str], progress: Progress | None, *, answers: Collection[int] = JUDGED) -> str:
    """What the verb prints, if its exit code is one of `answers`. It is cancelled as its caller is by Ctrl-C, and then
    ends what it started.
    """
    command = [sys.executable, "-m", "wirelab", verb, *words]
    heard = _Heard(progress)
    # In a session of its own a Ctrl-C reaches it once: from here.
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        encoding="utf-8", errors="replace", start_new_session=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        assert child.stderr is not None
        printed = list[str]()
        listeners = [
            threading.Thread(target=printed.extend, args=(child.stdout,), daemon=True),
            threading.Thread(target=heard.listen, args=(child.stderr,), daemon=True),
        ]
        for each in listeners:
            each.start()
        try:
            _wait(child)
        except KeyboardInterrupt:
            child.send_signal(signal.SIGINT)
            child.wait()
            raise
        finally:
            for each in listeners:
                each.join()
    if heard.failed is not None:
        raise heard.failed
    if child.returncode in answers and (printed or child.returncode == 0):
        return "".join(printed)
    what = _last_error(heard.said) or f"wirelab {verb} ended with exit code {child.returncode}"
    raise (WirelabError if child.returncode == WirelabError.exit_code else RunError)(what)


def _wait(child: subprocess.Popen[str]) -> None:
    """Wait for its end in steps: the system may give a Ctrl-C to any thread, and one that blocks would not see it."""
    while child.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            child.wait(_STEP_S)


@dataclass
class _Heard:
    """What a verb said. Listening goes on if `progress` fails, or the verb would wait for it for ever."""

    progress: Progress | None
    said: list[str] = field(default_factory=list)
    failed: Exception | None = None

    def listen(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.said.append(line.rstrip("\n"))
            if self.progress is None or self.failed is not None:
                continue
            try:
                self.progress(self.said[-1])
            except Exception as error:
                self.failed = error


def _last_error(said: Sequence[str]) -> str:
    """What stands behind the last progress that was said."""
    began = max((i for i, line in enumerate(said) if line.startswith(_ERROR)), default=max(0, len(said) - _LAST))
    return "\n".join(said[began:]).strip().removeprefix(_ERROR)
