"""Every shipped third-party implementation against ours and against each other, as `wirelab interop` tries them."""

from __future__ import annotations

import json

import polars as pl
import pytest
from tests.interop.covering import nightly

from wirelab.runner.implementations import load, missing

from .conftest import REQUIRED, Bench

# Each of its trials starts it again, which takes ten seconds or more: it has a test of its own.
SLOW = "rabbitmq"
MATRIX_TIMEOUT_S = 600
QUICK = [name for name, program in load(None).items() if program.roles.server is not None and name != SLOW]


def interop(bench: Bench, *options: str) -> set[str]:
    """Try pairs of which none may fail; why some are unsupported."""
    status, out, words = bench.run(
        "interop", "--json", "--out", str(bench.campaign), *options, timeout_s=MATRIX_TIMEOUT_S
    )
    cells = json.loads(out)
    failed = [cell for cell in cells if cell["result"] not in {"succeeded", "unsupported"}]
    assert not failed, words
    assert status == 0
    assert {cell["server_end"] for cell in cells} == {None}
    bench.assert_nothing_left()
    return {cell["reason"] for cell in cells if cell["result"] == "unsupported"}


@pytest.mark.namespaces
@pytest.mark.parametrize("workload", ["telemetry", "pubsub"])
def test_every_client_talks_to_every_server_of_its_protocol_or_says_that_it_does_not(
    bench: Bench, workload: str
) -> None:
    if absent := [why for program in load(None).values() if (why := missing(program)) is not None]:
        (pytest.fail if REQUIRED else pytest.skip)("; ".join(absent))
    servers = [f"--server={name}" for name in ("builtin", *QUICK)]
    unsupported = interop(bench, f"--workload={workload}", *servers)
    expected = {"telemetry": "connection = 'persistent'", "pubsub": "does not do pubsub"}[workload]
    assert all(expected in reason for reason in unsupported), unsupported


@pytest.mark.namespaces
@pytest.mark.rabbitmq
@pytest.mark.parametrize(
    ("protocol", "workload", "unsupported"),
    [
        ("amqp", "telemetry", set()),
        ("amqp", "pubsub", {"rabbitmq does this only with address-prefix = '/topic/'"}),
        ("mqtt", "telemetry", set()),
        nightly("mqtt", "pubsub", set()),
    ],
)
def test_rabbitmq_serves_a_trial_and_leaves_nothing(
    bench: Bench, protocol: str, workload: str, unsupported: set[str]
) -> None:
    options = ("--server=rabbitmq", "--client=builtin", f"--protocol={protocol}", f"--workload={workload}")
    assert interop(bench, *options) == unsupported


NOTIFIED = """
title = "notified"
[factors]
protocol = ["amqp"]
"protocol.address-prefix" = ["/topic/"]
[endpoints]
server = { implementation = "rabbitmq" }
[link]
rtt = "2 ms"
[workload]
kind = "pubsub"
messages = 3
subscribers = 2
arrival = { fixed = "20 /s" }
[stop]
replicates = 1
"""


@pytest.mark.namespaces
@pytest.mark.rabbitmq
def test_rabbitmq_delivers_to_every_subscriber_of_a_topic(bench: Bench) -> None:
    bench.measure_experiment(NOTIFIED)
    rows = pl.read_parquet(bench.campaign / "exchanges.parquet")
    assert (rows.height, set(rows["outcome"])) == (6, {"completed"})
    bench.assert_nothing_left()


@pytest.mark.namespaces
def test_the_template_of_a_new_protocol_fulfils_the_contract(bench: Bench) -> None:
    status, _, words = bench.run("new", "first.toml", "--protocol", "mine")
    assert status == 0, words
    status, out, words = bench.run("check-implementation", "mine-py")
    assert status == 0, f"{out}\n{words}"
    assert out.splitlines()[-1] == "9 checks, 0 failed, 3 unsupported"
    bench.assert_nothing_left()


@pytest.mark.namespaces
def test_a_program_that_breaks_the_contract_fails_its_check(bench: Bench) -> None:
    bench.run("new", "first.toml", "--protocol", "mine")
    client = bench.folder / "mine_client.py"
    client.write_text(client.read_text().replace("sys.exit(3)", "sys.exit(0)").replace('b"k"', 'b"x"'))
    status, out, _ = bench.run("check-implementation", "mine-py")
    assert status == 1
    assert "no  mine, mine-py to mine-py: 1 B, new connections: the server did not say k" in out
    assert "no  refuses an unsupported protocol with exit code 3: exit code 0" in out


@pytest.mark.namespaces
def test_a_server_that_ignores_sigterm_fails_its_check(bench: Bench) -> None:
    bench.run("new", "first.toml", "--protocol", "mine")
    server = bench.folder / "mine_server.py"
    text = server.read_text()
    assert text.count("lambda *_: sys.exit(0)") == 1
    server.write_text(text.replace("lambda *_: sys.exit(0)", "signal.SIG_IGN"))
    status, out, _ = bench.run("check-implementation", "mine-py")
    assert status == 1
    assert "no  mine, mine-py: the server ends within 2 s of SIGTERM: it had to be killed" in out
    bench.assert_nothing_left()
