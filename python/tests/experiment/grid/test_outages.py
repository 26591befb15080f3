"""Outages whose end no message of the experiment would see are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.errors import WirelabError
from wirelab.schema import RestartPlan

HOUR = 3600 * 10**9
FILE = """
title = "t"
[factors]
protocol = ["coap"]
[link]
rtt = "10 ms"
{link}
[endpoints.server]
{server}
[workload]
kind = "telemetry"
exchanges = 24
{arrival}
"""
DAY = {"link": "", "server": "", "arrival": 'interval = "1 h"'}
RESTART = 'restart = {{ after = "{}", down = "{}" }}'


def load(folder: Path, **given: str):  # type: ignore[no-untyped-def]
    path = folder / "mine.toml"
    path.write_text(FILE.format(**{**DAY, **given}), encoding="utf-8")
    [scenario] = load_experiment(str(path)).scenarios
    return scenario


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"link": 'outage = { start = "1 h", duration = "48 h" }'},
            "link.outage: lasts 48 h, and the experiment sends for 24 h",
        ),
        (
            {"link": 'outage = { start = "30 h", duration = "1 h" }'},
            "link.outage.start: begins after 30 h, and the experiment sends for 24 h",
        ),
        (
            {"server": RESTART.format("25 h", "1 min")},
            "endpoints.server.restart.after: begins after 25 h, and the experiment sends for 24 h",
        ),
        (
            {"server": RESTART.format("1 h", "24 h")},
            "endpoints.server.restart.down: lasts 24 h, and the experiment sends for 24 h",
        ),
        (
            {"link": 'outage = { start = "22 h", duration = "2 h" }'},
            "link.outage: ends after 24 h, and the experiment sends for 24 h, so no recovery is seen\n"
            "hint: more workload.exchanges, or a shorter outage",
        ),
        (
            {"server": RESTART.format("23 h", "2 h")},
            "endpoints.server.restart.down: ends after 25 h, and the experiment sends for 24 h, so no recovery is seen"
            "\nhint: more workload.exchanges, or a shorter outage",
        ),
        (
            {"server": RESTART.format("1 h", "1 min"), "arrival": ""},
            r"endpoints.server.restart: nothing says when the experiment ends \(arrival is closed\)",
        ),
        (
            {"server": RESTART.format("1 h", "1 min"), "arrival": 'interval = "1 h"\narrival = "idle-start"'},
            "endpoints.server.restart: an idle start puts the clock of the link forward",
        ),
        (
            {"server": 'restart = { after = "1 h", down = "1 min", every = "1 min" }'},
            "endpoints.server.restart: every is not longer than down",
        ),
        ({"server": RESTART.format("1 h", "0 s")}, "endpoints.server.restart.down: must be more than 0"),
    ],
)
def test_an_outage_whose_end_is_not_seen_is_refused_with_both_times(
    given: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(WirelabError, match=message):
        load(tmp_path, **given)


def test_a_restart_is_part_of_what_a_scenario_is(tmp_path: Path) -> None:
    without = load(tmp_path)
    restarted = load(tmp_path, server=RESTART.format("2 h", "30 s"))
    assert (without.restart, restarted.restart) == (None, RestartPlan(after_ns=2 * HOUR, down_ns=30 * 10**9))
    assert "restart" not in without.identity()
    assert without.digest() != restarted.digest()


def refused(folder: Path, protocol: str, workload: str) -> WirelabError:
    """Of a server that restarts."""
    text = FILE.format(**DAY | {"server": RESTART.format("1 h", "1 min")}).replace('"coap"', f'"{protocol}"')
    path = folder / "mine.toml"
    path.write_text(text[: text.index("[workload]")] + f"[workload]\n{workload}\n", encoding="utf-8")
    with pytest.raises(WirelabError) as found:
        load_experiment(str(path))
    return found.value


@pytest.mark.parametrize("protocol", ["mqtt", "h2"])
@pytest.mark.parametrize("workload", ['kind = "pubsub"\ninterval = "1 h"', 'kind = "stream"\nrate = "1 /s"'])
def test_a_server_that_publishes_does_not_restart(protocol: str, workload: str, tmp_path: Path) -> None:
    error = refused(tmp_path, protocol, workload + "\nmessages = 9999")
    what = 'endpoints.server.restart: a server that restarts begins publishing anew\nhint: kind = "telemetry"'
    assert str(error).endswith(what)
    assert error.exit_code == 2


def test_nothing_says_when_page_loads_end(tmp_path: Path) -> None:
    error = refused(tmp_path, "h2", 'kind = "page"\npage = "text-44kb"')
    assert str(error).endswith('(page loads follow each other)\nhint: kind = "telemetry"')


def test_of_outages_that_repeat_the_first_must_end_in_time(tmp_path: Path) -> None:
    load(tmp_path, link='outage = { start = "1 h", duration = "2 h", every = "22 h" }')
    load(tmp_path, server='restart = { after = "1 h", down = "2 h", every = "22 h" }')
