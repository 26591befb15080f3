from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.runner.fakes import FakeHost
from wirelab import agent as agents
from wirelab.runner.certificates import make_certificates

AGENT = """#!/bin/sh
echo "$@" >> "$0.calls"
for word; do folder=$word; done
mkdir -p "$folder" && cd "$folder" && touch authority.pem chain.pem key.pem client-chain.pem client-key.pem
"""


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    path = tmp_path / "agent"
    path.write_text(AGENT)
    path.chmod(0o755)
    return path


def calls(agent: Path) -> int:
    return len(agent.with_name("agent.calls").read_text().splitlines())


class Host(FakeHost):
    """Its agent makes the files."""

    def __init__(self, agent: Path) -> None:
        super().__init__()
        self.agent = agent
        self.seeds: list[int] = []

    def ask_agent(self, arguments: Sequence[str], seed: int) -> None:
        self.seeds.append(seed)
        agents.ask(self.agent, arguments)


def test_each_key_type_is_made_once_for_all_runs_of_a_campaign(tmp_path: Path, agent: Path) -> None:
    host = Host(agent)
    made = make_certificates(tmp_path, ["rsa-2048", "ecdsa-p256", "rsa-2048"], host, 7)
    assert list(made) == ["ecdsa-p256", "rsa-2048"]
    assert made["rsa-2048"].key == tmp_path / "certificates" / "rsa-2048" / "key.pem"
    assert make_certificates(tmp_path, ["rsa-2048"], host, 7) == {"rsa-2048": made["rsa-2048"]}
    assert calls(agent) == 2
    assert len(set(host.seeds)) == 2, "each has random numbers of its own"


def test_partly_written_certificates_of_a_killed_run_are_made_again(tmp_path: Path, agent: Path) -> None:
    made = make_certificates(tmp_path, ["ecdsa-p256"], Host(agent), 7)["ecdsa-p256"]
    made.key.unlink()
    make_certificates(tmp_path, ["ecdsa-p256"], Host(agent), 7)
    assert made.key.exists()
    assert calls(agent) == 2
