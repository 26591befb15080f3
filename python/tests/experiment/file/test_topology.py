"""Hosts, links and background traffic of experiment files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.errors import WirelabError
from wirelab.experiment.experiment import Experiment
from wirelab.plan import make_plan
from wirelab.schema import Description, Role, registered
from wirelab.schema.topology import BulkTraffic, PingTraffic

HEAD = """
title = "Hosts"
[factors]
protocol = ["http1"]
{factors}
[links]
good = {{ rtt = "20 ms" }}
poor = {{ rtt = "20 ms", loss = "10 %" }}
wire = {{ rtt = "1 ms" }}
[workload]
kind = "request-response"
upload = "30 B"
"""
LINK = 'link = ["good", "poor"]'
MIDDLE = """
[topology]
wire = { near = ["server"], far = ["cloud"] }
air = { near = ["other", "client"], far = ["server"] }
"""
PROXY = """
[topology]
air = { near = ["client"], far = ["proxy"] }
wire = { near = ["proxy"], far = ["server"] }
"""
CROSS = """
[topology]
air = { near = ["client", "laptop"], far = ["server"] }
[traffic.bulk]
kind = "bulk"
from = "laptop"
flows = 5
[traffic.laptop]
kind = "ping"
payload = "1 kB"
interval = "5 ms"
"""


def load(folder: Path, more: str, factors: str = LINK) -> Experiment:
    path = folder / "hosts.toml"
    path.write_text(HEAD.format(factors=factors) + more, encoding="utf-8")
    return load_experiment(str(path))


def refusal(folder: Path, more: str, factors: str = LINK) -> str:
    with pytest.raises(WirelabError) as caught:
        load(folder, more, factors)
    return str(caught.value)


def test_a_client_and_a_server_need_no_topology_table(tmp_path: Path) -> None:
    experiment = load(tmp_path, "", 'link = ["good", "poor", "wire"]')
    [scenario, *_] = experiment.scenarios
    assert (scenario.topology, scenario.traffic) == ((), ())
    assert not {"topology", "traffic"} & scenario.identity().keys()
    assert not {"topology", "traffic"} & make_plan(experiment).to_json()["scenarios"][0].keys()


def test_the_clients_link_is_the_one_chosen_and_comes_first_with_the_client_and_its_peer(tmp_path: Path) -> None:
    experiment = load(tmp_path, MIDDLE)
    assert [scenario.link_name for scenario in experiment.scenarios] == ["good", "poor"]
    for scenario in experiment.scenarios:
        air, wire = scenario.topology
        assert (air.name, air.near, air.far, air.link) == ("air", ("client", "other"), ("server",), None)
        assert (wire.name, wire.near, wire.far) == ("wire", ("server",), ("cloud",))
        assert wire.link is not None
        assert wire.link.uplink[0].to_json()["delay_ns"] == 500_000
    first = make_plan(experiment).to_json()["scenarios"][0]
    assert first["topology"][0] == {"name": "air", "near": ["client", "other"], "far": ["server"]}
    keys = {scenario["key"] for scenario in make_plan(experiment).to_json()["scenarios"]}
    assert not keys & {scenario.key for scenario in make_plan(load(tmp_path, "", 'link = ["good"]')).scenarios}


def test_a_link_behind_the_clients_can_be_varied(tmp_path: Path) -> None:
    experiment = load(tmp_path, MIDDLE, 'link = ["good"]\n"links.wire.rtt" = ["1 ms", "40 ms"]')
    delays = [scenario.topology[1].link for scenario in experiment.scenarios]
    assert [link.uplink[0].to_json()["delay_ns"] for link in delays if link is not None] == [500_000, 20_000_000]
    assert [scenario.levels["links.wire.rtt"] for scenario in experiment.scenarios] == ["1 ms", "40 ms"]


def test_traffic_goes_between_its_hosts_and_none_of_it_is_none(tmp_path: Path) -> None:
    [good, _] = load(tmp_path, CROSS, LINK).scenarios
    bulk, ping = good.traffic
    assert bulk == BulkTraffic(name="bulk", source="laptop", to="server", flows=5, direction="upload", stagger_ns=10**9)
    assert ping == PingTraffic(
        name="laptop", source="laptop", to="server", flows=1, payload_bytes=1000, interval_ns=5_000_000
    )
    varied = load(tmp_path, CROSS, 'link = ["good"]\n"traffic.bulk.flows" = [0, 1, 20]')
    assert [[each.flows for each in scenario.traffic] for scenario in varied.scenarios] == [[1], [1, 1], [20, 1]]


def test_a_star_varies_all_traffic_of_that_name_together(tmp_path: Path) -> None:
    both = CROSS + '[traffic.bulk-back]\nkind = "bulk"\nfrom = "laptop"\ndirection = "download"\n'
    varied = load(tmp_path, both, 'link = ["good"]\n"traffic.bulk*.flows" = [0, 20]')
    flows = [{each.name: each.flows for each in scenario.traffic} for scenario in varied.scenarios]
    assert flows == [{"laptop": 1}, {"bulk": 20, "laptop": 1, "bulk-back": 20}]
    assert [scenario.levels["traffic.bulk*.flows"] for scenario in varied.scenarios] == [0, 20]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('[topology]\nair = { near = ["client"] }', "air.far is missing"),
        ('[topology]\nair = { near = ["client"], far = [] }', "is empty"),
        ('[topology]\nair = { near = ["client"], far = ["server", "server"] }', "server is there twice"),
        ('[topology]\nair = { near = ["server"], far = ["client"] }', "the client is on the near side of one link"),
        ('[topology]\nair = { near = ["client"], far = ["cloud"] }', "no way leads from the client to the server"),
        ('[topology]\nair = { near = ["client"], far = ["server"], link = "wir" }', 'unknown link ("wir")'),
        ('[traffic.laptop]\nkind = "bulk"', 'unknown host ("laptop")'),
        ('[traffic.x]\nkind = "bulk"\nfrom = "client"\nto = "sever"', 'unknown host ("sever")'),
        ('[traffic.x]\nkind = "bulk"\nfrom = "client"\nto = "client"', "no link has client on one side and client"),
        ('[traffic.x]\nkind = "ping"\nfrom = "client"\ndirection = "upload"', "is of bulk, not of ping"),
        ('[traffic.x]\nkind = "flood"\nfrom = "client"', "unknown value"),
        ('[traffic.x]\nkind = "ping"\nfrom = "client"\ninterval = "1 us"', "from 10 us to 1 h"),
        ('[traffic.x]\nkind = "ping"\nfrom = "client"\npayload = "66 kB"', "at most 65000 B"),
        ('[traffic.x]\nkind = "bulk"\nfrom = "client"\nstagger = "2 min"', "at most 60 s"),
        ('[traffic."../x"]\nkind = "bulk"\nfrom = "client"', 'traffic."../x": is not a valid name'),
        ('[topology]\n"a/b" = { near = ["client"], far = ["server"] }', 'topology."a/b": is not a valid name'),
        ('[topology]\nair = { near = ["client"], far = ["Server"] }', 'is not a valid name ("Server")'),
    ],
)
def test_an_impossible_topology_is_reported_with_its_place(tmp_path: Path, more: str, words: str) -> None:
    reported = refusal(tmp_path, more)
    assert words.replace("air.far ", "") in reported, reported
    assert "hosts.toml:" in reported


def test_a_mistake_in_the_topology_is_reported_once(tmp_path: Path) -> None:
    reported = refusal(tmp_path, PROXY.replace('["client"]', '"client"') + ASKED)
    assert "topology.air.near: should be a list" in reported
    assert "links lead" not in reported


def test_levels_of_traffic_are_checked_at_their_place(tmp_path: Path) -> None:
    assert "must be at least 0" in refusal(tmp_path, CROSS, LINK + '\n"traffic.bulk.flows" = [-1]')
    assert "unknown traffic 'bulky'" in refusal(tmp_path, CROSS, LINK + '\n"traffic.bulky.flows" = [1]')
    assert "unknown traffic 'b*y'" in refusal(tmp_path, CROSS, LINK + '\n"traffic.b*y.flows" = [1]')
    assert "no key 'flow'" in refusal(tmp_path, CROSS, LINK + '\n"traffic.bulk.flow" = [1]')


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        ('"traffic.bulk.from" = ["laptop", "labtop"]', 'unknown host ("labtop")'),
        ('"traffic.bulk.to" = ["server", "client"]', "no link has laptop on one side and client on the other"),
        ('"traffic.bulk.payload" = ["10 B"]', "is of ping, not of bulk"),
        ('"traffic.bulk.kind" = ["bulk", "ping"]\n"traffic.bulk.direction" = ["upload"]', "is of bulk, not of ping"),
    ],
)
def test_traffic_that_levels_make_impossible_is_reported_at_the_levels(tmp_path: Path, factor: str, words: str) -> None:
    reported = refusal(tmp_path, CROSS, f"{LINK}\n{factor}")
    assert words in reported
    assert 'factors."traffic.bulk.' in reported


def test_a_radio_that_sleeps_is_that_of_one_host(tmp_path: Path) -> None:
    sleepy = '\n[link.radio]\nbuffer = "10 kB"\nsleeps = [{ after = "1 s", cycle = "1 s", wake = "10 ms" }]\n'
    assert "a radio's sleep is that of one host" in refusal(tmp_path, CROSS + sleepy, 'link = ["good"]')


def test_captures_need_the_server_on_the_clients_link(tmp_path: Path) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text("capture = true\n" + HEAD.format(factors=LINK) + PROXY + ASKED, encoding="utf-8")
    with pytest.raises(WirelabError, match="the server is not there"):
        load_experiment(str(path), known=with_proxy())


ASKED = '[endpoints.proxy]\nprotocols = ["http1"]\n'


def with_proxy() -> Description:
    """A build whose HTTP/1.1 has a proxy."""
    protocols = [
        protocol.model_copy(update={"roles": (*protocol.roles, Role.PROXY)}) if protocol.name == "http1" else protocol
        for protocol in registered().protocols
    ]
    return registered().model_copy(update={"protocols": tuple(protocols)})


def test_a_proxys_origin_speaks_its_own_protocol(tmp_path: Path) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text(HEAD.format(factors=LINK) + PROXY + ASKED, encoding="utf-8")
    experiment = load_experiment(str(path), known=with_proxy())
    for scenario in experiment.scenarios:
        assert scenario.origin is not None
        assert (scenario.protocol, scenario.origin.protocol) == ("http1", "http1")
        assert scenario.origin.settings == scenario.settings
    assert make_plan(experiment).to_json()["scenarios"][0]["origin"]["protocol"] == "http1"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (PROXY, "http1 does not use a proxy, and the server is not on the client's link"),
        (PROXY + ASKED, "http1 has no role proxy"),
        (PROXY + ASKED.replace("http1", "htp1"), 'unknown protocol ("htp1")'),
        (PROXY + ASKED + 'origin = "h2"', "a proxy does not speak h2 to its server"),
        (PROXY + ASKED + 'origin = "raw-tcp"', "a proxy does not speak raw-tcp to its server"),
        (ASKED, "no links lead from the client to the proxy"),
    ],
)
def test_a_proxy_role_without_an_implementation_is_reported(tmp_path: Path, more: str, words: str) -> None:
    assert words in refusal(tmp_path, more)


def test_a_workload_that_a_proxy_cannot_forward_is_reported(tmp_path: Path) -> None:
    text = HEAD.format(factors=LINK).replace('"request-response"\nupload = "30 B"', '"pubsub"') + PROXY + ASKED
    path = tmp_path / "hosts.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(WirelabError, match="a proxy observes nothing, so that http1 does no pubsub through it"):
        load_experiment(str(path), known=with_proxy())


CACHES = """
title = "Caches"
[factors]
protocol = ["coap", "coaps"]
{factor}
[links]
good = {{ rtt = "20 ms" }}
wire = {{ rtt = "1 ms" }}
[topology]
air = {{ near = ["client"], far = ["proxy", "server"] }}
wire = {{ near = ["proxy"], far = ["server"] }}
[endpoints.proxy]
protocols = ["coap"]
origin = "http1"
[workload]
kind = "request-response"
download = "20 B"
{table}
"""


@pytest.mark.parametrize(
    ("factor", "table", "place"),
    [
        ("", "[protocols.coaps]\ncache = true", "protocols.coaps.cache"),
        ("", "[protocol]\ncache = true", "protocol.cache"),
        ('"protocols.coaps.cache" = [false, true]', "", 'factors."protocols.coaps.cache"'),
        ('"protocol.cache" = [false, true]', "", 'factors."protocol.cache"'),
    ],
)
def test_a_cache_for_a_protocol_without_the_proxy_is_refused_at_its_key(
    tmp_path: Path, factor: str, table: str, place: str
) -> None:
    path = tmp_path / "caches.toml"
    path.write_text(CACHES.format(factor=factor, table=table), encoding="utf-8")
    with pytest.raises(WirelabError) as caught:
        load_experiment(str(path))
    assert f"{place}: coaps does not use a proxy, and the cache is a proxy's (true)" in str(caught.value)
    assert 'hint: [endpoints.proxy] protocols = ["coaps"]' in str(caught.value)


@pytest.mark.parametrize(
    ("factor", "table"),
    [
        ("", "[protocols.coap]\ncache = true"),
        ("", "[protocol]\ncache = false"),
        ('"protocols.coap.cache" = [false, true]', "[protocol]\ncache = false"),
    ],
)
def test_a_cache_for_a_protocol_with_the_proxy_is_accepted(tmp_path: Path, factor: str, table: str) -> None:
    path = tmp_path / "caches.toml"
    path.write_text(CACHES.format(factor=factor, table=table), encoding="utf-8")
    settings = {(each.protocol, each.settings["cache"]) for each in load_experiment(str(path)).scenarios}
    assert ("coaps", True) not in settings
    assert len(settings) == (3 if factor else 2)


def test_an_origin_may_be_any_program_that_speaks_the_proxys_protocol(tmp_path: Path) -> None:
    factors = LINK + '\n"server.implementation" = ["builtin", "nginx"]'
    text = HEAD.format(factors=factors).replace('"http1"', '"coap"') + PROXY + ASKED.replace("http1", "coap")
    path = tmp_path / "hosts.toml"
    path.write_text(text, encoding="utf-8")
    servers = {scenario.implementation["server"] for scenario in load_experiment(str(path)).scenarios}
    assert servers == {"builtin", "nginx"}
    path.write_text(text.replace('"nginx"', '"mosquitto"'), encoding="utf-8")
    with pytest.raises(WirelabError, match="mosquitto is not a server of http1"):
        load_experiment(str(path))
