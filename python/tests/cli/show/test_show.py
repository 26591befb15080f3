"""`wirelab show`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.metrics.records import MS, START, Records, exchange, flow
from tests.metrics.test_packet_diagram import PACKET
from wirelab.cli import main
from wirelab.metrics.dataset import measure


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two protocols, a trial of three exchanges each; exchange 2 of h3 is the slowest."""
    monkeypatch.chdir(tmp_path)
    records = Records(
        Path("results") / "mine", {"a" * 64: {"name": "h2, clean"}, "b" * 64: {"protocol": "h3", "name": "h3, clean"}}
    )
    for scenario, ends in (("a" * 64, (60, 61, 70)), ("b" * 64, (63, 64, 99))):
        records.trial(scenario, [exchange(i, end_ns=end) for i, end in enumerate(ends)], [flow(40_000)])
    agent = records.finish().resolve()
    packets = [PACKET | {"client_port": 40_000 + i, "arrival_ns": START + 100 * i * MS} for i in range(3)]
    ladder = (
        "if sys.argv[1] == 'dissect' and sys.argv[2] != '--flows':\n"
        f"    [print(json.dumps(packet)) for packet in json.loads({json.dumps(packets)!r})]\n"
        "    sys.exit()\n"
    )
    agent.write_text(agent.read_text().replace("flows = json", f"{ladder}flows = json"))
    monkeypatch.setenv("WIRELAB_AGENT", str(agent))
    measure(records.folder)
    return records.folder


def show(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["show", *arguments], prog_name="wirelab")


def packets(done: Result) -> int:
    return done.stdout.count("│SYN")


def write_log(path: Path, **link: str) -> None:
    """The header of one."""
    header = json.dumps({"link": {"uplink": [], "downlink": [], **link}, "seed": 1}).encode()
    path.write_bytes(b"WLPL" + len(header).to_bytes(4, "little") + header)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A packet log whose packets are known."""
    rows = [
        PACKET | {"lateness_ns": 6_000},
        PACKET | {"sequence": 1, "arrival_ns": START + MS, "departure_ns": START + 2 * MS, "fate": "queue-full"},
        PACKET | {"sequence": 2, "uplink": False, "arrival_ns": START + 11 * MS, "departure_ns": START + 13 * MS,
                  "transport": "icmp", "client_port": None, "server_port": None, "tcp_flags": None, "corrupted": True},
        PACKET | {"sequence": 3, "fate": "held"},
    ]  # fmt: skip
    agent = tmp_path / "agent"
    path = tmp_path / "my.log"
    write_log(path)
    said = "\n".join(json.dumps(row) for row in rows)
    agent.write_text(
        "#!/usr/bin/env python3\nimport sys\n"
        f"assert sys.argv[1:] == ['dissect', '--', {str(path)!r}]\nprint({said!r})\n"
    )
    agent.chmod(0o755)
    monkeypatch.setenv("WIRELAB_AGENT", str(agent))
    return path


def test_a_packet_log_is_shown_as_a_table_of_its_packets(log: Path) -> None:
    done = show(str(log))
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines() == [
        "    ms  way   bytes  ports     packet  delay ms  error ms  outcome",
        " 0.000  up       60  40000-80  SYN       10.000     0.006  delivered",
        " 1.000  up       60  40000-80  SYN                         queue full",
        "11.000  down     60            ICMP       2.000     0.000  delivered, corrupted",
        " 0.000  up       60  40000-80  SYN                         not delivered by the end",
    ]


def test_the_packet_table_of_a_netem_link_says_what_its_log_lacks(log: Path) -> None:
    plain = show(str(log)).stdout.splitlines()
    write_log(log, backend="netem")
    first, *others = show(str(log)).stdout.splitlines()
    assert first == "netem ran this link: shown is when packets entered netem, not whether they were delivered"
    assert others == plain


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (b"{", "it is not JSON"),
        (b'{"seed": 1}', "it has no link"),
        (b'{"link": {"uplink": 3, "downlink": []}}', "link.uplink: "),
    ],
)
def test_a_damaged_header_of_a_packet_log_is_one_error(log: Path, header: bytes, why: str) -> None:
    log.write_bytes(b"WLPL" + len(header).to_bytes(4, "little") + header)
    done = show(str(log))
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {log} was written by another build, or damaged: {why}")
    assert "Traceback" not in done.stderr


def test_a_packet_log_has_no_exchanges(log: Path) -> None:
    done = show(str(log), "--slowest")
    assert done.exit_code == 2
    assert "contains packets, not exchanges" in done.stderr


def test_the_slowest_exchange_is_shown_with_the_packets_of_its_connection(campaign: Path) -> None:
    done = show(str(campaign), "--slowest")
    assert done.exit_code == 0, done.stderr
    assert "h3, clean" in done.stdout
    assert "exchange 2, completed after 99.000 ms" in done.stdout
    assert packets(done) == 1


def test_a_typical_exchange_is_shown_by_default(campaign: Path) -> None:
    assert "exchange 1, completed after 61.000 ms" in show("mine", "--protocol", "h2").stdout


def test_a_protocol_without_a_campaign_means_the_newest_one(campaign: Path) -> None:
    assert "exchange 2, completed after 70.000 ms" in show("h2", "--slowest").stdout


@pytest.mark.parametrize("words", [["mine", "trial-1"], ["results/mine/trials/trial-1"], ["trial-1"]])
def test_a_trial_is_shown_completely(campaign: Path, words: list[str]) -> None:
    done = show(*words)
    assert done.exit_code == 0, done.stderr
    assert packets(done) == 3
    assert [f"exchange {i} starts" in done.stdout for i in range(3)] == [True] * 3


def test_one_exchange_of_a_trial_can_be_named(campaign: Path) -> None:
    done = show("mine", "trial-0", "--exchange", "1")
    assert "exchange 1, completed after 61.000 ms" in done.stdout
    assert packets(done) == 1


def test_of_several_trials_the_first_has_the_exchange(campaign: Path) -> None:
    done = show("mine", "--exchange", "1")
    assert "exchange 1, completed after 61.000 ms" in done.stdout
    assert done.stdout.count("exchange 1 starts") == 1
    assert packets(done) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "no campaign 'nothing'"),
        (["quickstart"], "'quickstart' is the name of an experiment: wirelab describe quickstart"),
        (["mine", "--protocol", "h33"], "no scenario with the protocol 'h33'"),
        (["mine", "--scenario", "h3, clear"], "did you mean 'h3, clean'?"),
        (["mine", "trial-0", "--exchange", "77"], "has no such exchange"),
    ],
)
def test_a_missing_campaign_trial_or_exchange_is_named(campaign: Path, words: list[str], said: str) -> None:
    done = show(*words)
    assert done.exit_code in {1, 2}
    assert said in done.stderr


def test_an_exchange_through_a_proxy_shows_both_links(campaign: Path) -> None:
    plan = json.loads((campaign / "plan.json").read_text())
    [scenario] = [each for each in plan["scenarios"] if each["protocol"] == "h2"]
    near, far = ["client"], ["server", "proxy"]
    scenario["topology"] = [{"name": "air", "near": near, "far": far}, {"name": "wire", "near": far[1:], "far": far}]
    scenario["origin"] = {"protocol": "http1", "settings": {}}
    (campaign / "plan.json").write_text(json.dumps(plan))
    log = campaign / "trials" / "trial-0" / "packets.wlpl"
    log.with_name("packets-wire.wlpl").write_bytes(log.read_bytes())
    done = show("mine", "trial-0", "--exchange", "2")
    mine, meanwhile = done.stdout.split("wire, during the same time")
    assert [line.split() for line in done.stdout.splitlines() if line.split()[:1] == ["ms"]] == [
        ["ms", "client", "proxy"],
        ["ms", "proxy", "server"],
    ]
    assert (mine.count("│SYN"), meanwhile.count("│SYN")) == (1, 1)
    assert "during the same time" not in show("mine", "trial-0").stdout


def test_background_traffic_is_left_out_of_a_trial(campaign: Path) -> None:
    agent = Path(os.environ["WIRELAB_AGENT"])
    agent.write_text(agent.read_text().replace('"client_port": 40002', '"client_port": 5001'))
    assert packets(show("mine", "trial-0")) == 2


def test_the_trials_own_timing_error_is_reported(campaign: Path) -> None:
    assert "emulator timing error, uplink: p50 10, p99 3e+03, max 3e+03 µs" in show("mine", "--protocol", "h2").stdout
