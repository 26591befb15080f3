"""Scripts that run the shards of a plan on a Slurm cluster: an array of tasks, and the merge after them."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wirelab import __version__
from wirelab.errors import WirelabError
from wirelab.runner.shards import OPTION

ARRAY, MERGE = "shards.sbatch", "merge.sbatch"
PARTS = "parts"
KEPT = ("PYTHONPATH", "PATH", "XDG_CACHE_HOME")
"""Environment variables that a script sets as they are here, with those of Wirelab's own."""
OWN = "WIRELAB_"


@dataclass(frozen=True)
class SlurmJobs:
    """The shards of one plan: `words` are the command line that makes it, without the folder. `folder` gets scripts,
    logs and parts, and `out` the merged campaign. `whole_nodes` is for real time, where another job on the same machine
    makes the link late.
    """

    name: str
    words: Sequence[str]
    shards: int
    folder: Path
    out: Path
    cwd: Path
    whole_nodes: bool

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
        return (
            f"sbatch --dependency=afterany:$(sbatch --parsable {_quoted(self.array)}) --kill-on-invalid-dep=yes "
            f"{_quoted(self.merge)}"
        )

    def again(self) -> str:
        """A line for a shell that runs one task again."""
        return f"sbatch --array=N {_quoted(self.array)}"

    def texts(self, environment: Mapping[str, str] = os.environ) -> dict[Path, str]:
        """The scripts by their paths."""
        every = {key: value for key, value in environment.items() if key in KEPT or key.startswith(OWN)}
        head = [
            "set -eu",
            f"cd {_quoted(self.cwd)}",
            *(f"export {key}={shlex.quote(value)}" for key, value in sorted(every.items())),
        ]
        wirelab = f"{_quoted(Path(sys.executable))} -m wirelab"
        task = '"$SLURM_ARRAY_TASK_ID"'
        own = f'{_quoted(self.folder / PARTS)}/"$(printf %04d {task})"'
        how = ["--exclusive"] if self.whole_nodes else ["--cpus-per-task=1"]
        array = [
            *self._head(f"{self.name}", "shard-%a.log"),
            f"#SBATCH --array=1-{self.shards}",
            *(f"#SBATCH {each}" for each in how),
            "# A task that starts again goes on where it stopped.",
            "#SBATCH --requeue",
            *head,
            f"exec {wirelab} {shlex.join(self.words)} {OPTION} {task}/{self.shards} --out {own}",
        ]
        merge = [
            *self._head(f"{self.name}-merge", "merge.log"),
            *head,
            "code=0",
            f"{wirelab} merge {_quoted(self.folder / PARTS)}/* --out {_quoted(self.out)} || code=$?",
            "# 2 says that nothing was merged.",
            f'[ "$code" != 2 ] || echo {shlex.quote(f"On this cluster: {self.again()}")} >&2',
            'exit "$code"',
        ]
        return {path: "\n".join([*lines, ""]) for path, lines in ((self.array, array), (self.merge, merge))}

    def write(self) -> None:
        """Write both scripts. Raises `WirelabError` if the folder is there: its parts may be of another plan."""
        try:
            self.folder.mkdir(parents=True)
            for path, text in self.texts().items():
                path.write_text(text, encoding="utf-8")
        except OSError as error:
            hint = "name another folder with --out"
            raise WirelabError(f"{self.folder} cannot be made: {error.strerror}", "--out", hint) from None

    def _head(self, name: str, log: str) -> list[str]:
        # Slurm replaces what follows a % in the name of a log.
        where = f"{self.folder}/".replace("%", "%%") + log
        return [
            "#!/bin/sh",
            f"# Written by wirelab {__version__}. Options of sbatch, such as --partition, win over those here.",
            f"#SBATCH --job-name={name}",
            f'#SBATCH --output="{where}"',
            "#SBATCH --open-mode=append",
            "#SBATCH --ntasks=1",
        ]


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
