"""`wirelab verify`, with campaigns that nothing ran."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_main import run
from tests.documents import whole_record
from tests.runner.fakes import make_plan
from wirelab.clock.kernel import VARIABLE
from wirelab.errors import RunError
from wirelab.runner.again import Difference
from wirelab.runner.digest import campaign_digest
from wirelab.schema import Clock
from wirelab.schema.campaign import EntryStatus, JournalEntry, read_journal
from wirelab.schema.plan import Plan
from wirelab.schema.record import CampaignRecord

TRIALS = ("t0-0000", "t1-0000")


def made(folder: Path, clock: Clock = Clock.VIRTUAL, digest: str | None = "") -> Path:
    """A campaign of two trials; without `digest` it has that of its records."""
    plan = make_plan(scenarios=2, blocks=1)
    plan = plan.model_copy(update={"scenarios": tuple(s.model_copy(update={"clock": clock}) for s in plan.scenarios)})
    lines = []
    for trial in TRIALS:
        log = folder / "trials" / trial / "packets.wlpl"
        log.parent.mkdir(parents=True)
        log.write_bytes(trial.encode())
        entry = JournalEntry(
            trial=trial, scenario=plan.scenarios[0].key, block=0, lane=0, lanes=1, status=EntryStatus.DONE, attempt=1,
            agent="a", written="2026-01-01T00:00:00Z",
            records={"packets.wlpl": hashlib.sha256(trial.encode()).hexdigest()},
        )  # fmt: skip
        lines.append(entry.line())
    (folder / "journal.jsonl").write_bytes(b"".join(lines))
    (folder / "plan.json").write_text(plan.model_dump_json())
    found = campaign_digest(folder, TRIALS) if digest == "" else digest
    record = CampaignRecord.model_validate(whole_record({"runs": [{"digest": found}]}))
    (folder / "campaign.json").write_text(record.model_dump_json())
    return folder


def rerun(monkeypatch: pytest.MonkeyPatch, differences: Sequence[Difference], agent: str = "a") -> list[Plan]:
    """Have a second run with these differences, by this agent; the plans that were run."""
    plans: list[Plan] = []

    def run_again(campaign: Path, plan: Plan, folder: Path, *_: Any) -> list[Difference]:
        assert campaign.is_absolute()
        shutil.copytree(campaign, folder, dirs_exist_ok=True)
        entries = [each.model_copy(update={"agent": agent}) for each in read_journal(folder / "journal.jsonl")[0]]
        (folder / "journal.jsonl").write_bytes(b"".join(each.line() for each in entries))
        plans.append(plan)
        return list(differences)

    monkeypatch.setattr("wirelab.runner.again.run_again", run_again)
    monkeypatch.setattr("wirelab.runner.start.require_clock", lambda _clock: None)
    return plans


def test_records_that_nobody_changed_have_their_digest(tmp_path: Path) -> None:
    folder = made(tmp_path / "mine")
    assert run("verify", str(folder)) == (0, f"{folder}: 2 trials, digest {campaign_digest(folder, TRIALS)}\n", "")


def test_a_changed_record_is_named(tmp_path: Path) -> None:
    folder = made(tmp_path / "mine")
    (folder / "trials" / TRIALS[1] / "packets.wlpl").write_bytes(b"other")
    code, out, _ = run("verify", str(folder))
    assert code == 1
    first, *others = out.splitlines()
    assert first.startswith(f"{folder}: the records are not those of its last run: digest ")
    assert others == ["t1-0000: packets.wlpl"]


def test_a_second_run_repeats_the_finished_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "mine")
    plans = rerun(monkeypatch, [])
    code, out, _ = run("verify", str(folder), "--again")
    assert (code, out.splitlines()[1:]) == (0, ["the same bytes in every record of 2 trials"])
    [plan] = plans
    assert [trial.trial for block in plan.blocks for trial in block.trials] == [*TRIALS]


def test_a_missing_kernel_is_reported_before_records_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "mine")
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    code, out, words = run("verify", str(folder), "--again")
    assert (code, out) == (2, "")
    assert words.startswith("error: the virtual clock needs its kernel, which is not built yet\nhint: ")
    assert run("verify", str(folder))[0] == 0


def test_the_first_packet_that_differs_is_named_or_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "mine")
    different = [Difference(TRIALS[0], ("packets.wlpl",)), Difference(TRIALS[1], ("result.json",))]
    rerun(monkeypatch, different)

    def dissected(log: Path) -> list[dict[str, int]]:
        return [{"sequence": 0, "size": 40}, {"sequence": 1, "size": 40 if log.is_relative_to(folder) else 41}]

    monkeypatch.setattr("wirelab.metrics.packets.dissected", dissected)
    monkeypatch.setattr(
        "wirelab.metrics.packets.records_of", lambda log: (b"", [b"0", b"1%d" % dissected(log)[1]["size"]])
    )
    code, out, _ = run("verify", str(folder), "--again")
    assert code == 1
    assert out.splitlines()[1:] == [
        "2 of 2 trials differ",
        "t0-0000: packet 1 is the first that differs:",
        "  {'sequence': 1, 'size': 40}",
        "  {'sequence': 1, 'size': 41}",
        "t1-0000: result.json",
    ]


def test_packets_that_differ_in_their_bytes_alone_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "mine")
    rerun(monkeypatch, [Difference(TRIALS[0], ("packets.wlpl",)), Difference(TRIALS[1], ("packets.wlpl",))])

    def records_of(log: Path) -> tuple[bytes, list[bytes]]:
        mine = log.is_relative_to(folder)
        if log.parent.name == TRIALS[1]:
            return b"first" if mine else b"second", []
        return b"", [b"same", b"payload" if mine else b"pagloat", b"more" if mine else b"else"]

    monkeypatch.setattr("wirelab.metrics.packets.dissected", lambda _: [{"sequence": number} for number in range(3)])
    monkeypatch.setattr("wirelab.metrics.packets.records_of", records_of)
    code, out, _ = run("verify", str(folder), "--again")
    assert code == 1
    assert out.splitlines()[2:] == [
        "t0-0000: packet 1 is the first that differs, in byte 2 of its record:",
        "  {'sequence': 1}",
        "  {'sequence': 1}",
        "t1-0000: packets.wlpl",
        "  The headers of packets.wlpl differ.",
    ]


def test_another_build_of_the_agent_is_named_as_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "mine")
    rerun(monkeypatch, [Difference(TRIALS[0], ("result.json",))], agent="b")
    code, out, _ = run("verify", str(folder), "--again")
    assert code == 1
    assert out.splitlines()[-1] == "The second run had another build of the agent, which may give other bytes."


def test_a_log_that_cannot_be_read_any_more_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "mine")
    rerun(monkeypatch, [Difference(TRIALS[0], ("packets.wlpl",))])

    def dissected(log: Path) -> list[dict[str, int]]:
        raise RunError(f"{log} is no packet log")

    monkeypatch.setattr("wirelab.metrics.packets.dissected", dissected)
    code, out, _ = run("verify", str(folder), "--again")
    assert (code, out.splitlines()[1:]) == (1, ["1 of 2 trials differ", "t0-0000: packets.wlpl"])


@pytest.mark.parametrize(
    ("clock", "digest", "words"),
    [
        (Clock.LIVE, "a", "the campaign ran by this machine's clock, and no second run has the same bytes"),
        (Clock.VIRTUAL, None, "has no digest: only a run under the virtual clock that came to its end has one"),
    ],
)
def test_a_campaign_that_cannot_be_repeated_is_an_error(
    tmp_path: Path, clock: Clock, digest: str | None, words: str
) -> None:
    folder = made(tmp_path / "mine", clock, digest)
    code, _, err = run("verify", str(folder), "--again")
    assert code == 2
    assert words in err
    assert "hint: wirelab run FILE --clock virtual makes one" in err
