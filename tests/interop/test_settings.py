"""Settings varied in real campaigns: what was configured, what went over the wire, what was not in force."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from wirelab.runner.implementations import load, missing

from .conftest import REQUIRED

if TYPE_CHECKING:
    from .conftest import Bench

pytestmark = pytest.mark.namespaces

EXPERIMENT = """
title = "settings"
[factors]
protocol = {protocols}
{factors}
[links.wire]
rtt = "2 ms"
{settings}
[workload]
kind = "request-response"
download = "40 kB"
exchanges = 6
concurrency = {concurrency}
connection = "{connection}"
timeout = "20 s"
[stop]
replicates = 1
"""

Row = dict[str, Any]


def ran(
    bench: Bench,
    *protocols: str,
    factors: str = "",
    settings: str = "",
    connection: str = "persistent",
    report: bool = False,
) -> dict[str, list[Row]]:
    """Every setting of every scenario that was given, by the scenario's name."""
    text = EXPERIMENT.format(
        protocols=json.dumps(protocols), factors=factors, settings=settings, connection=connection,
        concurrency=3 if connection == "persistent" else 1,
    )  # fmt: skip
    if report:
        bench.run_experiment(text, "--jobs", "2", "--no-probes")
    else:
        bench.measure_experiment(text, "--jobs", "2", "--estimates")
    assert set(bench.statuses().values()) == {"done"}
    scenarios = json.loads((bench.campaign / "estimates.json").read_text())["scenarios"]
    assert all(s["denominators"]["completed"] == s["denominators"]["exchanges"] for s in scenarios)
    return {scenario["name"]: scenario.get("settings", []) for scenario in scenarios}


def needs(*programs: str) -> None:
    """Skip without them, or fail where everything is required."""
    if absent := [why for name in programs if (why := missing(load(None)[name])) is not None]:
        (pytest.fail if REQUIRED else pytest.skip)("; ".join(absent))


def test_a_clamped_setting_is_reported_and_one_in_force_is_not(bench: Bench) -> None:
    found = ran(
        bench, "h2",
        factors='"protocols.h2.header-table-size" = ["512 B", "64 KiB"]\n'
        '"protocols.h2.initial-window-size" = ["255 B", "65535 B"]', report=True,
    )  # fmt: skip
    assert len(found) == 4
    for name, rows in found.items():
        tables = [row for row in rows if row["setting"] == "header-table-size"]
        windows = [row for row in rows if row["setting"] == "initial-window-size"]
        assert [row["in_force"] for row in tables] == 2 * ["512 B" in name], name
        assert all(row["in_force"] for row in windows), name
        assert [row["effective"] for row in tables] == 2 * [[512, 512] if "512 B" in name else [4096, 4096]]
        [client] = [row for row in windows if row["end"] == "client"]
        # Credit for what the library has handed over may come before the last of a body of 40 kB.
        least, most = (255, 255) if "255 B" in name else (16_384, 40_000)
        assert least <= client["used"] <= most, name
        assert {row["source"] for row in rows} == {"client", "server"}
    # A term is a link where it stands first in the page, which depends on what else there is to say.
    page = re.sub("<[^>]+>", "", (bench.campaign / "report.html").read_text())
    assert "Settings not in force: 2 scenarios are not measured as configured, and in no chart" in page
    assert "configured 65536 B, 4096 held in its place" in page


def test_over_quic_a_clamped_value_shows_in_the_transport_parameters(bench: Bench) -> None:
    settings = '[protocols.h3]\nstream-window = "2 kB"\nconnection-window = "30 kB"\nmax-concurrent-streams = 2\n'
    found = ran(bench, "h3", factors='"protocols.h3.ack-delay" = ["10 ms", "10 s"]', settings=settings)
    for name, rows in found.items():
        assert {row["source"] for row in rows} == {"client", "server"}
        by_setting = {(row["setting"], row["end"]): row for row in rows}
        window = by_setting["stream-window", "client"]
        assert (window["announced"], window["used"], window["in_force"]) == ([2000, 2000], 2000, True)
        assert by_setting["connection-window", "client"]["announced"] == [30_000, 30_000]
        streams = by_setting["max-concurrent-streams", "server"]
        assert (streams["announced"], streams["used"]) == ([2, 2], 2)
        # draft-ietf-quic-ack-frequency has it, and the library asks for at most a round trip, or 25 ms.
        assert by_setting["ack-delay", "client"]["in_force"] == ("10 ms" in name)


def test_third_party_servers_announce_their_configured_values(bench: Bench) -> None:
    needs("nginx", "nghttpd", "apache")
    window = 'initial-window-size = "4095 B"\nmax-concurrent-streams = 2\n'
    found = ran(
        bench, "h2", "h2c", factors='"endpoints.server.implementation" = ["nginx", "nghttpd", "apache"]',
        settings=f"[protocols.h2]\n{window}[protocols.h2c]\n{window}",
    )  # fmt: skip
    assert len(found) == 6
    for name, rows in found.items():
        assert [(row["setting"], row["end"], row["in_force"]) for row in rows] == [
            ("initial-window-size", "client", True),
            ("initial-window-size", "server", True),
            ("max-concurrent-streams", "server", True),
        ], name
        assert (rows[0]["used"], rows[2]["used"]) == (4095, 2)


def test_a_server_that_announces_another_value_is_reported(bench: Bench) -> None:
    needs("caddy")
    [rows] = ran(
        bench, "h2",
        settings='[endpoints]\nserver = { implementation = "caddy" }\n'
        '[protocols.h2]\nmax-header-list-size = "16 KiB"\n',
    ).values()  # fmt: skip
    client, server = rows
    assert (client["end"], client["in_force"]) == ("client", True)
    assert (server["end"], server["in_force"]) == ("server", False)
    assert (server["announced"], server["why"]) == ([16_704, 16_704], "16704 was announced")


def test_a_third_party_client_has_windows_of_a_power_of_two_less_one(bench: Bench) -> None:
    needs("nghttp")
    [rows] = ran(
        bench, "h2", connection="new",
        settings='[endpoints]\nclient = { implementation = "nghttp" }\n'
        '[protocols.h2]\ninitial-window-size = "4095 B"\n'
        'connection-window = "1048575 B"\nheader-table-size = "512 B"\n',
    ).values()  # fmt: skip
    of_client = {row["setting"]: row for row in rows if row["end"] == "client"}
    assert {row["source"] for row in of_client.values()} == {"server"}
    assert all(row["in_force"] for row in of_client.values())
    assert of_client["initial-window-size"]["used"] == 4095
    assert of_client["connection-window"]["announced"] == [1_048_575, 1_048_575]
    assert of_client["header-table-size"]["effective"] == [512, 512]


def test_between_two_third_party_programs_nothing_is_known(bench: Bench) -> None:
    needs("nghttp", "nghttpd")
    [rows] = ran(
        bench, "h2", connection="new",
        settings='[endpoints]\nclient = { implementation = "nghttp" }\nserver = { implementation = "nghttpd" }\n'
        '[protocols.h2]\ninitial-window-size = "4095 B"\n', report=True,
    ).values()  # fmt: skip
    [row] = rows
    assert (row["end"], row["in_force"], row["announced"], row["source"]) == (None, None, None, None)
    page = (bench.campaign / "report.html").read_text()
    assert "not known" in page
    assert "Settings not in force" not in page


def test_our_end_reads_what_a_third_party_quic_client_announces(bench: Bench) -> None:
    needs("aioquic")
    [rows] = ran(
        bench, "h3",
        settings='[endpoints]\nclient = { implementation = "aioquic" }\n[protocols.h3]\nmax-concurrent-streams = 2\n',
    ).values()  # fmt: skip
    [server] = rows
    assert (server["end"], server["source"], server["in_force"]) == ("server", "server", True)
