"""Tables and sentences as Markdown, one sentence a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MOST = 300
"""Characters of a cell; the sentences that do not fit stand below the table."""
LONGEST = 180
"""Characters of a line that is not in a table."""
_END = re.compile(r"(?<=[.!?])(?<!such as\.)(?<!e\.g\.)\s+(?=[A-Z`\"*])")


def sentences(text: str) -> list[str]:
    """A text's sentences; a long one continues on a line of its own behind a pause."""
    found = []
    for each in _END.split(" ".join(text.split())):
        rest = each
        while len(rest) > LONGEST:
            pause = max(rest.rfind(sign, 0, LONGEST) for sign in ("; ", ": ", ", "))
            if pause < 0:
                break
            found.append(rest[: pause + 1])
            rest = rest[pause + 2 :]
        found.append(rest)
    return found


def linked(page: str) -> str:
    """A page on which other pages that it names are links."""

    def link(match: re.Match[str]) -> str:
        path = match[1].removeprefix("reference/")
        return f"[{match[1]}]({path if path != match[1] else f'../{path}'})"

    return re.sub(r"`?\bdocs/([\w/-]+\.md)`?", link, page)


def code(text: str) -> str:
    """A text as code."""
    return f"`{text}`"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column names a row; what of a last cell is too much stands below it."""
    lines = [_row(head), "|" + "---|" * len(head)]
    below: list[str] = []
    for row in rows:
        last, rest = _fitting(row[-1])
        lines.append(_row([*row[:-1], last]))
        below += [f"- {row[0]}: {rest[0]}", *(f"  {each}" for each in rest[1:])] if rest else []
    return "\n".join([*lines, *(["", *below] if below else [])])


def slug(heading: str) -> str:
    """A heading's anchor."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("\n", " ").replace("|", "\\|") for cell in cells) + " |"


def _fitting(text: str) -> tuple[str, list[str]]:
    """As many sentences as a cell holds, and the others."""
    each = sentences(text)
    count = next((n for n in range(len(each), 0, -1) if len(" ".join(each[:n])) <= MOST), 1)
    return " ".join(each[:count]), each[count:]
