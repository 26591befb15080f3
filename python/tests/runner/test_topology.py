"""Trials over several hosts and links as the host is asked for them."""

from __future__ import annotations

from pathlib import Path

from tests.runner.fakes import make_plan
from wirelab.plan import stable_hash
from wirelab.runner.endpoints import Endpoints
from wirelab.runner.implementations import load
from wirelab.runner.topology import LaneAddresses, lane_links
from wirelab.schema import AddressFamily, EndpointParameters, LaneLink, LinkSpec, Role, TrialRequest, registered
from wirelab.schema.host import HostAddress, LinkAddresses
from wirelab.schema.plan import Scenario
from wirelab.schema.topology import BulkTraffic, Origin, PingTraffic, TopologyLink, Traffic

WIRE = LinkSpec(uplink=(), downlink=(), family=AddressFamily.IPV6)
TOPOLOGY = (
    TopologyLink(name="air", near=("client", "laptop"), far=("proxy",)),
    TopologyLink(name="wire", near=("proxy",), far=("server",), link=WIRE),
)


def addresses() -> LaneAddresses:
    def host(name: str, link: int, number: int) -> HostAddress:
        return HostAddress(host=name, ipv4=f"10.77.{link}.{number}", ipv6=f"fd77:0:0:{link}::{number}")

    air = LinkAddresses(name="air", near=(host("client", 0, 1), host("laptop", 0, 3)), far=(host("proxy", 0, 2),))
    return LaneAddresses((air, LinkAddresses(name="wire", near=(host("proxy", 1, 1),), far=(host("server", 1, 2),))))


def scenario(*traffic: Traffic) -> Scenario:
    [one] = make_plan(1, 1).scenarios
    origin = Origin(protocol="http1", settings={"expect-continue": False})
    return one.model_copy(update={"topology": TOPOLOGY, "traffic": traffic, "origin": origin})


def request(of: Scenario, folder: Path) -> TrialRequest:
    [block] = make_plan(1, 1).blocks
    return Endpoints(Path("/agent"), load(None), {}, addresses()).request(of, block.trials[0], 0, folder / "t")


def test_jobs_have_the_links_of_the_plan() -> None:
    plan = make_plan(1, 1)
    assert lane_links(plan) == ()
    with_hosts = plan.model_copy(update={"scenarios": (scenario(),)})
    assert lane_links(with_hosts) == (
        LaneLink(name="air", near=("client", "laptop"), far=("proxy",)),
        LaneLink(name="wire", near=("proxy",), far=("server",)),
    )


def test_the_client_finds_its_peer_and_the_proxy_its_server_each_by_the_family_of_its_link() -> None:
    found = addresses()
    assert found.peer(scenario()) == "10.77.0.2"
    assert found.server(scenario()) == "fd77:0:0:1::2"
    assert found.between(scenario(), "laptop", "proxy") == "10.77.0.2"
    assert found.between(scenario(), "server", "proxy") == "fd77:0:0:1::1"


def test_other_links_have_seeds_and_logs_of_their_own(tmp_path: Path) -> None:
    asked = request(scenario(), tmp_path)
    wire = asked.other_links["wire"]
    assert (wire.link, wire.packet_log) == (WIRE, tmp_path / "t" / "packets-wire.wlpl")
    assert wire.seed == stable_hash(asked.link_seed, "wire")


def test_background_traffic_starts_before_the_client_and_does_not_end_the_trial(tmp_path: Path) -> None:
    bulk = BulkTraffic(name="bulk", source="laptop", to="proxy", flows=5, direction="download", stagger_ns=2 * 10**9)
    ping = PingTraffic(name="ping", source="proxy", to="server", flows=1, payload_bytes=56, interval_ns=10**7)
    asked = request(scenario(bulk, ping), tmp_path)
    names = ["server", "traffic-bulk.server", "traffic-bulk", "traffic-ping", "proxy", "client"]
    assert [each.name for each in asked.endpoints] == names
    _, sink, source, flood, _, client = asked.endpoints
    assert [each.host for each in (sink, source, flood)] == ["proxy", "laptop", "proxy"]
    assert sink.command == ("/agent", "traffic", "bulk-server", "--at", "10.77.0.2:5001")
    assert source.command[:9] == (
        "/agent", "traffic", "bulk", "--to", "10.77.0.2:5001", "--flows", "5", "--direction", "download",
    )  # fmt: skip
    assert source.command[9:11] == ("--stagger-ms", "2000")
    assert flood.command[3:5] == ("--to", "fd77:0:0:1::2")
    assert flood.command[-2:] == ("--interval-us", "10000.000")
    assert all(each.ready is not None and not each.ends_trial for each in (sink, source, flood))
    assert client.ends_trial
    assert sink.directory.is_dir()
    alone = request(scenario(), tmp_path / "alone")
    assert asked.timeout_ns - alone.timeout_ns >= bulk.stagger_ns


def test_a_proxy_gets_its_own_address_and_that_of_its_origin_server(tmp_path: Path) -> None:
    asked = request(scenario(), tmp_path)
    assert [(each.name, each.host) for each in asked.endpoints] == [
        (name, name) for name in ("server", "proxy", "client")
    ]
    reported = {
        each.name: EndpointParameters.model_validate_json((each.directory / "parameters.json").read_text())
        for each in asked.endpoints
    }
    assert {name: (each.role, each.server.address) for name, each in reported.items()} == {
        "server": (Role.SERVER, "fd77:0:0:1::2"),
        "proxy": (Role.PROXY, "10.77.0.2"),
        "client": (Role.CLIENT, "10.77.0.2"),
    }
    upstream = reported["proxy"].upstream
    assert upstream is not None
    assert upstream.address == "fd77:0:0:1::2"
    assert reported["client"].upstream is None


def test_a_third_party_server_behind_a_proxy_listens_where_the_proxy_connects(tmp_path: Path) -> None:
    behind = scenario()
    foreign = behind.implementation.model_copy(update={"server": "nginx"})
    server, *_ = request(behind.model_copy(update={"implementation": foreign}), tmp_path).endpoints
    assert server.command[0].endswith("nginx")
    [configuration] = server.directory.glob("*.conf")
    assert f"listen [fd77:0:0:1::2]:{registered_port('http1')}" in configuration.read_text()


def registered_port(name: str) -> int:
    protocol = registered().protocol(name)
    assert protocol is not None
    return protocol.default_port
