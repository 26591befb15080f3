"""Verbs of the command line as functions. Each runs in a process of its own, as it does from a shell."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
RESULTS = Path("results")
MESSAGE = "message"
_ERROR, _LAST = "error: ", 20
"""How an error begins, and how many lines are kept of what was said without one."""


@dataclass(frozen=True)
class Answer(Generic[Record]):
    """What a verb found: the text that it prints, its record, and the page in its folder."""

    text: str
    record: Record
    page: Path

    def __str__(self) -> str:
        return self.text

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
    such as `budget="30s"` or `clock="virtual"`. `out` is by default `results/NAME`, and what is there already is not
    run again. `progress` gets each line that the command says. Raises `WirelabError` if something is wrong with the
    input, and `RunError` if the run failed.
    """
    suffix = "-preview" if options.get("budget") is not None else ""
    folder = Path(out) if out is not None else RESULTS / f"{Path(experiment).stem}{suffix}"
    assigned = [word for path, level in (sets or {}).items() for word in ("--set", f"{path}={_text(level)}")]
    _wirelab("run", [str(experiment), *assigned, *_words(options), "--out", str(folder)], progress)
    return load(folder)


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
    about = options.get("link") or question
    folder = (
        Path(out) if out is not None else RESULTS / f"choose{'' if about is None else f'-{Path(_text(about)).stem}'}"
    )
    words = [*([] if question is None else [str(question)]), *_words(options)]
    text = _wirelab("choose", [*words, "--out", str(folder)], progress)
    return Answer(text, read_chosen(folder / CHOSEN), folder / "choose.html")


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
    folder = Path(out) if out is not None else RESULTS / f"exact-{Path(experiment or MESSAGE).stem}"
    words = [*([] if experiment is None else [str(experiment)]), *_words(options)]
    text = _wirelab("exact", [*words, "--out", str(folder)], progress)
    return Answer(text, read_exact(folder / EXACT), folder / "exact.html")


def _words(options: Mapping[str, Option | None]) -> list[str]:
    """Options as words of a command line."""
    words: list[str] = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, _text(value)]
    return words


def _text(value: Option) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float | Path) else ",".join(map(str, value))


def _wirelab(verb: str, words: Sequence[str], progress: Progress | None) -> str:
    """What the verb prints. It is cancelled with its caller, and leaves nothing running."""
    command = [sys.executable, "-m", "wirelab", verb, *words]
    said: list[str] = []
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        listener = threading.Thread(target=_listen, args=(child.stderr, said, progress), daemon=True)
        listener.start()
        try:
            printed = child.stdout.read()
            child.wait()
        except KeyboardInterrupt:
            child.send_signal(signal.SIGINT)
            child.wait()
            raise
        finally:
            listener.join()
    # A verb that judges prints its results first, and says by its exit code what they are.
    if printed or child.returncode == 0:
        return printed
    what = _last_error(said) or f"wirelab {verb} ended with exit code {child.returncode}"
    raise (WirelabError if child.returncode == WirelabError.exit_code else RunError)(what)


def _last_error(said: Sequence[str]) -> str:
    """What stands behind the last progress that was said."""
    began = max((i for i, line in enumerate(said) if line.startswith(_ERROR)), default=max(0, len(said) - _LAST))
    return "\n".join(said[began:]).strip().removeprefix(_ERROR)


def _listen(lines: Iterable[str], said: list[str], progress: Progress | None) -> None:
    for line in lines:
        said.append(line.rstrip("\n"))
        if progress is not None:
            progress(said[-1])
