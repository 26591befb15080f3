"""The command to repeat the campaign, its files, and its citation."""

from __future__ import annotations

import re
import shlex
from pathlib import Path, PurePosixPath

from wirelab import __version__
from wirelab.report.blocks import Block, Code, Links, Prose, Section
from wirelab.report.campaign import Campaign

ABSOLUTE = re.compile(r"(?<![\w.:/~-])((?:/[^\s/'\"=]+)+)/([^\s/'\"=]+)/?")
"""A path of two parts or more."""
HOMES = frozenset({"home", "root", "tmp", "Users"})
"""Where a user's files are, on this machine or another."""
FILES = (
    ("exchanges.csv", "a row for each exchange, CSV"),
    ("exchanges.parquet", "a row for each exchange, Parquet"),
    ("resources.parquet", "a row for each resource of a page's load, Parquet"),
    ("trials.parquet", "a row for each trial, Parquet"),
    ("estimates.csv", "estimates, CSV"),
    ("estimates.parquet", "estimates, Parquet"),
    ("estimates.json", "estimates and comparisons, JSON"),
    ("verdicts.json", "verdicts on claims, JSON"),
    ("plan.json", "the plan, JSON"),
    ("campaign.json", "machine and versions, JSON"),
)


def section(campaign: Campaign) -> Section:
    """Command, files, citation."""
    links = [(f"{name}: {words}", href) for name, words in FILES if (href := campaign.href(name))]
    blocks: list[Block] = [Code(rerun_command(campaign), "Run it yourself"), Links(links)]
    blocks += [Prose("Cite the campaign, and the publication that it replicates."), Code(bibtex(campaign), "BibTeX")]
    return Section("reuse", "Run it yourself, files, citation", blocks)


def rerun_command(campaign: Campaign) -> str:
    """The command line that the campaign recorded, or one made from its plan."""
    if campaign.record is not None and campaign.record.command:
        return shlex.join(map(without_folders, campaign.record.command))
    words = ["wirelab", "run", campaign.experiment.file or campaign.experiment.name]
    for path, levels in campaign.experiment.sets.items():
        words += ["--set", f"{path}={', '.join(map(str, levels))}"]
    return shlex.join([*words, "--seed", str(campaign.plan.seed)])


def without_folders(word: str) -> str:
    """A word of a command with the names of files alone, for their folders are those of one machine. What is no file,
    such as the path of a request, keeps its folders.
    """
    return ABSOLUTE.sub(lambda path: path[2] if _is_of_a_machine(path[0]) else path[0], word)


def _is_of_a_machine(path: str) -> bool:
    return PurePosixPath(path).parts[1] in HOMES or Path(path).parent.exists()


def bibtex(campaign: Campaign) -> str:
    """A citation of this campaign. Its authors are not known to Wirelab."""
    experiment, record = campaign.experiment, campaign.record
    name = "".join(c if c.isalnum() else "-" for c in f"{experiment.name}{'-preview' * bool(campaign.quick_run)}")
    written = max((entry.written for entry in campaign.journal.values()), default="")
    version, seed = __version__ if record is None else record.wirelab, campaign.plan.seed
    digest = record.runs[-1].digest if record is not None and record.runs else None
    # Two braces keep letters as they are.
    lines = [
        f"@misc{{wirelab-{name},",
        "  key = {Wirelab},",
        f"  title = {{{{{_tex(experiment.title or name)}}}}},",
        f"  howpublished = {{Wirelab {version}, experiment {_tex(name)}, campaign seed {seed}}},",
    ]
    if written:
        lines.append(f"  year = {{{written[:4]}}},")
    notes = [f"measured {written[:10]}"] * bool(written) + ["a quick run"] * bool(campaign.quick_run)
    notes += [f"SHA-256 of records {digest[:12]}"] if digest is not None else []
    notes += [f"repeats doi:{_tex(experiment.doi)}"] if experiment.doi else []
    if notes:
        lines.append(f"  note = {{{', '.join(notes)}}},")
    return "\n".join([*lines, "}"])


def _tex(text: str) -> str:
    return "".join(f"\\{c}" if c in "%&_#$" else "" if c in "{}\\" else c for c in text)
