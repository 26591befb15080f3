"""Docs and what the program prints use the words of `docs/concepts/terms.md`: its last column names what is refused.

Docs have short lines, and README, guides and answers have short sentences.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.rust_texts import texts

ROOT = Path(__file__).resolve().parents[1]
PACKAGE, ENERGY = ROOT / "python" / "wirelab", ROOT / "python" / "wirelab_energy"
TERMS = ROOT / "docs" / "concepts" / "terms.md"

LONG = 25
"""The number of words from which on a sentence has to be read twice."""

ALLOWED: dict[str, str] = {}
"""Files that may have a refused word, with the reason."""


KEYS = frozenset({
    "denominators", "fate", "lanes", "lateness-p50", "lateness-p99", "lateness-max", "playout-lateness", "preview",
    "-preview",
})  # fmt: skip
"""Keys of files, metrics and a folder's ending that keep their names, since users' scripts read them."""


def test_no_refused_word_is_in_docs_or_in_what_the_program_prints() -> None:
    words = refused()
    assert {"refuted", "told apart", "whoever"} <= words
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, sorted(words)))})\b", re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}:{line}: {match[1]}"
        for path, line, text in (*_docs(), *_printed())
        for match in pattern.finditer(_without_keys(text))
        if str(path.relative_to(ROOT)) not in ALLOWED
    ]
    assert not found, "\n".join(found)


def test_every_exception_is_needed_and_says_why() -> None:
    for name, why in ALLOWED.items():
        assert (ROOT / name).is_file() and why, name


def test_a_refused_word_is_found() -> None:
    page = "| term | meaning | instead of |\n|---|---|---|\n| fix | repair | `mend`, heal |\n"
    assert refused(page) == {"mend"}
    assert list(_strings('"""mend"""\nX = "mend it"\nY = f"to mend {X}"\n')) == [(2, "mend it"), (3, "to mend ")]


def test_a_refused_word_is_found_in_rust() -> None:
    source = """
        /// Not a help text: mend.
        const NAME: &str = "mend";
        const QUOTE: char = '"';
        /// What to mend.
        #[derive(clap::Args)]
        struct Options<'a> {
            /// The file
            /// to mend.
            #[arg(help = "mend \\
                     it")]
            file: &'a str,
        }
        fn print() {
            // mend {
            println!(r#"mend "{mend:?}""#, '{');
        }
        #[cfg(test)]
        mod tests {
            const TEXT: &str = "mend";
        }
        const LAST: &str = "mend all";
    """
    assert list(texts(source)) == [
        (3, "mend"), (5, "What to mend."), (10, "mend it"), (8, "The file to mend."), (16, 'mend "{}"'),
        (22, "mend all"),
    ]  # fmt: skip


def test_readme_guides_and_answers_have_few_long_sentences() -> None:
    folders = [ROOT / "docs" / "answers", ROOT / "docs" / "guide"]
    pages = [ROOT / "README.md", ROOT / "docs" / "README.md", *(path for each in folders for path in each.glob("*.md"))]
    found = []
    for page in pages:
        sentences = list(_sentences(page.read_text(encoding="utf-8")))
        long = [(number, text) for number, text in sentences if len(text.split()) > LONG]
        if len(long) >= 0.05 * len(sentences):
            found += [f"{page.relative_to(ROOT)}:{number}: {text}" for number, text in long]
    assert not found, "\n".join(found)


def test_readme_fits_on_two_screens() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 80


def test_a_line_of_the_docs_is_short_unless_it_is_a_table_or_code() -> None:
    pages = sorted({path for path, _, _ in _docs()} | {TERMS})
    found = [
        f"{page.relative_to(ROOT)}:{number}: {len(line)} characters"
        for page in pages
        for number, line in _prose(page.read_text(encoding="utf-8"))
        if len(line) >= 200
    ]
    assert not found, "\n".join(found)


def test_sentences_are_those_of_prose() -> None:
    page = """# A title has no sentence

First one. The second has `a b. c`, [a link](x.md) and 1.5 kB.
- An item
  goes to its next line, of course. Another?

```
Code. Has none.
```

| Tables. | Neither. |
    """
    assert list(_sentences(page)) == [
        (3, "First one."), (3, "The second has CODE, a link and 1.5 kB."), (4, "An item"),
        (5, "goes to its next line, of course."), (5, "Another?"),
    ]  # fmt: skip


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a page with the numbers of their lines. Code in a sentence is one word; each line ends one."""
    for number, line in _prose(text):
        if line.startswith(("#", "<!--", "![")):
            continue
        words = re.sub(r"`[^`]*`", "CODE", re.sub(r"^(?:[-*]|\d+\.) +", "", line))
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words)
        yield from ((number, sentence) for sentence in re.split(r"(?<=[.!?])[*)\"]* +(?=[*(\"]*[A-Z0-9])", words))


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page that are neither empty nor of a table or a block of code."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith("```"):
            code = not code
        elif line.strip() and not code and not line.strip().startswith("|"):
            yield number, line.strip()


def _without_keys(text: str) -> str:
    """A text without the code spans that have a key of a file; a text that is such a key is nothing."""
    if text in KEYS:
        return ""
    return re.sub(r"`[^`]*`", lambda span: "" if any(key in span[0] for key in KEYS) else span[0], text)


def refused(text: str | None = None) -> set[str]:
    """The words in code of a table's last column."""
    rows = [line for line in (text or TERMS.read_text(encoding="utf-8")).splitlines() if line.startswith("| ")]
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row.rstrip(" |").rpartition("|")[2])}


def _docs() -> Iterator[tuple[Path, int, str]]:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ENERGY.glob("*.md")]
    for path in sorted(page for page in pages if page != TERMS):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield path, number, line


def _printed() -> Iterator[tuple[Path, int, str]]:
    for path in sorted([*PACKAGE.rglob("*.py"), *ENERGY.rglob("*.py")]):
        for number, text in _strings(path.read_text(encoding="utf-8")):
            yield path, number, text
    for path in sorted((PACKAGE / "report" / "templates").rglob("*.j2")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield path, number, line
    for path in _rust():
        for number, text in texts(path.read_text(encoding="utf-8")):
            yield path, number, text


def _rust() -> Iterator[Path]:
    """The files of the Rust programs, without their tests."""
    for folder in (ROOT / "crates", ROOT / "bench" / "program"):
        for path in sorted(folder.rglob("src/**/*.rs")):
            if "tests" not in (*path.relative_to(ROOT).parts, path.stem):
                yield path


def _strings(source: str) -> Iterator[tuple[int, str]]:
    """Every text of a module that is no docstring."""
    tree = ast.parse(source)
    documents = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield node.lineno, node.value
