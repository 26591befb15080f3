"""A LaTeX document with figures and a table that `wirelab figures` wrote."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.report import campaigns
from wirelab.report.campaign import load
from wirelab.report.export.files import write_figures
from wirelab.report.export.venues import VENUES

SEPARATION_PT = 12
DOCUMENT = r"""\documentclass[twocolumn]{article}
\usepackage[textwidth=%dpt,columnsep=%dpt]{geometry}
\usepackage{booktabs}
\usepackage{graphicx}
\begin{document}
See Fig.~\ref{fig:%s} and Table~\ref{tab:%s}, from~\cite{wirelab-tiny}.
\input{figures}
\input{%s}
\bibliographystyle{plain}
\bibliography{wirelab}
\end{document}
"""


@pytest.mark.nightly
def test_a_document_with_figures_and_a_table_compiles_without_a_line_that_is_too_long(tmp_path: Path) -> None:
    latex = shutil.which("pdflatex")
    assert latex, "pdflatex is not installed"
    folder = campaigns.write(tmp_path / "c")
    written = write_figures(load(folder, folder), tmp_path / "paper", ["pdf"], "ieee")
    assert len(written) >= 3
    assert all(each.chart.text_pt >= 7 for each in written)
    [first, *_] = written
    table = sorted(path.stem for path in (tmp_path / "paper").glob("glance-table*.tex"))[0]
    width = VENUES["ieee"].column_pt * 2 + SEPARATION_PT
    (tmp_path / "paper" / "main.tex").write_text(DOCUMENT % (width, SEPARATION_PT, first.name, table, table))
    typeset = [latex, "-halt-on-error", "-interaction=nonstopmode", "main"]
    for program in (typeset, ["bibtex", "main"], typeset, typeset):
        ran = subprocess.run(program, cwd=tmp_path / "paper", capture_output=True, text=True, check=False, timeout=60)
        assert ran.returncode == 0, ran.stdout[-2000:]
    log = (tmp_path / "paper" / "main.log").read_text(errors="replace")
    assert not re.findall(r"^(?:Overfull \\hbox|LaTeX Warning: (?:Reference|Citation)|! ).*", log, re.MULTILINE)
    assert len(re.findall(r"<\./[\w-]+\.pdf>|<[\w-]+\.pdf", log)) >= 3
