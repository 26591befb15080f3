"""Figures and tables as LaTeX, for graphicx and booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.report.blocks import Table
from wirelab.schema.estimates import EXACT

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "–": "--", "—": "---", "−": "$-$", "×": r"$\times$", "·": r"\textperiodcentered{}", "≤": r"$\le$", "≥": r"$\ge$",
    "µ": r"\textmu{}", "μ": r"\textmu{}", "→": r"$\rightarrow$", "…": r"\ldots{}", "\u00a0": "~", "\u202f": r"\,",
    "’": "'", "‘": "`", "“": "``", "”": "''", "‡": r"\ddag{}", "°": r"\textdegree{}", "±": r"$\pm$", "∞": r"$\infty$",
    "δ": r"$\delta$", "Δ": r"$\Delta$", "σ": r"$\sigma$", "λ": r"$\lambda$", "≈": r"$\approx$", "√": r"$\sqrt{}$",
    "✓": "yes", "✗": "no", "²": r"$^2$", "³": r"$^3$", "\u2009": r"\,", "•": r"\textbullet{}",
}  # fmt: skip
_LAST = "\u017f"
"""LaTeX knows Latin letters up to it; of other signs a document would stop."""


def escaped(text: str) -> str:
    """Text for LaTeX. A sign that it does not know becomes a question mark, for a document would stop there."""
    return "".join(_SIGNS.get(letter, letter if letter <= _LAST else "?") for letter in text)


def figure(name: str, caption: str, *, spans: bool) -> str:
    """A figure that includes `NAME.pdf` as wide as the document's column; one that spans both has a star."""
    kind, width = ("figure*", r"\textwidth") if spans else ("figure", r"\columnwidth")
    lines = [
        rf"\begin{{{kind}}}", r"  \centering", rf"  \includegraphics[width={width}]{{{name}}}",
        rf"  \caption{{{escaped(caption)}}}", rf"  \label{{fig:{name}}}", rf"\end{{{kind}}}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def table(name: str, found: Table, basis: str, level: str) -> str:
    """A table that spans both columns. `basis` says what its numbers rest on, in a comment, and `level` is that of its
    intervals.
    """
    shown = found.shown
    align = "".join("r" if each.numeric and i >= shown.row_headers else "l" for i, each in enumerate(shown.columns))
    titles = [" ".join(filter(None, [each.title.replace(" [interval]", ""), each.unit])) for each in shown.columns]
    texts = [[cell.text.replace(f" [{EXACT}]", "*") for cell in row] for row in shown.rows]
    caption = [_ended(found.caption)]
    if any("[interval]" in each.title for each in shown.columns):
        caption.append(f"In brackets: {level} intervals.")
    if any(text.endswith("*") for row in texts for text in row):
        caption.append("*: the same in each trial, so that there is no interval.")
    rows = [_row(list(map(escaped, row))) for row in texts]
    lines = [
        f"% {basis}", r"\begin{table*}", r"  \centering", rf"  \caption{{{escaped(' '.join(caption))}}}",
        rf"  \label{{tab:{name}}}", r"  \footnotesize",
        r"  \resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        rf"  \begin{{tabular}}{{{align}}}", r"    \toprule", _row(list(map(escaped, titles))), r"    \midrule", *rows,
        r"    \bottomrule", r"  \end{tabular}}", r"\end{table*}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _ended(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _row(cells: Sequence[str]) -> str:
    return f"    {' & '.join(cells)} \\\\"
