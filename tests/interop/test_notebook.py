"""The notebook of the documentation: its cells run, and they print what the committed one shows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import nbformat
import pytest
from tests.interop.conftest import ROOT

if TYPE_CHECKING:
    from conftest import Bench

NOTEBOOK = ROOT / "docs" / "guide" / "first-look.ipynb"


@pytest.mark.guest
def test_the_notebook_runs_and_prints_the_same_numbers_as_the_committed_one(bench: Bench) -> None:
    done = bench.folder / "done.ipynb"
    code, out, words = bench.run(str(NOTEBOOK), str(bench.folder), str(done), module="tests.interop.executed")
    assert code == 0, f"{out}{words[-3000:]}"
    if os.environ.get("WIRELAB_UPDATE_GOLDEN"):
        NOTEBOOK.write_bytes(done.read_bytes())
    found, committed = (nbformat.read(path, 4).cells for path in (done, NOTEBOOK))
    assert [outputs(cell, "text/plain") for cell in found] == [outputs(cell, "text/plain") for cell in committed]
    assert sum("<svg" in shown for cell in found for shown in outputs(cell, "text/html")) == 2


def outputs(cell: nbformat.NotebookNode, kind: str) -> list[str]:
    return [each["data"][kind] for each in cell.get("outputs", []) if kind in each.get("data", {})]
