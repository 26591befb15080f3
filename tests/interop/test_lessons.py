"""What each lesson says is in what it ran, and the page that ships is of the same records."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

from wirelab.lessons.lesson import find_lesson, lesson_names
from wirelab.lessons.shipped import shipped_page
from wirelab.schema.campaign import read_plan
from wirelab.schema.exact import EXACT, read_exact
from wirelab.schema.record import FACTS, CampaignRecord

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Bench

pytestmark = pytest.mark.guest

MS = 1_000_000
STARTED = 50
"""Messages that may have waited for the handshake."""


def _lesson(bench: Bench, name: str) -> Path:
    """Run it; its page has everything that the lesson says, two charts, and a packet diagram."""
    code, out, words = bench.run("lesson", name, "--out", str(bench.campaign), timeout_s=300)
    assert code == 0, words
    lesson, page = find_lesson(name), (bench.campaign / "lesson.html").read_text(encoding="utf-8")
    assert lesson.question in out
    said = [
        *lesson.idea,
        lesson.question,
        lesson.answer,
        *(text for task in lesson.tasks for text in (task.do, task.key)),
    ]
    shown = html.unescape(re.sub(r"</?code>", "", page))
    for text in (*said, *(chart.title for chart in lesson.charts)):
        assert text in shown
    assert len(lesson.charts) == 2
    assert "▶│" in page and "◀" in page
    assert "Changed for this run" not in page
    bench.assert_nothing_left()
    return bench.campaign


def _exchanges(campaign: Path) -> dict[str, pl.DataFrame]:
    """Exchanges by the names of scenarios; the page that ships has the digest of the same records."""
    record = CampaignRecord.model_validate_json((campaign / FACTS).read_text(encoding="utf-8"))
    digest = record.runs[-1].digest
    assert digest is not None
    name = read_plan(campaign).experiment.name
    assert digest[:12] in shipped_page(name), f"make lessons NAMES={name}"
    rows = pl.read_parquet(campaign / "exchanges.parquet")
    return {each.name: rows.filter(pl.col("scenario") == each.key) for each in read_plan(campaign).scenarios}


def test_every_lesson_is_tested() -> None:
    assert set(lesson_names()) == {"delivery", "head-of-line", "nat-forgets", "packet-price", "tls-round-trips"}


def test_messages_behind_a_lost_one_wait_in_h2_and_not_in_h3(bench: Bench) -> None:
    found = _exchanges(_lesson(bench, "head-of-line"))
    late, released = {}, {}
    for name, rows in found.items():
        ordered = (
            rows.sort("replicate", "index")
            .filter(pl.col("index") >= STARTED)
            .with_columns(late=pl.col("end_to_end_delay_ns") > 110 * MS)
            .with_columns(
                next_late=pl.col("late").shift(-1).over("replicate"),
                next_end=pl.col("end_ns").shift(-1).over("replicate"),
            )
        )
        of_late = ordered.filter("late").drop_nulls("next_late")
        late[name] = ordered["late"].mean()
        # Of a late message: is the one behind it late too, and do both arrive at the same instant?
        together = pl.col("next_late") & ((pl.col("next_end") - pl.col("end_ns")).abs() < 5 * MS)
        released[name] = of_late.select(together.mean()).item()
    assert late["h2"] > 5 * late["h3"]
    assert released["h2"] > 0.6
    assert released["h3"] < 0.1


def test_losing_each_packet_has_its_price(bench: Bench) -> None:
    record = read_exact(_lesson(bench, "packet-price") / EXACT)
    prices = {
        scenario["name"]: [each["delay_s"] for each in scenario["packets"]] for scenario in record["scenarios"]
    }  # fmt: skip
    assert [round(each or 0, 1) for each in prices["http1"]][:7] == [1.0, 1.0, 0.0, 0.2, 0.0, 0.2, 0.0]
    assert all(2 < (each or 0) < 3.1 for each in prices["coap"])
    bounds = {
        (scenario["name"], each["delay_s"]): each["bounds"]
        for scenario in record["scenarios"]
        for each in scenario["beyond"]
        if each["loss"] == "1 %"
    }
    for name, packets, beyond_s in (("http1", 4, 0.2), ("coap", 2, 0.2), ("coap", 2, 1.0)):
        found = bounds[name, beyond_s]
        assert found["low"] - 1e-9 <= 1 - 0.99**packets <= found["high"] + 1e-9
    # SYN and SYN-ACK alone cost a second, so beyond it the two differ by pairs of losses.
    assert abs(bounds["http1", 1.0]["low"] - bounds["coap", 1.0]["low"]) < 5e-4


def test_round_trips_are_those_of_the_handshakes(bench: Bench) -> None:
    found = _exchanges(_lesson(bench, "tls-round-trips"))
    round_trips = {name: rows["end_to_end_delay_ns"].median() / (100 * MS) for name, rows in found.items()}
    expected = {
        "https1, 1.2, new": 4, "https1, 1.2, resumed": 3, "https1, 1.3, new": 3, "https1, 1.3, resumed": 3,
        "h3, new": 2, "h3, resumed": 1,
    }  # fmt: skip
    assert round_trips == {name: pytest.approx(count, abs=0.01) for name, count in expected.items()}


def test_promises_of_delivery_are_kept_and_paid_for(bench: Bench) -> None:
    found = _exchanges(_lesson(bench, "delivery"))
    completed = {name: (rows["outcome"] == "completed").mean() for name, rows in found.items()}
    assert completed["mqtt, 1"] == completed["mqtt, 2"] == completed["coap, true"] == 1
    # Both ways are lost with 5 %: 9.75 % of the exchanges.
    assert 0.86 < completed["coap, false"] < 0.94
    assert (found["mqtt, 0"]["outcome"] == "sent").all()
    medians = {name: rows["end_to_end_delay_ns"].median() for name, rows in found.items()}
    assert medians["mqtt, 2"] / medians["mqtt, 1"] == pytest.approx(2, abs=0.01)


def test_what_a_nat_forgets_only_connection_ids_and_keep_alives_survive(bench: Bench) -> None:
    found = _exchanges(_lesson(bench, "nat-forgets"))
    shares = {name: (rows["outcome"] == "completed").mean() for name, rows in found.items()}
    halves = {name for name, share in shares.items() if share == 0.5}
    assert halves == {name for name in shares if name.startswith(("coaps", "mqtts")) and "25 s" not in name}
    assert all(share in {0.5, 1} for share in shares.values())
    # Without a keep-alive QUIC validates the path of each reading: one round trip more.
    [quiet] = [name for name in shares if name.startswith("h3") and "25 s" not in name]
    delays = found[quiet].filter(pl.col("index") > 0)["end_to_end_delay_ns"]
    assert delays.median() / (100 * MS) == pytest.approx(2, abs=0.01)
