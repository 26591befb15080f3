"""What an exchange is expected to take: round trips, bytes, timers of lost packets, and what is fixed."""

from math import ceil, log2, sqrt
from pathlib import Path

import pytest

from tests.asked import load_experiment
from tests.described import BASE, KNOWN, load
from wirelab.experiment.duration.congestion import SEGMENT_BYTES, Control
from wirelab.experiment.duration.connections import connections
from wirelab.experiment.duration.exchange import exchange_parts, expected_exchange_ns
from wirelab.experiment.duration.formula import (
    INITIAL_WINDOW_BYTES,
    PROCESSING_NS,
    WINDOW_NS,
    Limit,
    Parts,
    flow_rate_bps,
)
from wirelab.experiment.duration.path import Way
from wirelab.experiment.duration.trial import TRIAL_OVERHEAD_NS, expected_trial_ns
from wirelab.schema import registered

RTT = 20_000_000


def expected(folder: Path, *sets: str) -> int:
    scenario = load(folder, BASE, *sets).scenarios[0]
    protocol = KNOWN.protocol(scenario.protocol)
    assert protocol is not None
    return expected_exchange_ns(scenario, protocol) - PROCESSING_NS


def registered_ns(folder: Path, text: str, *sets: str) -> int:
    """Of the first scenario of an experiment with the protocols as they are."""
    return parts(folder, text, *sets).total_ns - PROCESSING_NS


def parts(folder: Path, text: str, *sets: str) -> Parts:
    """The same in its parts."""
    file = folder / "experiment.toml"
    file.write_text(text)
    scenario = load_experiment(str(file), sets).scenarios[0]
    protocol = registered().protocol(scenario.protocol)
    assert protocol is not None
    assert exchange_parts(scenario, protocol).total_ns == expected_exchange_ns(scenario, protocol)
    return exchange_parts(scenario, protocol)


def slow_start(size: int) -> int:
    return ceil(log2(1 + size / INITIAL_WINDOW_BYTES))


@pytest.mark.parametrize(
    ("protocol", "trips"), [("raw-udp", 1), ("http1", 2), ("h3", 2), ("h2", 3), ("https1", 3), ("raw-tcp", 2)]
)
def test_an_exchange_on_a_new_connection_takes_its_handshakes_and_one_round_trip(
    protocol: str, trips: int, tmp_path: Path
) -> None:
    assert expected(tmp_path, f"protocol={protocol}") == trips * RTT


def test_tls_1_2_takes_one_round_trip_more(tmp_path: Path) -> None:
    assert expected(tmp_path, "protocol=h2", "protocol.tls=1.2") == 4 * RTT


@pytest.mark.parametrize(
    ("sets", "trips"),
    [
        (["protocol=coap", 'protocol.block-size="1024"'], 3),
        (["protocol=coap", 'protocol.block-size="512"'], 6),
        (["protocol=coaps", "protocol.dtls-cookie=false"], 5),
        (["protocol=coaps"], 6),
    ],
)
def test_dtls_takes_two_round_trips_and_one_for_its_cookie_and_each_block_takes_one(
    sets: list[str], trips: int, tmp_path: Path
) -> None:
    assert registered_ns(tmp_path, BASE, *sets, "workload.upload=3 kB", "workload.download=0 B") == trips * RTT


@pytest.mark.parametrize(
    ("sets", "trips"),
    [
        (["protocol=mqtt"], 3),
        (["protocol=mqtts"], 4),
        (["protocol=mqtt+quic"], 3),
        (["protocol=mqtt", "protocol.qos=0"], 2),
        (["protocol=mqtt", "protocol.qos=2"], 4),
        (["protocol=amqp"], 5),
        (["protocol=amqps"], 6),
        (["protocol=amqp", "protocol.sasl=plain"], 7),
        (["protocol=amqp", "protocol.sasl=plain", "protocol.delivery=at-most-once"], 6),
        (["protocol=coap+tcp"], 2),
        (["protocol=coap+tcp", "workload.message=3 kB"], 3),
        (["protocol=coaps+tcp", "workload.message=3 kB"], 4),
        (["protocol=mqtt", "workload.connection=persistent"], 1),
        (["protocol=mqtt", "workload.connection=persistent", "protocol.qos=0"], 0),
    ],
)
def test_session_setup_before_the_first_message_takes_its_round_trips(
    sets: list[str], trips: int, tmp_path: Path
) -> None:
    """Round trips that each took over a link of 400 ms."""
    text = BASE.replace("[workload]\nupload", '[workload]\nkind = "telemetry"\nmessage')
    assert registered_ns(tmp_path, text, *sets) == trips * RTT


def test_an_exchange_on_a_persistent_connection_takes_one_round_trip(tmp_path: Path) -> None:
    assert expected(tmp_path, "protocol=h2", "workload.connection=persistent") == RTT


def test_a_rate_adds_the_time_of_its_bits(tmp_path: Path) -> None:
    sets = ("protocol=raw-udp", "link.rate=8 kbit/s", "link.queue=1 kB", "workload.upload=940 B")
    assert expected(tmp_path, *sets) == pytest.approx(RTT + 1.06e9, rel=1e-6)


def test_loss_adds_the_timers_that_wait_for_it(tmp_path: Path) -> None:
    assert expected(tmp_path, "protocol=http1", "link.loss=10 %") > 2 * RTT + 200_000_000
    assert expected(tmp_path, "protocol=http1", "link.loss=100 %") == 10 * 10**9 - PROCESSING_NS


def test_bursts_that_begin_rarely_cost_less_than_their_share_of_time(tmp_path: Path) -> None:
    burst = 'link.gilbert-elliott={p="1 %", r="10 %", 1-h="70 %", 1-k="0 %"}'
    assert expected(tmp_path, "protocol=http1", burst) < expected(tmp_path, "protocol=http1", "link.loss=6.36 %") * 4


def test_the_first_exchange_of_a_trial_wakes_the_radio_and_its_answer_waits_until_it_listens(tmp_path: Path) -> None:
    sets = ("protocol=raw-udp", "link=nb-iot", "workload.exchanges=1")
    assert 3.2e9 < expected(tmp_path, *sets) < 3.4e9
    assert 2.3e9 < expected(tmp_path, *sets[:2]) < 2.4e9


def test_a_closed_loop_takes_its_exchanges_one_after_another(tmp_path: Path) -> None:
    scenario = load(tmp_path, BASE, "workload.concurrency=2").scenarios[0]
    assert expected_trial_ns(10**9, scenario) == TRIAL_OVERHEAD_NS + 5 * 10**9


def test_an_open_loop_takes_as_long_as_its_arrivals(tmp_path: Path) -> None:
    scenario = load(tmp_path, BASE, 'workload.arrival={fixed = "1 /s"}').scenarios[0]
    assert expected_trial_ns(10**9, scenario) == TRIAL_OVERHEAD_NS + 11 * 10**9


def test_frames_that_their_retries_do_not_save_cost_timers_as_lost_packets_do(tmp_path: Path) -> None:
    poor = ("protocol=http1", "link=wifi-poor")
    usual, poorer, poorest = (expected(tmp_path, *poor, f"link.medium.frame-error={e} %") for e in (10, 45, 75))
    assert usual < poorer < 50_000_000 < poorest


def test_a_protocol_with_its_own_timer_waits_that_long_after_a_loss(tmp_path: Path) -> None:
    short, long = (
        registered_ns(tmp_path, BASE, "protocol=coap", "link.loss=10 %", f"protocol.ack-timeout={timer}")
        for timer in ("500ms", "2s")
    )
    assert long - short > 2 * 0.1 * 1_500_000_000


def test_a_long_body_takes_the_round_trips_of_its_windows(tmp_path: Path) -> None:
    long = ("workload.connection=persistent", "workload.download=11 MB", "workload.upload=0 B")
    assert registered_ns(tmp_path, BASE, "protocol=http1", *long) == 10 * RTT, "14,480 B, then twice as much each time"
    windows = 11_000_000 / 65_535 + slow_start(65_535)
    assert registered_ns(tmp_path, BASE, "protocol=h2", *long) == pytest.approx(windows * RTT, rel=1e-3)


@pytest.mark.parametrize(
    ("sets", "window", "handled"),
    [
        (["protocol=h2", "protocol.initial-window-size=1000 B"], 1000, 11_000),
        (["protocol=h2", "protocol.initial-window-size=1000 kB"], 65_535, 11),
        (["protocol=h2", "protocol.connection-window=1000 kB"], 65_535, 0),
        (["protocol=h2", "protocol.initial-window-size=500 kB", "protocol.connection-window=1000 kB"], 500_000, 22),
        (["protocol=h3", "protocol.stream-window=1000 B"], 1000, 11_000),
        (["protocol=h3", "protocol.stream-window=1000 kB", "protocol.connection-window=50 kB"], 50_000, 11),
        (["protocol=h3", "protocol.send-window=50 kB"], 50_000, 0),
    ],
)
def test_a_long_body_waits_for_its_flow_control_windows(
    sets: list[str], window: int, handled: int, tmp_path: Path
) -> None:
    kept = ["workload.connection=persistent", "workload.timeout=1 h"]
    for up, down in (("11 MB", "0 B"), ("0 B", "11 MB")):
        found = parts(tmp_path, BASE, *sets, *kept, f"workload.upload={up}", f"workload.download={down}")
        took_ns = (11_000_000 / window + slow_start(window)) * RTT + handled * WINDOW_NS
        assert found.total_ns - PROCESSING_NS == pytest.approx(took_ns, rel=1e-3)
        assert found.reached is found.limit is Limit.FLOW_CONTROL


def test_an_exchange_that_times_out_does_not_wait_for_more_windows(tmp_path: Path) -> None:
    sets = ("protocol=h3", "protocol.stream-window=256 B", "workload.connection=persistent", "workload.download=11 MB")
    assert registered_ns(tmp_path, BASE, *sets, "workload.timeout=1 min") == 60 * 10**9 - PROCESSING_NS


def test_sizes_in_turn_take_the_mean_of_their_times(tmp_path: Path) -> None:
    turns = ('workload.download=["11 MB", "612 B"]', "workload.upload=0 B")
    assert expected(tmp_path, "protocol=http1", "workload.connection=persistent", *turns) == (10 + 1) * RTT // 2


def test_requests_that_wait_for_one_another_on_a_connection_take_longer_than_their_arrivals(tmp_path: Path) -> None:
    sets = ('workload.arrival={fixed = "10 /s"}', "workload.concurrency=10")
    kept = load(tmp_path, BASE, "protocol=http1", "workload.connection=persistent", *sets).scenarios[0]
    assert expected_trial_ns(10**9, kept) == TRIAL_OVERHEAD_NS + 10 * 10**9
    fresh = load(tmp_path, BASE, "protocol=http1", *sets).scenarios[0]
    assert expected_trial_ns(10**9, fresh) == TRIAL_OVERHEAD_NS + 2 * 10**9


def load_ns(folder: Path, *sets: str) -> int:
    text = 'title = "T"\n[factors]\nprotocol = ["h2"]\n[link]\nrtt = "20 ms"\n[workload]\nkind = "page"\nloads = 5\n'
    return registered_ns(folder, text + 'page = { objects = 1, object-size = "1 MB" }\n', *sets)


def test_congestion_windows_of_a_page_double_for_every_protocol(tmp_path: Path) -> None:
    windows = 7  # 14,480 (2^7 - 1) bytes are more than 1 MB
    assert load_ns(tmp_path, "protocol=h2") == (2 + windows) * RTT
    assert load_ns(tmp_path, "protocol=http1") == (1 + windows) * RTT


def test_devtools_latency_is_part_of_a_loads_time(tmp_path: Path) -> None:
    program = "client.implementation=chromium"
    held = load_ns(tmp_path, program, "programs.chromium.devtools-latency=100 ms") - load_ns(tmp_path, program)
    assert held == 2 * 100_000_000  # of the document, then of the image


def test_a_requests_delay_is_part_of_a_loads_time(tmp_path: Path) -> None:
    held = load_ns(tmp_path, "workload.request-delay=100 ms") - load_ns(tmp_path)
    assert held == 2 * 100_000_000


def test_a_small_window_costs_a_page_round_trips_and_cpu_time(tmp_path: Path) -> None:
    one_mb, windows = 1_000_000, -(-1_000_000 // 1000)
    trips = 2 + windows + 1  # the document's bytes fill one more window
    small = load_ns(tmp_path, "protocol=h2c", "protocol.initial-window-size=1000 B")
    assert small == pytest.approx((trips - 1) * RTT + one_mb // 1000 * WINDOW_NS, rel=0.01)
    wide = load_ns(
        tmp_path, "protocol=h2c", "protocol.initial-window-size=1000 kB", "protocol.connection-window=1000 kB"
    )
    assert wide < small / 100


def test_a_small_window_costs_http3_the_same_as_http2(tmp_path: Path) -> None:
    h2, h3, wide = (
        load_ns(tmp_path, f"protocol={protocol}", f"protocol.{setting}")
        for protocol, setting in (
            ("h2c", "initial-window-size=1000 B"), ("h3", "stream-window=1000 B"), ("h3", "stream-window=1000 kB")
        )
    )  # fmt: skip
    assert h3 == pytest.approx(h2, rel=0.01)
    assert wide < h3 / 50


def test_streams_share_the_connections_window_and_their_own(tmp_path: Path) -> None:
    page = 'workload.page={ objects = 10, object-size = "100 kB" }'
    sets = ("protocol=h2c", page, "protocol.initial-window-size=10 kB")
    at_once, alone = load_ns(tmp_path, *sets), load_ns(tmp_path, *sets, "protocol.max-concurrent-streams=1")
    assert alone > 5 * at_once
    shared = load_ns(tmp_path, *sets, "protocol.connection-window=65535 B")
    assert at_once < shared < alone


WAY = Way(delay_ns=0, rate_bps=1e8, packet_ns=0, loss=0.0, loss_again=0.0, pause_ns=0, queue_bytes=0.0)


def test_a_flow_reaches_the_minimum_of_rate_window_limit_and_loss_limit() -> None:
    assert flow_rate_bps(WAY, RTT) == (1e8, Limit.RATE)
    assert flow_rate_bps(WAY, RTT, 65_535) == (pytest.approx(65_535 * 8 / 0.02), Limit.FLOW_CONTROL)
    lossy = Way(**{**vars(WAY), "loss": 0.01, "loss_again": 0.01})
    mathis = SEGMENT_BYTES * 8 / 0.02 * sqrt(1.5) / sqrt(0.01)
    assert flow_rate_bps(lossy, RTT) == (pytest.approx(mathis), Limit.LOSS)
    assert flow_rate_bps(lossy, 0) == (1e8, Limit.RATE), "without a round trip nothing is waited for"
    assert flow_rate_bps(Way(**{**vars(WAY), "rate_bps": None}), RTT) == (None, Limit.RATE)


def test_a_long_body_over_a_lossy_link_is_limited_by_its_loss_and_a_short_one_by_round_trips(tmp_path: Path) -> None:
    text = BASE.replace('rtt = "20 ms"', 'rtt = "200 ms"\nrate = "100 Mbit/s"\nqueue = "1 MB"\nloss = "1 %"')
    long = parts(tmp_path, text, "protocol=http1", "workload.download=10 MB", "workload.timeout=1 h")
    # RFC 9438, section 5.1: at a round trip of 0.2 s and 1 % loss, Reno's window of 12.2 packets is the larger one.
    reached = SEGMENT_BYTES * 8e9 / long.rtt_ns * sqrt(1.5 / 0.01)
    assert long.transfer_ns == pytest.approx(10_000_000 * 8e9 / reached, rel=0.01)
    assert (long.reached, long.limit) == (Limit.LOSS, Limit.LOSS)
    short = parts(tmp_path, text, "protocol=http1", "workload.download=10 kB", "workload.timeout=1 h")
    assert (short.reached, short.limit) == (Limit.RATE, Limit.ROUND_TRIPS)
    lossless = parts(tmp_path, text, "protocol=http1", "workload.download=10 MB", "link.loss=0 %")
    assert (lossless.reached, lossless.limit) == (Limit.RATE, Limit.ROUND_TRIPS)


def test_bursts_that_drop_retransmissions_cost_a_long_body_timers(tmp_path: Path) -> None:
    long = ("protocol=http1", "workload.download=11 MB", "workload.upload=0 B", "workload.timeout=1 h")
    burst = 'link.gilbert-elliott={p="1 %", r="10 %", 1-h="70 %", 1-k="0.1 %"}'
    bursts, alone = (parts(tmp_path, BASE, *long, loss) for loss in (burst, "link.loss=1.1 %"))
    assert bursts.recovery_ns > 60e9 > 10 * alone.recovery_ns


def test_the_expected_time_beyond_the_timeout_is_known_too(tmp_path: Path) -> None:
    sets = ("protocol=h3", "protocol.stream-window=256 B", "workload.connection=persistent", "workload.download=11 MB")
    found = parts(tmp_path, BASE, *sets, "workload.timeout=1 min")
    assert found.total_ns == 60 * 10**9 < found.patient_ns


def test_cubic_is_never_slower_than_reno_and_faster_on_long_paths() -> None:
    # RFC 9438, section 5.1: 1.054 * (RTT / p)^0.75 packets.
    cubic, reno = Control("cubic"), Control("reno")
    assert cubic.reached_bps(0.01, 20_000_000) == reno.reached_bps(0.01, 20_000_000)
    long = cubic.reached_bps(0.01, 608_000_000)
    assert long == pytest.approx(1.054 * 60.8**0.75 * SEGMENT_BYTES * 8 / 0.608, rel=1e-3)
    assert long is not None
    assert 0.4e6 < long < 0.5e6
    assert Control("bbr").reached_bps(0.01, 608_000_000) is None


def test_a_page_of_3_mb_at_1_percent_loss_over_600_ms_is_limited_by_loss(tmp_path: Path) -> None:
    link = 'rtt = "600 ms"\nrate = "18.9 Mbit/s"\nqueue = "1 MB"\nloss = "1 %"'
    file = tmp_path / "experiment.toml"
    file.write_text(BASE.replace('rtt = "20 ms"', link))
    page = ("workload.kind=page", 'workload.page={ objects = 60, object-size = "50 kB" }', "protocol=http1,h2,h3")
    found = {}
    for scenario in load_experiment(str(file), page).scenarios:
        protocol = registered().protocol(scenario.protocol)
        assert protocol is not None
        found[scenario.protocol] = connections(scenario, protocol)
    http1, h2, h3 = (found[name] for name in ("http1", "h2", "h3"))
    assert http1 is not None
    assert h2 is not None
    assert h3 is not None
    assert (http1.at_once, h2.at_once, h3.at_once) == (6, 1, 1)
    assert (h2.packet_bytes, h3.packet_bytes) == (1448, 1417)
    assert h2.limit_words == (
        "loss limits one connection to 0.44 of 18.9 Mbit/s (cubic, 1 % of packets of 1448 B lost, round trip 600 ms)"
    )
    assert http1.limit_words is not None
    assert "and its 6 connections to 2.6 Mbit/s" in http1.limit_words


@pytest.mark.parametrize(
    ("link", "protocol", "packet_bytes"),
    [
        ("mtu = '600 B'", "http1", 548), ('family = "ipv6"', "http1", 1428), ('family = "ipv6"', "h3", 1417),
        ("mtu = '1400 B'", "h3", 1337), ("mtu = '1400 B'\nfamily = 'ipv6'", "h3", 1317),
    ],
)  # fmt: skip
def test_a_full_packet_is_one_of_the_links_mtu_and_address_family(
    tmp_path: Path, link: str, protocol: str, packet_bytes: int
) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(BASE.replace('rtt = "20 ms"', f'rtt = "20 ms"\n{link}'))
    (scenario,) = load_experiment(str(file), (f"protocol={protocol}",)).scenarios
    described = registered().protocol(protocol)
    assert described is not None
    used = connections(scenario, described)
    assert used is not None
    assert used.packet_bytes == packet_bytes


@pytest.mark.parametrize(("concurrency", "at_once"), [(1, 1), (4, 4), (9, 6)])
def test_of_persistent_connections_those_are_used_that_have_a_request(
    tmp_path: Path, concurrency: int, at_once: int
) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(BASE)
    sets = ("protocol=http1", "workload.connection={ persistent = 6 }", f"workload.concurrency={concurrency}")
    (scenario,) = load_experiment(str(file), sets).scenarios
    described = registered().protocol("http1")
    assert described is not None
    used = connections(scenario, described)
    assert used is not None
    assert used.at_once == at_once


def test_a_transfer_that_loses_no_packet_on_average_is_not_said_to_be_limited_by_loss(tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(BASE.replace('rtt = "20 ms"', 'rtt = "600 ms"\nrate = "18.9 Mbit/s"\nqueue = "1 MB"\nloss = "1 %"'))
    (scenario,) = load_experiment(str(file), ("protocol=h3", "workload.download=1 kB")).scenarios
    protocol = registered().protocol("h3")
    assert protocol is not None
    used = connections(scenario, protocol)
    assert used is not None
    assert used.loss_limit is None


def test_a_message_waits_half_an_interval_for_its_subscriber(tmp_path: Path) -> None:
    text = """
title = "t"
[factors]
protocol = ["http1"]
[link]
rtt = "20 ms"
[workload]
kind = "pubsub"
"""
    connected = registered_ns(tmp_path, text)
    assert registered_ns(tmp_path, text, 'workload.wait={ poll = "10 s" }') - connected == 5 * 10**9
