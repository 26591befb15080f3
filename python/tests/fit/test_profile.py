"""End to end: a measurement's text to a profile's, and the link that an experiment makes of it."""

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.asked import ask
from tests.fit import samples
from tests.fit.samples import Capture
from tests.snapshots import assert_golden
from wirelab.experiment.library import profile_file
from wirelab.experiment.link import LinkTable, check_conflicts, link_spec
from wirelab.fit import Observations, Source, fit_profile, observe_capture, observe_irtt, observe_ping, profile_text
from wirelab.fit.profile import each_way
from wirelab.fit.words import sojourns
from wirelab.fit.written import milliseconds, percent
from wirelab.schema import LinkSpec

SOURCE = Source("measured", "0" * 64)
NONE = np.zeros(400, dtype=np.bool_)


def fitted(observations: Observations) -> dict[str, Any]:
    return tomllib.loads(profile_text(fit_profile(observations, SOURCE)))


def spec(observations: Observations) -> LinkSpec:
    link = fitted(observations)["link"]
    check_conflicts(link)
    return link_spec(LinkTable.model_validate(link), ask)


def ping(lost: samples.Fates, seed: int = 7) -> Observations:
    return observe_ping(samples.iputils(samples.round_trips_ms(seed, len(lost)).tolist(), lost))


def one_way(n: int = 400) -> tuple[list[int], list[int]]:
    rng = np.random.default_rng(9)
    up = (12e6 + rng.gamma(1.5, 3e6, n)).astype(int)
    return up.tolist(), (8e6 + rng.gamma(1.5, 4e5, n)).astype(int).tolist()


def transfer() -> Capture:
    """An upload of 300 segments, of which every fiftieth is lost, and what the server sends."""
    capture = Capture()
    capture.client(0, "S", 0, None)
    capture.server(40, "SA", 0, 1)
    capture.client(40.1, "A", 1, 1)
    at, position = 50.0, 1
    for index in range(300):
        capture.client(at, "A", position, 1, 1400)
        if index % 50 == 49:
            capture.client(at + 240, "A", position, 1, 1400)
            at += 240
        position += 1400
        capture.server(at + 40 + index % 7, "A", 1, position)
        at += 10
    capture.server(at + 60, "AP", 1, position, 200)
    capture.client(at + 60.2, "A", position, 201)
    capture.rows.sort(key=lambda row: row["at_ns"])
    return capture


def test_a_ping_log_end_to_end() -> None:
    (lost,) = samples.gilbert_elliott([21], 3000, p=0.01, r=0.3)
    text = samples.iputils(samples.round_trips_ms(7, 3000).tolist(), lost, stamped=True)
    assert_golden("fit-ping.toml", profile_text(fit_profile(observe_ping(text), Source("ping.log", "1" * 64))))


def test_an_irtt_result_end_to_end() -> None:
    up, down = one_way()
    rng = np.random.default_rng(4)
    fates = rng.choice(["false", "true_up", "true_down"], 400, p=[0.95, 0.04, 0.01]).tolist()
    text = json.dumps(samples.irtt(up, down, fates, offset_ns=5_000_000_000))
    assert_golden("fit-irtt.toml", profile_text(fit_profile(observe_irtt(text), Source("irtt.json", "2" * 64))))


def test_a_capture_end_to_end() -> None:
    assert_golden(
        "fit-capture.toml", profile_text(fit_profile(observe_capture(transfer().rows), Source("up.pcap", "3" * 64)))
    )


@pytest.mark.parametrize("kind", ["ping", "irtt", "capture"])
def test_the_written_file_is_a_profile_with_a_source_for_each_value(kind: str, tmp_path: Path) -> None:
    observations = {
        "ping": lambda: ping(samples.gilbert_elliott([21], 3000, p=0.01, r=0.3)[0]),
        "irtt": lambda: observe_irtt(json.dumps(samples.irtt(*one_way(), ["false"] * 400))),
        "capture": lambda: observe_capture(transfer().rows),
    }[kind]()
    path = tmp_path / "mine.toml"
    path.write_text(profile_text(fit_profile(observations, SOURCE)))
    profile = profile_file(path)
    assert set(profile.sources) == {path for path, _ in profile.values()}
    assert SOURCE.sha256 in next(iter(profile.sources.values()))
    check_conflicts(profile.link)
    assert link_spec(LinkTable.model_validate(profile.link), ask).uplink


def test_the_emulated_round_trip_has_the_measured_minimum_and_maximum() -> None:
    observations = ping(NONE)
    link = spec(observations)
    (up,), (down,) = link.uplink, link.downlink
    assert up.kind == down.kind == "delay"
    offsets = up.jitter.offsets_ns  # type: ignore[union-attr]
    least = up.delay_ns + offsets[0] + down.delay_ns
    most = up.delay_ns + offsets[-1] + down.delay_ns
    assert least == pytest.approx(observations.round_trips_ns.min(), abs=3000)
    assert most == pytest.approx(observations.round_trips_ns.max(), abs=3000)


def test_independent_losses_of_round_trips_are_split_between_both_directions() -> None:
    lost = np.random.default_rng(6).random(2000) < 0.1
    link = fitted(ping(lost))["link"]
    each = float(link["uplink"]["loss"].removesuffix(" %")) / 100
    assert link["uplink"]["loss"] == link["downlink"]["loss"]
    assert 1 - (1 - each) ** 2 == pytest.approx(lost.mean(), rel=1e-3)


def test_bursts_of_round_trips_are_all_in_the_uplink() -> None:
    (lost,) = samples.gilbert_elliott([21], 3000, p=0.01, r=0.3)
    link = fitted(ping(lost))["link"]
    assert link["uplink"]["gilbert-elliott"].keys() == {"p", "r", "1-h", "1-k"}
    assert "gilbert-elliott" not in link["downlink"]


def test_without_loss_the_profile_has_no_loss_key() -> None:
    assert fitted(ping(NONE))["link"]["uplink"].keys() == {"delay", "jitter"}


def test_round_trips_without_spread_give_only_a_delay() -> None:
    seen = observe_ping(samples.iputils([20.0] * 50, np.zeros(50, dtype=np.bool_)))
    assert fitted(seen)["link"] == {"uplink": {"delay": "10 ms"}, "downlink": {"delay": "10 ms"}}


def test_a_rate_is_suggested_in_a_comment_and_not_set() -> None:
    profile = fit_profile(observe_capture(transfer().rows), SOURCE)
    assert all("rate" not in values for values in profile.link.values())
    assert [(each.way, each.line.split(" = ")[0]) for each in profile.alternatives if "rate" in each.line] == [
        ("uplink", "rate")
    ]


def test_bursts_in_time_are_suggested_if_the_interval_is_known() -> None:
    (lost,) = samples.gilbert_elliott([21], 3000, p=0.01, r=0.3)
    profile = fit_profile(ping(lost), SOURCE)
    (offered,) = profile.alternatives
    assert tomllib.loads(offered.line)["gilbert-elliott-time"].keys() == {"good", "bad", "bad-loss", "good-loss"}
    check_conflicts({"uplink": tomllib.loads(offered.line)})


def test_a_chain_in_time_matches_the_packet_chain_at_the_measured_interval() -> None:
    good, bad = sojourns(0.02, 0.3, 200.0)
    leave_good, leave_bad = 1 / good, 1 / bad
    moved = 1 - np.exp(-(leave_good + leave_bad) * 200)
    assert leave_good / (leave_good + leave_bad) * moved == pytest.approx(0.02)
    assert leave_bad / (leave_good + leave_bad) * moved == pytest.approx(0.3)


def test_names_of_files_cannot_break_the_file() -> None:
    name = 'a "strange" \\ name\n\x7f.log'
    text = profile_text(fit_profile(ping(NONE), Source(name, "0" * 64)))
    assert name in tomllib.loads(text)["about"]


def test_fewer_than_a_hundred_values_have_no_95th_percentile() -> None:
    few, many = (fit_profile(ping(np.zeros(n, dtype=np.bool_)), SOURCE).measured[0] for n in (99, 100))
    assert "95th" not in few
    assert "95th" in many


def test_quantities_are_written_as_link_files_have_them() -> None:
    assert [milliseconds(value) for value in (10_000_000, -1500, 123_456_789, 0)] == [
        "10 ms",
        "-0.002 ms",
        "123.457 ms",
        "0 ms",
    ]
    assert [percent(value) for value in (0.0123456, 1.0, 0.0)] == ["1.235 %", "100 %", "0 %"]
    assert each_way(0.19) == pytest.approx(0.1)
