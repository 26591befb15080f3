"""The program's start: `wirelab`, and `python -m wirelab`. Ctrl-C is quiet while its modules are still imported."""

from __future__ import annotations

import os
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line, and exit with its code; with 130 if it was cancelled, however early."""
    try:
        from wirelab.cli import main as command

        command.main(prog_name="wirelab")
    except KeyboardInterrupt:
        # It came before the verb began or after its end, so nothing is open. Python's own end would print where it was.
        os.write(2, b"\ncancelled\n")
        os._exit(130)


if __name__ == "__main__":
    main()
