"""Records and a journal that are cut or flipped anywhere: a real resume loses no trial, doubles none and names it."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.interop.covering import nightly

from wirelab.cli.arguments import load
from wirelab.metrics.dataset import build
from wirelab.plan import make_plan
from wirelab.runner.start import Options, run_plan
from wirelab.schema.campaign import EntryStatus, read_journal
from wirelab.schema.records import damage

if TYPE_CHECKING:
    from conftest import Bench

    from wirelab.runner.progress import Progress, Summary
    from wirelab.schema.plan import Plan

pytestmark = pytest.mark.namespaces

EXPERIMENT = """
title = "torn"
[factors]
protocol = ["raw-udp", "http1"]
[link]
rtt = "2 ms"
[workload]
kind = "request-response"
upload = "30 B"
connection = "new"
exchanges = 2
timeout = "5 s"
[stop]
replicates = 2
"""
TRIALS, EXCHANGES = 4, 2
SEED = int(os.environ.get("WIRELAB_SEED") or 1)


class Ears:
    """What a run says."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def update(self, progress: Progress) -> None:
        """Where it stands."""

    def say(self, words: str) -> None:
        """What the user should know."""
        self.said.append(words)


class Torn:
    """A small campaign that is damaged and resumed again and again."""

    def __init__(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("WIRELAB_AGENT", str(bench.agent))
        self.folder = bench.campaign
        loaded = load(str(bench.experiment(EXPERIMENT)), [])
        self.plan: Plan = make_plan(loaded)
        self.trials = {trial.trial: block.block for block in self.plan.blocks for trial in block.trials}
        self.resume()

    def resume(self) -> tuple[Summary, list[str]]:
        """Run what the campaign lacks."""
        ears = Ears()
        return run_plan(self.plan, self.folder, Options(jobs=1), None, ears), ears.said

    def last(self) -> dict[str, EntryStatus]:
        """The last status of each trial; the journal is whole."""
        return {entry.trial: entry.status for entry in read_journal(self.folder / "journal.jsonl")[0]}

    def files(self) -> list[Path]:
        """The journal, and every record that its last entries name."""
        held = {entry.trial: entry for entry in read_journal(self.folder / "journal.jsonl")[0]}
        names = [(trial, name) for trial, entry in held.items() for name in entry.records or {}]
        return [self.folder / "journal.jsonl", *(self.folder / "trials" / trial / name for trial, name in names)]

    def check(self, path: Path, damaged: bytes, place: str) -> None:
        """Damage a file, resume, and compare: every trial is there once, and those that ran are those that had to."""
        whole = path.read_bytes()
        if damaged == whole:
            return
        path.write_bytes(damaged)
        summary, said = self.resume()
        assert (summary.total, summary.run + summary.reused) == (TRIALS, TRIALS), place
        assert self.last() == dict.fromkeys(self.trials, EntryStatus.DONE), (place, said)
        named = {words.split()[0] for words in said if " is run again: " in words}
        if path.name == "journal.jsonl":
            # A journal that ends with a line is whole: the folders of trials alone say that lines were lost.
            lost = any(f"{path}:" in words and words.endswith("; this line is removed") for words in said)
            assert lost or damaged.endswith(b"\n") or not damaged, (place, said)
        else:
            trial = path.relative_to(self.folder / "trials").parts[0]
            assert named == {trial}, (place, said)
        # A block whose link was late on a busy machine runs again as a whole.
        blocks = {self.trials[trial] for trial in named}
        assert summary.run == len(named) or (summary.discarded and summary.run <= 2 * len(blocks)), (place, said)
        for entry in {entry.trial: entry for entry in read_journal(self.folder / "journal.jsonl")[0]}.values():
            assert damage(self.folder / "trials" / entry.trial, entry.records, done=True) is None, place

    def measured(self) -> Counter[str]:
        """How many exchanges of each trial the dataset has."""
        return Counter(build(self.folder).exchanges["trial"].to_list())


@pytest.fixture
def torn(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Torn:
    return Torn(bench, monkeypatch)


def anywhere(content: bytes, chance: random.Random) -> tuple[str, bytes]:
    """A cut or a flipped bit at a random place."""
    place = chance.randrange(len(content))
    if chance.random() < 0.5:
        return f"cut at {place}", content[:place]
    bit = chance.randrange(8)
    return f"bit {bit} of {place}", bytes([*content[:place], content[place] ^ 1 << bit, *content[place + 1 :]])


@pytest.mark.parametrize("times", [8, nightly(200)])
def test_damage_at_random_places_loses_and_doubles_no_trial(torn: Torn, times: int) -> None:
    print(f"seed {SEED}, {times} places")
    chance = random.Random(SEED)
    for number in range(times):
        journal, *records = torn.files()
        path = journal if chance.random() < 0.3 else chance.choice([each for each in records if each.stat().st_size])
        what, content = anywhere(path.read_bytes(), chance)
        torn.check(path, content, f"{number}: {path}: {what}")
    assert torn.measured() == dict.fromkeys(torn.trials, EXCHANGES)


@pytest.mark.parametrize("lines", [(2, TRIALS), nightly(tuple(range(TRIALS + 1)))], ids=["some", "each"])
def test_a_journal_that_is_cut_around_the_end_of_a_line_loses_and_doubles_no_trial(
    torn: Torn, lines: tuple[int, ...]
) -> None:
    journal = torn.folder / "journal.jsonl"
    for line in lines:
        for step in (-1, 0, 1):
            content = journal.read_bytes()
            end = len(b"".join(content.splitlines(keepends=True)[:line]))
            if 0 <= end + step < len(content):
                torn.check(journal, content[: end + step], f"line {line} {step:+}")
    assert torn.measured() == dict.fromkeys(torn.trials, EXCHANGES)


@pytest.mark.nightly
def test_a_record_that_is_cut_at_its_ends_or_has_a_byte_more_is_made_again(torn: Torn) -> None:
    for name in [path.relative_to(torn.folder) for path in torn.files() if "-0000/" in str(path)]:
        for place in ("nothing", "first byte", "without the last byte", "a byte more"):
            whole = (torn.folder / name).read_bytes()
            content = {"nothing": b"", "first byte": whole[:1], "without the last byte": whole[:-1]}
            torn.check(torn.folder / name, content.get(place, whole + b" "), f"{name}: {place}")
    assert torn.measured() == dict.fromkeys(torn.trials, EXCHANGES)
