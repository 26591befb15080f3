"""`python -m tests.interop.executed NOTEBOOK FOLDER OUT`: the notebook as it is after its cells ran in a folder."""

from __future__ import annotations

import sys

import nbclient
import nbformat


def main(notebook: str, folder: str, out: str) -> None:
    """Fails with the error of the first cell that has one."""
    read = nbformat.read(notebook, 4)
    # No cell says when it ran, so that the same cells give the same file.
    nbclient.NotebookClient(read, timeout=150, kernel_name="python3", record_timing=False).execute(cwd=folder)
    nbformat.write(read, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
