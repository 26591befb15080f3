"""Trials that have lost a record, run again: none is lost, doubled or silently left out."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import pytest

from tests.repeats import repeats
from tests.runner.fakes import make_plan, result
from tests.runner.test_run import entries, run
from wirelab.runner.journal import Journal
from wirelab.schema import TrialRequest, TrialResult
from wirelab.schema.campaign import EntryStatus, JournalEntry
from wirelab.schema.records import damage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "results" / "fake"


def lose_a_record(folder: Path, kind: str) -> str:
    """Damage one trial that is done; its name."""
    trial = "t1-0001"
    path = folder / "trials" / trial / "result.json"
    match kind:
        case "folder":
            shutil.rmtree(path.parent)
        case "missing":
            path.unlink()
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(path.read_bytes()[:-1])
        case "link":
            path.rename(folder / "aside")
            path.symlink_to(folder / "aside")
        case "plain file":
            shutil.rmtree(path.parent)
            path.parent.write_text("")
    return trial


@pytest.mark.parametrize("kind", ["folder", "missing", "empty", "cut", "link", "plain file"])
def test_a_trial_that_lost_a_record_is_run_again_and_named(folder: Path, kind: str) -> None:
    run(make_plan(), folder)
    trial = lose_a_record(folder, kind)
    summary, host, ears = run(make_plan(), folder)
    assert [request.trial for request in host.started] == [trial]
    assert (summary.run, summary.reused, summary.total) == (1, 5, 6)
    [said] = ears.said
    assert said.startswith(f"{trial} is run again: its record ")
    assert [(e.status, e.attempt) for e in entries(folder) if e.trial == trial] == [
        (EntryStatus.DONE, 1), (EntryStatus.DISCARDED, 1), (EntryStatus.DONE, 2)
    ]  # fmt: skip
    assert run(make_plan(), folder)[1].started == []


def test_records_are_on_the_disk_before_the_journal_says_that_the_trial_is_done(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync, append = os.fsync, Journal.append

    def remember(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    def check(journal: Journal, *written: JournalEntry) -> None:
        for entry in written:
            trial = folder / "trials" / entry.trial
            needed = {trial.parent, trial, trial / "client", *(trial / name for name in entry.records or {"?": ""})}
            assert {str(path) for path in needed} <= set(synced)
            assert {"result.json", "request.json", "client/parameters.json"} <= set(entry.records or {})
        append(journal, *written)

    monkeypatch.setattr(os, "fsync", remember)
    monkeypatch.setattr(Journal, "append", check)
    summary, _, _ = run(make_plan(1, 2), folder)
    assert summary.run == 2


def test_a_journal_without_digests_is_read(folder: Path) -> None:
    run(make_plan(), folder, lambda request, _: with_rows(request))
    path = folder / "journal.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        del line["records"], line["crc32"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run(make_plan(), folder)[0].reused == 6
    (folder / "trials" / "t0-0000" / "client" / "exchanges.jsonl").unlink()
    summary, _, ears = run(make_plan(), folder, lambda request, _: with_rows(request))
    assert (summary.run, summary.reused) == (1, 5)
    assert ears.said == ["t0-0000 is run again: its record client/exchanges.arrow is missing"]


def with_rows(request: TrialRequest) -> TrialResult:
    """A trial whose client wrote a row."""
    row = {"index": 0, "outcome": "completed", "start_ns": 1, "end_ns": 2}
    (request.packet_log.parent / "client" / "exchanges.jsonl").write_text(json.dumps(row) + "\n")
    return result(request.trial)


CUTS = repeats(20)


def test_no_random_cut_loses_or_doubles_a_trial(folder: Path) -> None:
    chance = random.Random(CUTS)
    plan = make_plan(2, 3)
    names = {trial.trial for block in plan.blocks for trial in block.trials}
    run(plan, folder, lambda request, _: with_rows(request))
    for number in range(CUTS):
        records = sorted(path for path in (folder / "trials").glob("t?-????/**/*") if path.is_file())
        path = chance.choice([*records, folder / "journal.jsonl"])
        content = path.read_bytes()
        lines = [at for at, byte in enumerate(content) if byte == ord("\n")] or [0]
        around = min(max(chance.choice(lines) + chance.choice((-1, 0, 1)), 0), len(content) - 1)
        path.write_bytes(content[: chance.choice((around, chance.randrange(len(content))))])
        summary, host, ears = run(plan, folder, lambda request, _: with_rows(request))
        assert summary.total == 6, number
        assert summary.run + summary.reused == 6
        assert len({request.trial for request in host.started}) == len(host.started) == summary.run > 0
        assert path.name == "journal.jsonl" or len(ears.said) == 1
        held = [entry for entry in {entry.trial: entry for entry in entries(folder)}.values() if entry.status.final]
        assert {entry.trial for entry in held} == names
        assert all(damage(folder / "trials" / e.trial, e.records, done=True) is None for e in held)
