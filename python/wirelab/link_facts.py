"""Asks the agent what is known of links: once for each, when a file is checked. It derives nothing and keeps no file.

One process answers for a whole check: a `LinkSpec` a line, and its `LinkFacts` or why it is refused a line
(`wirelab-agent link-facts`).
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from wirelab.agent import NAME, find_agent
from wirelab.errors import RunError
from wirelab.schema import LinkFacts, LinkSpec, canonical_json
from wirelab.schema.link_answer import AskLink, LinkRefusedError
from wirelab.schema.link_facts import LinkRefusal

VERB = "link-facts"
END_S = 10.0
_HINT = "it must be of the same version: `make check` builds it, and WIRELAB_AGENT names another one"


@contextmanager
def asking(agent: Path | None = None) -> Iterator[AskLink]:
    """What answers for links, by one process that starts with the first of them and ends with this context.

    Raises `LinkRefusedError` for a link that cannot be, and `RunError` if the agent does not answer.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as words:
        asked = _Asked(agent, words)
        try:
            yield asked
        finally:
            asked.end()


class _Asked:
    def __init__(self, agent: Path | None, words: IO[str]) -> None:
        self._agent = agent
        self._process: subprocess.Popen[str] | None = None
        self._words = words
        self._known: dict[str, LinkFacts | LinkRefusedError] = {}

    def __call__(self, link: LinkSpec) -> LinkFacts:
        text = canonical_json(link.to_json())
        if text not in self._known:
            self._known[text] = self._ask(text)
        found = self._known[text]
        if isinstance(found, LinkRefusedError):
            raise LinkRefusedError(found.why)
        return found

    def end(self) -> str:
        """End the process, which ends with its input, and give its words for people."""
        process, self._process = self._process, None
        if process is None:
            return ""
        try:
            process.communicate(timeout=END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        self._words.seek(0)
        return self._words.read().strip()

    def _ask(self, text: str) -> LinkFacts | LinkRefusedError:
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(text + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise RunError(f"{NAME} {VERB}: {self.end() or 'ended without an answer'}", hint=_HINT)
        try:
            found = json.loads(answer)
            if (refused := found.get("refused")) is not None:
                return LinkRefusedError(LinkRefusal.model_validate(refused))
            return LinkFacts.model_validate(found["facts"])
        except (ValueError, TypeError, AttributeError, KeyError):
            what = f"{NAME} {VERB} answers as an agent of another version: {answer.strip()[:80]}"
            raise RunError(what, hint=_HINT) from None

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            agent = self._agent or find_agent()
            # It says refusals for people, too: a file never makes it wait for a reader.
            self._process = subprocess.Popen(
                [str(agent), VERB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._words, encoding="utf-8"
            )
        return self._process
