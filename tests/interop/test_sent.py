"""Messages that nothing answers: they are sent, have no delay, and the link says how many of them arrived."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from wirelab.metrics.dataset import EXCHANGES
from wirelab.schema.estimates import AnalysedScenario

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.namespaces

EXPERIMENT = """
title = "sent"
[factors]
protocol = {protocols}
link = ["clean", "cut"]
[links]
clean = {{ rtt = "10 ms" }}
cut.schedule.points = [{{ at = "0 s", delay = "5 ms" }}, {{ at = "150 ms", delay = "5 ms", loss = "100 %" }}]
[workload]
kind = "telemetry"
message = "400 B"
exchanges = 20
arrival = {{ fixed = "50 /s" }}
connection = "persistent"
timeout = "2 s"
[protocols.mqtt]
qos = 0
[protocols.amqp]
delivery = "at-most-once"
[protocols.coap]
confirmable = false
{clients}
[stop]
replicates = 1
"""


def scenarios(bench: Bench, protocols: list[str], clients: str = "") -> dict[tuple[str, str], AnalysedScenario]:
    """What the analysis says of each protocol and link."""
    bench.measure_experiment(EXPERIMENT.format(protocols=json.dumps(protocols), clients=clients), timeout_s=300)
    status, _, words = bench.run("analyze", str(bench.campaign))
    assert status == 0, words
    estimates = json.loads((bench.campaign / "estimates.json").read_text(encoding="utf-8"))
    return {(each["protocol"], each["levels"]["link"]): each for each in estimates["scenarios"]}


def counts(scenario: AnalysedScenario) -> tuple[int, int, int | None]:
    """Completed, sent and arrived."""
    ends = scenario["denominators"]
    return ends["completed"], ends["sent"], ends["arrived"]


def test_what_nothing_answers_is_sent_and_the_link_counts_what_arrived(bench: Bench) -> None:
    found = scenarios(bench, ["mqtt", "amqp", "coap"])
    for protocol in ("mqtt", "amqp"):
        clean, cut = found[protocol, "clean"], found[protocol, "cut"]
        completed, sent, arrived = counts(clean)
        assert (completed, sent) == (0, 20)
        assert arrived is not None
        # A trial ends with its client, when its last message may be under way.
        assert sent - clean["denominators"]["trials"] <= arrived <= sent
        assert "end-to-end-delay" not in clean["metrics"]
        assert "wire-up-bytes" in clean["metrics"]
        _, sent, arrived = counts(cut)
        assert sent == 20
        assert arrived is not None
        assert 0 < arrived < 20
    # A response answers a message that is not confirmable.
    assert counts(found["coap", "clean"]) == (20, 0, None)
    assert found["coap", "cut"]["denominators"]["timed-out"] > 0
    status, out, words = bench.run("report", str(bench.campaign))
    assert status == 0, out + words
    assert re.search(
        r"20/20 sent, \d+ arrived by the end", (bench.campaign / "report.html").read_text(encoding="utf-8")
    )


def test_third_party_clients_say_that_they_sent_what_nothing_answers(bench: Bench) -> None:
    clients = '[protocols.mqtt.client]\nimplementation = "paho"\n[protocols.amqp.client]\nimplementation = "proton"'
    found = scenarios(bench, ["mqtt", "amqp"], clients)
    assert {key: counts(each) for key, each in found.items() if key[1] == "clean"} == {
        ("mqtt", "clean"): (0, 20, 20),
        ("amqp", "clean"): (0, 20, 20),
    }


def outcomes_of(bench: Bench) -> Any:
    """How the exchanges ended, by protocol."""
    import polars as pl

    return pl.read_parquet(bench.campaign / EXCHANGES)["outcome"].to_list()


@pytest.mark.mosquitto
def test_a_program_run_once_for_each_message_sends_it(bench: Bench) -> None:
    text = EXPERIMENT.format(protocols='["mqtt"]', clients='[protocols.mqtt.client]\nimplementation = "mosquitto"')
    bench.measure_experiment(text.replace('"persistent"', '"new"').replace('["clean", "cut"]', '["clean"]'))
    assert outcomes_of(bench) == ["sent"] * 20
