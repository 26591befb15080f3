"""The agent under a name of the campaign's own."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from wirelab.runner import own_agent as module
from wirelab.runner.own_agent import NAME, own_agent


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent, on a machine without AppArmor."""
    monkeypatch.setattr(module, "_APPARMOR", tmp_path / "no-apparmor")
    path = tmp_path / "built"
    path.write_text("#!/bin/sh\necho first\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    folder = tmp_path / "campaign"
    folder.mkdir()
    return folder


def test_a_new_build_does_not_change_what_a_campaign_runs(agent: Path, campaign: Path) -> None:
    with own_agent(campaign, agent) as own:
        assert own.samefile(agent)
        fresh = agent.with_name("fresh")
        fresh.write_text("#!/bin/sh\necho second\n")
        fresh.replace(agent)
        assert "first" in own.read_text()
        assert os.access(own, os.X_OK)


def test_the_copy_of_the_agent_is_removed_however_the_run_ends(agent: Path, campaign: Path) -> None:
    with pytest.raises(KeyboardInterrupt), own_agent(campaign, agent):
        raise KeyboardInterrupt
    assert list(campaign.iterdir()) == []
    assert agent.exists()


def test_the_leftovers_of_a_killed_run_are_replaced(agent: Path, campaign: Path) -> None:
    (campaign / NAME).write_text("of an earlier build")
    with own_agent(campaign, agent) as own:
        assert own.samefile(agent)


def test_on_another_file_system_the_agent_is_copied(
    agent: Path, campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "hardlink_to", _other_device)
    with own_agent(campaign, agent) as own:
        assert own == campaign / NAME
        assert not own.samefile(agent)
        assert own.read_text() == agent.read_text()
        assert os.access(own, os.X_OK)


def test_a_copy_does_not_fill_the_disk(agent: Path, campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(campaign)._replace(free=module.ROOM * agent.stat().st_size - 1)
    monkeypatch.setattr(Path, "hardlink_to", _other_device)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with own_agent(campaign, agent) as own:
        assert own == agent
        assert list(campaign.iterdir()) == []


def test_on_a_noexec_file_system_the_agent_itself_runs(
    agent: Path, campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with own_agent(campaign, agent) as own:
        assert own == agent


@pytest.mark.parametrize(("user", "bound"), [(1000, True), (0, False)])
def test_under_path_based_apparmor_profiles_the_agent_itself_runs(
    agent: Path, campaign: Path, monkeypatch: pytest.MonkeyPatch, user: int, bound: bool
) -> None:
    module._APPARMOR.write_text("1\n")
    monkeypatch.setattr(os, "geteuid", lambda: user)
    with own_agent(campaign, agent) as own:
        assert (own == agent) is bound


def _other_device(*_: object) -> None:
    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
