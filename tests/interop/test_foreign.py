"""Every shipped foreign implementation against ours and against each other, as `wirelab interop` tries them."""

from __future__ import annotations

import json

import pytest

from wirelab.runner.implementations import load

from .conftest import REQUIRED, Bench


@pytest.mark.namespaces
def test_every_client_talks_to_every_server_of_its_stack_or_says_that_it_does_not(bench: Bench) -> None:
    if absent := [program.missing for program in load(None).values() if program.missing is not None]:
        (pytest.fail if REQUIRED else pytest.skip)("; ".join(absent))
    status, out, words = bench.run("interop", "--json", "--out", str(bench.campaign))
    cells = json.loads(out)
    failed = [cell for cell in cells if cell["result"] not in {"succeeded", "unsupported"}]
    assert not failed, words
    assert status == 0
    unsupported = {cell["reason"] for cell in cells if cell["result"] == "unsupported"}
    assert all("connection = 'kept'" in reason for reason in unsupported), unsupported
    bench.assert_nothing_left()
