"""Scripts that run the shards of a plan on a Slurm cluster: an array of tasks, and the merge after them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wirelab import __version__
from wirelab.errors import WirelabError
from wirelab.runner.shards import OPTION
from wirelab.schema.record import FACTS

ARRAY, MERGE = "shards.sbatch", "merge.sbatch"
PARTS = "parts"
KEPT = ("PYTHONPATH", "PATH", "XDG_CACHE_HOME")
"""Environment variables that a script sets as they are here, with those of Wirelab's own."""
OWN = "WIRELAB_"


@dataclass(frozen=True)
class SlurmJobs:
    """The shards of one plan: `words` are the command line that makes it, without the folder. `folder` gets scripts,
    logs and parts, and `out` the merged campaign. A task has so many `cpus`; None is a node for itself, for real time,
    where another job on the same node makes the link late.
    """

    name: str
    words: Sequence[str]
    shards: int
    folder: Path
    out: Path
    cwd: Path
    cpus: int | None

    @property
    def array(self) -> Path:
        """The script of the shards."""
        return self.folder / ARRAY

    @property
    def merge(self) -> Path:
        """The script of the merge."""
        return self.folder / MERGE

    def submit(self) -> str:
        """A line for a shell. The merge starts after the last task, however that ended: it names what is missing."""
        # Where a cluster is named, the number of a job has its name behind it.
        array = f"$(sbatch --parsable {_quoted(self.array)} | cut -d';' -f1)"
        return f"sbatch --dependency=afterany:{array} --kill-on-invalid-dep=yes {_quoted(self.merge)}"

    def again(self) -> str:
        """A line for a shell that runs one task again."""
        return f"sbatch --array=N {_quoted(self.array)}"

    def texts(self, environment: Mapping[str, str] = os.environ) -> dict[Path, str]:
        """The scripts by their paths."""
        every = {
            key: value
            for key, value in environment.items()
            if (key in KEPT or key.startswith(OWN)) and key.isidentifier()
        }
        head = [
            "set -eu",
            f"cd {_quoted(self.cwd)}",
            *(f"export {key}={shlex.quote(value)}" for key, value in sorted(every.items())),
        ]
        wirelab, parts, out = f"{_quoted(Path(sys.executable))} -m wirelab", self.folder / PARTS, _quoted(self.out)
        task = '"$SLURM_ARRAY_TASK_ID"'
        array = [
            *self._head(self.name, "shard-%a.log"),
            f"#SBATCH --array=1-{self.shards}",
            "#SBATCH --exclusive" if self.cpus is None else f"#SBATCH --cpus-per-task={self.cpus}",
            "# A task that is requeued continues.",
            "#SBATCH --requeue",
            *head,
            f"exec {wirelab} {shlex.join(self.words)} {OPTION} {task}/{self.shards} "
            f'--out {_quoted(parts)}/"$(printf %04d {task})"',
        ]
        merge = [
            *self._head(f"{self.name}-merge", "merge.log"),
            *head,
            f"if [ -e {out} ]; then",
            "    # An earlier merge was stopped while it measured.",
            *(f"    {wirelab} {verb} {out}" for verb in ("measure", "analyze", "report")),
            "    exit",
            "fi",
            "# Tasks that failed at once left no campaign.",
            "set --",
            f'for part in {_quoted(parts)}/*; do [ ! -e "$part"/{FACTS} ] || set -- "$@" "$part"; done',
            '[ $# -gt 0 ] || { echo "no task has run" >&2; exit 1; }',
            "code=0",
            f'{wirelab} merge "$@" --out {out} || code=$?',
            f'[ "$code" != 2 ] || echo {shlex.quote(f"A shard N that is missing: {self.again()}")} >&2',
            'exit "$code"',
        ]
        return {path: "\n".join([*lines, ""]) for path, lines in ((self.array, array), (self.merge, merge))}

    def write(self) -> None:
        """Write both scripts, or nothing. Raises `WirelabError` if the folder is there, because its parts may be of
        another plan, and for a name that a script cannot have.
        """
        if "\n" in str(self.folder):
            raise WirelabError("has a line break", "--out", "Slurm's scripts cannot name such a folder")
        texts = {path: os.fsencode(text) for path, text in self.texts().items()}
        try:
            self.folder.mkdir(parents=True)
        except OSError as error:
            hint = "name another folder with --out"
            raise WirelabError(f"{self.folder} cannot be made: {error.strerror}", "--out", hint) from None
        try:
            for path, text in texts.items():
                path.write_bytes(text)
        except OSError as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise WirelabError(f"{self.folder} cannot be written: {error.strerror}", "--out") from None

    def _head(self, name: str, log: str) -> list[str]:
        # Slurm reads a directive as a shell reads words, and then replaces what follows a % in the name of a log.
        where = re.sub(r'(["\\])', r"\\\1", f"{self.folder}/").replace("%", "%%") + log
        return [
            "#!/bin/sh",
            f"# Written by wirelab {__version__}. SBATCH_PARTITION, SBATCH_ACCOUNT and SBATCH_TIMELIMIT choose for it.",
            f"#SBATCH --job-name={re.sub('[^A-Za-z0-9._-]+', '-', name)}",
            f'#SBATCH --output="{where}"',
            "#SBATCH --open-mode=append",
            "#SBATCH --ntasks=1",
        ]


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
