"""Energy of what third-party programs really sent, and of campaigns that say of which radio."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from wirelab.metrics.radio import ENERGY, STATES

if TYPE_CHECKING:
    from conftest import Bench

RADIO = "nrf9160-nbiot"
CLIENT = "127.0.0.2"
# Its own interface, and a server that is there before the client asks.
SCRIPT = """
ip link set lo up
tcpdump -i lo -w "$1" --immediate-mode -U {options} tcp port 8080 2> "$1.log" &
dump=$!
python3 -m http.server 8080 --bind 127.0.0.1 > /dev/null 2>&1 &
server=$!
for try in $(seq 200); do
    grep -q listening "$1.log" && curl -s --max-time 1 -o /dev/null http://127.0.0.1:8080/ -I && break
    sleep 0.05
done
curl -sS --max-time 20 --interface 127.0.0.2 -o /dev/null http://127.0.0.1:8080/
sleep 0.3
kill -INT $dump
wait $dump
kill $server
"""
EXPERIMENT = """
title = "energy of a message"
metric = "radio-energy"
claims = "claims.toml"
[factors]
protocol = ["coap", "http1"]
[links.wire]
# So long that no wait for a CPU comes near the difference of a round trip.
rtt = "1 s"
[workload]
upload = "30 B"
connection = "new"
exchanges = 2
interval = "4 s"
[energy]
radio = "nrf9160-nbiot"
device = "nrf9160"
battery = "2400 mAh"
voltage = "3.7 V"
[stop]
replicates = 2
"""
CLAIMS = """
paper = "none"
[metrics]
energy = ["radio-energy"]
[grid]
protocol = ["coap", "http1"]
[[claim]]
id = "A"
text = "CoAP takes less of the radio than HTTP/1.1"
[[claim.part]]
form = "order"
metric = "energy"
ascending = [{ protocol = "coap" }, { protocol = "http1" }]
"""


def captured(folder: Path, options: str = "") -> Path:
    """What tcpdump wrote of curl's request to Python's server, in a network namespace of its own.

    As another user than root, from whom tcpdump would change to its own, which the namespace does not have.
    """
    path = folder / "curl.pcap"
    mapped = ["--user", "--map-user=1000", "--map-group=1000", "--keep-caps"]
    words = ["unshare", *mapped, "--net", "--pid", "--fork", "--kill-child", "sh", "-c"]
    script = SCRIPT.format(options=options)
    done = subprocess.run([*words, script, "sh", path], capture_output=True, text=True, timeout=60, check=False)
    assert path.exists(), done.stderr
    return path


@pytest.mark.namespaces
@pytest.mark.curl
@pytest.mark.tcpdump
@pytest.mark.parametrize("options", ["", "-s 60"], ids=["whole packets", "headers alone"])
def test_a_capture_that_tcpdump_made_of_curl_has_the_clients_energy(bench: Bench, tmp_path: Path, options: str) -> None:
    path = captured(tmp_path, options)
    words = (str(path), "--radio", RADIO, "--client", CLIENT)
    status, out, said = bench.run("energy", *words, "--format", "json")
    assert status == 0, said
    found: dict[str, Any] = json.loads(out)
    seen = subprocess.run(
        ["tcpdump", "-r", path, "-nn", "-v"], capture_output=True, text=True, check=True, timeout=30
    ).stdout
    headers = [line for line in seen.splitlines() if ", length " in line and line[:1] != " "]
    ends = [line for line in seen.splitlines() if line.startswith("    ")]
    sizes = [int(line.rpartition("length ")[2].split(")")[0]) for line in headers]
    mine = [(f"{CLIENT}." in end.split(" > ")[0], size) for end, size in zip(ends, sizes, strict=True) if CLIENT in end]
    assert mine
    assert found["packets"] == {"up": sum(up for up, _ in mine), "down": sum(not up for up, _ in mine)}
    assert found["bytes"] == {
        "up": sum(size for up, size in mine if up), "down": sum(size for up, size in mine if not up),
    }  # fmt: skip
    assert 0 < found["joules"]["low"] <= found["joules"]["typical"] <= found["joules"]["high"]
    assert found["beyond_s"] > 0
    assert any(note.startswith("captured in part: ") for note in found["notes"]) == bool(options)
    status, out, said = bench.run("energy", *words[:-1], "10.1.2.3")
    assert (status, out) == (2, "")
    assert CLIENT in said


@pytest.mark.namespaces
def test_a_campaign_with_a_radio_has_energies_verdicts_and_a_section(bench: Bench) -> None:
    (bench.folder / "claims.toml").write_text(CLAIMS)
    bench.run_experiment(EXPERIMENT, "--no-probes")
    assert set(bench.statuses().values()) == {"done"}
    radio = json.loads((bench.campaign / ENERGY).read_text())
    assert [each["radio"]["name"] for each in radio["radios"]] == [RADIO]
    exchanges = pl.read_parquet(bench.campaign / "exchanges.parquet")
    assert exchanges["radio_energy_j"].null_count() == 0
    assert (exchanges["radio_energy_least_j"] <= exchanges["radio_energy_j"]).all()
    assert (exchanges["radio_energy_j"] <= exchanges["radio_energy_most_j"]).all()
    # The first message alone wakes the radio, for 4 s are less than its tail: it is like no other.
    days = exchanges.filter(pl.col("day_energy_j").is_not_null())
    assert set(days["index"]) == {1}
    # A block that was late is run again, and its discarded trials have no energy.
    trials = pl.read_parquet(bench.campaign / "trials.parquet").filter(~pl.col("excluded"))
    assert trials["trial_radio_energy_j"].null_count() == 0
    states = pl.read_parquet(bench.campaign / STATES)
    assert states["radio_energy_typical"].sum() == pytest.approx(exchanges["radio_energy_j"].sum())
    parts = trials.select(f"trial_{what}_energy_j" for what in ("setup", "messages", "closing")).fill_null(0)
    assert parts.sum_horizontal().to_list() == pytest.approx(trials["trial_radio_energy_j"].to_list())
    estimates = json.loads((bench.campaign / "estimates.json").read_text())
    assert all(each["energy"]["battery_days"]["typical"] > 0 for each in estimates["scenarios"])
    verdicts = json.loads((bench.campaign / "verdicts.json").read_text())
    assert [claim["verdict"] for claim in verdicts["claims"]] == ["confirmed"]
    assert "Energy of the client" in (bench.campaign / "report.html").read_text()


@pytest.mark.namespaces
def test_a_campaign_on_the_device_itself_has_the_processor_of_clients_that_say_when_they_are_ready(
    bench: Bench,
) -> None:
    text = EXPERIMENT.replace('claims = "claims.toml"\n', "").replace("[stop]", "measured-on-device = true\n[stop]")
    bench.run_experiment(text, "--no-probes", "--set", "metric=message-energy")
    exchanges = pl.read_parquet(bench.campaign / "exchanges.parquet")
    assert exchanges["message_energy_j"].null_count() == 0
    assert (exchanges["message_energy_j"] > exchanges["radio_energy_j"]).all()
    states = pl.read_parquet(bench.campaign / STATES)
    for what in ("radio_energy", "message_energy", "day_energy"):
        assert states[f"{what}_typical"].sum() == pytest.approx(exchanges[f"{what}_j"].sum())
    worked = states.filter(pl.col("state") == "processor")
    trials = pl.read_parquet(bench.campaign / "trials.parquet").filter(~pl.col("excluded"))
    expected = (trials["client_cpu_ns"] - trials["client_cpu_idle_ns"]).sum() / 1e9
    assert worked["seconds"].sum() == pytest.approx(expected)
    assert "radio (unvalidated) and processor (unvalidated)" in (bench.campaign / "report.html").read_text()
