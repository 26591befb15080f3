"""The journal on disk."""

from pathlib import Path

import pytest

from wirelab.errors import WirelabError
from wirelab.runner.disk import FolderGoneError
from wirelab.runner.journal import Journal
from wirelab.schema.campaign import EntryStatus, JournalEntry, read_journal, scan_journal


def entry(trial: str, status: EntryStatus = EntryStatus.DONE) -> JournalEntry:
    return JournalEntry(
        trial=trial,
        scenario="s",
        block=0,
        lane=0,
        lanes=1,
        status=status,
        attempt=1,
        agent="a",
        written="2026-01-01T00:00:00Z",
    )


def test_entries_come_back_in_order(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.append(entry("a"))
        journal.append(entry("b"), entry("c", EntryStatus.DISCARDED))
    with Journal(tmp_path / "journal.jsonl") as journal:
        assert [e.trial for e in journal.entries] == ["a", "b", "c"]


@pytest.mark.parametrize("kept", range(1, 60, 7))
def test_a_torn_last_line_is_cut_off_and_writing_continues_after_the_last_whole_line(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(entry("a"), entry("b"))
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(whole[0] + whole[1][:kept])
    with Journal(path) as journal:
        assert [e.trial for e in journal.entries] == ["a"]
        journal.append(entry("c"))
    with Journal(path) as journal:
        assert [e.trial for e in journal.entries] == ["a", "c"]


def test_a_broken_line_in_the_middle_is_named_by_readers_and_removed_by_a_run(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(entry("a"))
    whole = path.read_bytes()
    path.write_bytes(b"not json\n" + whole)
    with pytest.raises(WirelabError, match=r"journal\.jsonl:1: not a journal entry: invalid JSON: expected ident"):
        read_journal(path)
    with Journal(path) as journal:
        assert [e.trial for e in journal.entries] == ["a"]
        [removed] = journal.removed
        assert removed.startswith(f"{path}:1: not a journal entry: invalid JSON")
    assert path.read_bytes() == whole
    assert read_journal(path)[0] == [entry("a").model_copy(update={"crc32": journal.entries[0].crc32})]


def test_every_flipped_bit_of_a_journal_is_found(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(entry("a"), entry("b"))
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            path.write_bytes(bytes([*whole[:place], whole[place] ^ 1 << bit, *whole[place + 1 :]]))
            read = scan_journal(path)
            assert read.damaged or read.cut, (place, bit)
            assert [e.trial for e in read.entries] in ([], ["a"], ["b"]), (place, bit)


@pytest.mark.parametrize("instead", [None, "another file"])
def test_a_journal_that_was_taken_away_is_said(tmp_path: Path, instead: str | None) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(entry("a"))
        path.rename(tmp_path / "elsewhere")
        if instead is not None:
            path.write_text(instead)
        with pytest.raises(FolderGoneError, match=r"journal\.jsonl was removed or renamed during the run"):
            journal.append(entry("b"))
