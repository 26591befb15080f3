"""The first boxes of the straight line: an experiment file is run and measured, with `--estimates` analyzed too. What
comes after these in `wirelab run`, a report and the answer, takes as long as all of it and is not made.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from wirelab.cli.arguments import load
from wirelab.metrics.dataset import measure
from wirelab.plan import make_plan
from wirelab.runner.progress import Progress
from wirelab.runner.start import Options, run_plan


class Words:
    """What a run says, on stderr."""

    def update(self, progress: Progress) -> None:
        """Where it stands, which nobody watches."""

    def say(self, words: str) -> None:
        """What the user should know."""
        print(words, file=sys.stderr)


def main() -> int:
    """Exits with 1 if a trial failed."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("file")
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--jobs", type=int)
    arguments.add_argument("--capture", action="store_true")
    arguments.add_argument("--estimates", action="store_true")
    given = arguments.parse_args()
    loaded = load(given.file, ["capture=true"] * given.capture)
    options = Options(
        jobs=given.jobs, command=tuple(sys.argv), beside=loaded.source.folder, claims=loaded.claims,
        pages=loaded.pages(),
    )  # fmt: skip
    summary = run_plan(make_plan(loaded), given.out, options, None, Words())
    measure(given.out)
    if given.estimates:
        from wirelab.cli.analyze import analyze_campaign

        analyze_campaign(given.out)
    return 1 if summary.failed else 0


if __name__ == "__main__":
    sys.exit(main())
