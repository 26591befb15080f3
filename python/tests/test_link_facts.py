import json
import shlex
from pathlib import Path

import pytest

from tests.asked import ask
from wirelab.errors import RunError
from wirelab.link_facts import asking
from wirelab.schema import LinkSpec

LINK = LinkSpec(uplink=(), downlink=())


def agent(folder: Path, script: str) -> Path:
    path = folder / "agent"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def other(answer: object) -> str:
    return f"read link; echo {shlex.quote(json.dumps(answer))}"


@pytest.mark.parametrize(
    "script",
    [
        "read link; echo 'error: all is well'",
        other([]),
        other({}),
        other({"facts": {}}),
        other({"refused": {"reason": "too wide"}}),
    ],
)
def test_an_agent_of_another_version_is_named_as_such(tmp_path: Path, script: str) -> None:
    with asking(agent(tmp_path, script)) as ask_other, pytest.raises(RunError) as raised:
        ask_other(LINK)
    assert raised.value.what.startswith("wirelab-agent link-facts answers as an agent of another version: ")
    assert raised.value.hint is not None


def test_an_agent_without_the_verb_is_quoted_with_what_to_do(tmp_path: Path) -> None:
    script = "echo unrecognized subcommand >&2; exit 2"
    with asking(agent(tmp_path, script)) as ask_other, pytest.raises(RunError, match="unrecognized") as raised:
        ask_other(LINK)
    assert "of the same version" in str(raised.value.hint)


def test_an_answer_of_this_version_is_read(tmp_path: Path) -> None:
    answer = {"facts": ask(LINK).model_dump(mode="json")}
    with asking(agent(tmp_path, other(answer))) as ask_other:
        assert ask_other(LINK) == ask(LINK)
