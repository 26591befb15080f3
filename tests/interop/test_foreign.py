"""Every shipped foreign implementation against ours and against each other, as `wirelab interop` tries them."""

from __future__ import annotations

import json

import pytest

from wirelab.runner.implementations import load, missing

from .conftest import REQUIRED, Bench


@pytest.mark.namespaces
def test_every_client_talks_to_every_server_of_its_stack_or_says_that_it_does_not(bench: Bench) -> None:
    if absent := [why for program in load(None).values() if (why := missing(program)) is not None]:
        (pytest.fail if REQUIRED else pytest.skip)("; ".join(absent))
    status, out, words = bench.run("interop", "--json", "--out", str(bench.campaign))
    cells = json.loads(out)
    failed = [cell for cell in cells if cell["result"] not in {"succeeded", "unsupported"}]
    assert not failed, words
    assert status == 0
    unsupported = {cell["reason"] for cell in cells if cell["result"] == "unsupported"}
    assert all("connection = 'kept'" in reason for reason in unsupported), unsupported
    bench.assert_nothing_left()


@pytest.mark.namespaces
def test_a_stack_of_ones_own_fulfils_the_contract_as_it_is_begun(bench: Bench) -> None:
    status, _, words = bench.run("new", "first.toml", "--stack", "mine")
    assert status == 0, words
    status, out, words = bench.run("check-implementation", "mine-py")
    assert status == 0, f"{out}\n{words}"
    assert out.splitlines()[-1] == "8 checks, 0 failed"
    bench.assert_nothing_left()


@pytest.mark.namespaces
def test_a_program_that_breaks_the_contract_is_found_out(bench: Bench) -> None:
    bench.run("new", "first.toml", "--stack", "mine")
    client = bench.folder / "mine_client.py"
    client.write_text(client.read_text().replace("sys.exit(3)", "sys.exit(0)").replace('b"k"', 'b"x"'))
    status, out, _ = bench.run("check-implementation", "mine-py")
    assert status == 1
    assert "no  mine, mine-py to mine-py: 1 B, fresh connections: the server did not say k" in out
    assert "no  refuses a stack that it does not do with exit code 3: exit code 0" in out
