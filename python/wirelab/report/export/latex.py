"""Figures and tables as LaTeX, for graphicx and booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.report.blocks import Table

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


def figure(name: str, width_pt: float, caption: str, *, spans: bool) -> str:
    """A figure that includes `NAME.pdf`; one that spans both columns has a star."""
    kind = "figure*" if spans else "figure"
    lines = [
        rf"\begin{{{kind}}}", r"  \centering", rf"  \includegraphics[width={width_pt:g}pt]{{{name}}}",
        rf"  \caption{{{escaped(caption)}}}", rf"  \label{{fig:{name}}}", rf"\end{{{kind}}}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def table(name: str, found: Table, basis: str, level: str) -> str:
    """A table that spans both columns. `basis` says what its numbers rest on, in a comment, and `level` is that of its
    intervals.
    """
    shown = found.shown
    align = "".join("r" if each.numeric and i >= shown.row_headers else "l" for i, each in enumerate(shown.columns))
    heads = [
        escaped(" ".join(filter(None, [each.title.replace("[interval]", f"[{level}]"), each.unit])))
        for each in shown.columns
    ]
    rows = [_row([escaped(cell.text) for cell in row]) for row in shown.rows]
    lines = [
        f"% {basis}", r"\begin{table*}", r"  \centering", rf"  \caption{{{escaped(found.caption)}}}",
        rf"  \label{{tab:{name}}}",
        r"  \footnotesize", rf"  \begin{{tabular}}{{{align}}}", r"    \toprule", _row(heads), r"    \midrule", *rows,
        r"    \bottomrule", r"  \end{tabular}", r"\end{table*}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"    {' & '.join(cells)} \\\\"
