"""What keeps a scenario from being run although each part of it is right."""

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.errors import WirelabError
from wirelab.experiment.experiment import Experiment

HEAD = 'title = "t"\noffloads = true\n[factors]\nprotocol = ["http1"]\n[link]\n'


def written(tmp_path: Path, link: str) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + link + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("link", "named"),
    [
        ('backend = "netem"', "netem"),
        ('mtu = "1280 B"', "mtu"),
        ('corrupt = "1 %"', "corrupt"),
        ('rate = "1 Mbit/s"\nburst = "10 kB"\nqueue = "64 kB"', "token-bucket"),
        ('profile = "wifi-good"', "medium"),
    ],
)
def test_offloads_are_refused_on_links_that_need_packets_as_on_the_wire(link: str, named: str, tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match=f"has {named}, but with offloads") as refused:
        load_experiment(written(tmp_path, link))
    assert "offloads = false" in str(refused.value.hint)


@pytest.mark.parametrize("link", ['rtt = "20 ms"', 'loss = "1 %"', 'profile = "ethernet-100m"'])
def test_offloads_are_allowed_with_delay_loss_and_rate(link: str, tmp_path: Path) -> None:
    assert load_experiment(written(tmp_path, link)).offloads


BEHIND_A_NAT = """
title = "t"
[factors]
protocol = ["coap"]
[link]
rtt = "10 ms"
nat = {{ {nat} }}
[workload]
kind = "telemetry"
message = "30 B"
exchanges = 50
clients = 8
{more}
"""


def load(tmp_path: Path, text: str) -> Experiment:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return load_experiment(str(path))


KEPT, NEW = 'connection = "persistent"', 'connection = "new"\narrival = { fixed = "5 /s" }'


@pytest.mark.parametrize(
    ("nat", "more", "message"),
    [
        ("ports = [2000, 2006]", KEPT, "has room for 7 mappings, and the clients have 8"),
        ("table = 7", KEPT, "has room for 7 mappings, and the clients have 8"),
        ("table = 7, keep-port = true", KEPT, "has room for 7 mappings, and the clients have 8"),
        ('udp = "2 s", ports = [2000, 2080]', NEW, "has room for 81 mappings, and the clients have 88"),
        ("ports = [2000, 2007]", 'connection = "new"', "has room for 8 mappings, and the clients have 408"),
        (
            "ports = [2000, 2031]",
            "connection = { persistent = 5 }",
            "has room for 32 mappings, and the clients have 40",
        ),
        ('udp = "2 h", ports = [2000, 2399]', NEW, "has room for 400 mappings, and the clients have 408"),
    ],
)
def test_a_nat_without_room_for_its_clients_is_refused(nat: str, more: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match=message) as refused:
        load(tmp_path, BEHIND_A_NAT.format(nat=nat, more=more))
    assert "link.nat." in str(refused.value)


@pytest.mark.parametrize(
    ("nat", "more"),
    [
        ("ports = [2000, 2007]", KEPT),
        ("ports = [2000, 2006], keep-port = true", KEPT),
        ('udp = "2 s", ports = [2000, 2087]', NEW),
    ],
)
def test_a_nat_with_room_for_its_clients_is_accepted(nat: str, more: str, tmp_path: Path) -> None:
    assert load(tmp_path, BEHIND_A_NAT.format(nat=nat, more=more)).scenarios[0].link.nat is not None


@pytest.mark.parametrize(
    ("nat", "message"),
    [
        ('udp = "0 s"', "nat.udp"),
        ('tcp-transitory = "0 s"', "nat.tcp-transitory"),
        ("ports = [3000, 2000]", "the first port, 3000, is above the last, 2000"),
        ("ports = [0, 2000]", "nat.ports"),
        ("ports = [5000]", r"nat.ports: has 1 of at least 2 entries \(\[5000\]\)"),
        ("ports = []", r"nat.ports: is empty \(\[\]\)"),
    ],
)
def test_a_nat_that_lets_nothing_pass_is_refused(nat: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match=message):
        load(tmp_path, BEHIND_A_NAT.format(nat=nat, more=KEPT))


IDLE = """
title = "t"
clock = "{clock}"
[factors]
protocol = ["coap"]
[link]
rtt = "10 ms"
{link}
[workload]
kind = "telemetry"
arrival = "idle-start"
interval = "10 min"
{more}
"""
ELSE = {"clock": "live", "link": "", "more": ""}


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"clock": "virtual"}, "idle-start is for the live clock: under the virtual clock waiting takes no time"),
        ({"more": "clients = 5"}, r"an idle start is of one device \(clients = 5\)"),
        ({"more": "concurrency = 4"}, r"an idle start is of one message at a time \(concurrency = 4\)"),
        ({"link": 'backend = "netem"'}, "netem has no clock that could be put forward"),
        ({"more": '[traffic.load]\nkind = "bulk"\nfrom = "client"'}, "background traffic never rests"),
    ],
)
def test_what_cannot_rest_is_refused(what: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match=message) as refused:
        load(tmp_path, IDLE.format(**{**ELSE, **what}))
    assert "workload.arrival: " in str(refused.value)


def test_one_device_on_one_link_rests(tmp_path: Path) -> None:
    [scenario] = load(tmp_path, IDLE.format(**ELSE)).scenarios
    assert scenario.workload.gap_ns == 600 * 10**9


SUBSCRIBERS = """
title = "t"
[factors]
protocol = ["{protocol}"]
{factor}
[link]
rtt = "10 ms"
[workload]
kind = "pubsub"
{wait}
{settings}
"""


@pytest.mark.parametrize(
    ("protocol", "wait", "what", "hint"),
    [
        ("mqtt", '{ poll = "10 min" }', "mqtt fetches nothing by request", 'wait = { check-in = "10 min" }'),
        ("coap", '{ check-in = "10 min" }', "coap keeps nothing for a subscriber", 'wait = { poll = "10 min" }'),
        ("mqtt", '{ check-in = "10 min" }', r"a session that is kept \(clean-start = true\)", "clean-start = false"),
    ],
)
def test_a_way_of_waiting_that_does_not_go_is_refused(
    protocol: str, wait: str, what: str, hint: str, tmp_path: Path
) -> None:
    text = SUBSCRIBERS.format(protocol=protocol, factor="", wait=f"wait = {wait}", settings="")
    with pytest.raises(WirelabError, match=what) as refused:
        load(tmp_path, text)
    assert hint in str(refused.value.hint)


def test_where_ways_of_waiting_are_compared_a_protocol_may_lack_one(tmp_path: Path) -> None:
    factor = '"workload.wait" = ["connected", { poll = "10 min" }, { check-in = "10 min" }]'
    settings = "[protocols.mqtt]\nclean-start = false"
    text = SUBSCRIBERS.format(protocol="mqtt", factor=factor, wait="", settings=settings)
    assert len(load(tmp_path, text).scenarios) == 3
    with pytest.raises(WirelabError, match="clean-start = true"):
        load(tmp_path, text.replace("false", "true"))
