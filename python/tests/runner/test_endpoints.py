"""Trials as the host is asked for them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runner.fakes import addresses, make_plan, result
from wirelab.runner.barriers import Barrier
from wirelab.runner.endpoints import SUBSCRIBED_TIMEOUT_NS, Endpoints, trial_timeout_ns
from wirelab.runner.implementations import load
from wirelab.runner.pages import make_pages
from wirelab.schema import (
    AddressFamily,
    Certificates,
    EndpointParameters,
    EventReady,
    Fixed,
    IdleStart,
    PageIdentity,
    PageLoads,
    Periodic,
    Poisson,
    PubSub,
    RequestResponse,
    RestartPlan,
    Retry,
    Role,
    TcpConnectReady,
    TrialRequest,
    registered,
)
from wirelab.schema.campaign import EntryStatus
from wirelab.schema.plan import Implementations, Scenario
from wirelab.site.synthetic import images

ADDRESSES = addresses("10.0.0.2", "fd00::2")


def scenario(
    protocol: str = "http1", client: str = "builtin", server: str = "builtin", **settings: bool | str
) -> Scenario:
    described = registered().protocol(protocol)
    assert described is not None
    defaults = {setting.name: setting.default for setting in described.settings}
    [one] = make_plan(1, 1).scenarios
    return one.model_copy(
        update={
            "protocol": protocol,
            "settings": defaults | settings,
            "implementation": Implementations(client=client, server=server),
        }
    )


@pytest.fixture
def endpoints(tmp_path: Path) -> Endpoints:
    pem = Certificates(authority=tmp_path / "a.pem", chain=tmp_path / "c.pem", key=tmp_path / "k.pem")
    return Endpoints(Path("/agent"), load(None), {"ecdsa-p256": pem}, ADDRESSES)


def request(endpoints: Endpoints, of: Scenario, folder: Path) -> TrialRequest:
    [block] = make_plan(1, 1).blocks
    return endpoints.request(of, block.trials[0], 3, folder)


def over_ipv6(of: Scenario) -> Scenario:
    return of.model_copy(update={"link": of.link.model_copy(update={"family": AddressFamily.IPV6})})


@pytest.mark.parametrize(("of", "address"), [(scenario(), "10.0.0.2"), (over_ipv6(scenario()), "fd00::2")])
def test_endpoints_talk_by_the_addresses_of_their_links_family(
    endpoints: Endpoints, tmp_path: Path, of: Scenario, address: str
) -> None:
    request(endpoints, of, tmp_path / "t")
    for role in ("server", "client"):
        text = (tmp_path / "t" / role / "parameters.json").read_text()
        assert EndpointParameters.model_validate_json(text).server.address == address


def test_the_server_alone_is_restarted_and_keeps_no_record_then(endpoints: Endpoints, tmp_path: Path) -> None:
    plan = RestartPlan(after_ns=60 * 10**9, down_ns=10**9)
    made = request(endpoints, scenario().model_copy(update={"restart": plan}), tmp_path / "t")
    assert [each.restart for each in made.endpoints] == [plan, None]
    assert made.confirm is not None
    assert made.confirm.received is None
    written = json.loads((tmp_path / "t" / "request.json").read_text())
    assert written["endpoints"][0]["restart"] == {"after_ns": 60 * 10**9, "down_ns": 10**9}
    assert "restart" not in written["endpoints"][1]


def test_third_party_programs_get_an_ipv6_address_in_brackets(endpoints: Endpoints, tmp_path: Path) -> None:
    request(endpoints, over_ipv6(scenario(client="curl", server="nginx")), tmp_path / "t")
    assert "listen [fd00::2]:8080;" in (tmp_path / "t" / "server" / "nginx.conf").read_text()
    template = json.loads((tmp_path / "t" / "client" / "per-exchange.json").read_text())
    assert "server.test:8080:[fd00::2]" in template["command"]


def test_a_scenario_of_an_address_family_that_is_missing_cannot_run(endpoints: Endpoints) -> None:
    without = replace(endpoints, addresses=addresses("10.0.0.2"))
    barrier = without.barrier(over_ipv6(scenario()))
    assert barrier is not None
    assert barrier.status is EntryStatus.FAILED
    assert "no ipv6 addresses" in barrier.error
    assert without.barrier(scenario()) is None
    assert endpoints.barrier(over_ipv6(scenario())) is None


def test_the_server_starts_first_and_the_trial_ends_with_the_client(endpoints: Endpoints, tmp_path: Path) -> None:
    made = request(endpoints, scenario(), tmp_path / "t")
    assert [(e.name, e.host, e.ends_trial) for e in made.endpoints] == [
        ("server", "server", False),
        ("client", "client", True),
    ]
    assert isinstance(made.endpoints[0].ready, EventReady)
    assert made.endpoints[1].ready is None
    assert made.lane == 3
    assert TrialRequest.model_validate_json((tmp_path / "t" / "request.json").read_text()) == made


def test_both_ends_get_the_same_parameters_except_role_and_folder(endpoints: Endpoints, tmp_path: Path) -> None:
    made = request(endpoints, scenario("h2"), tmp_path / "t")
    reported = [EndpointParameters.model_validate_json(Path(e.command[-1]).read_text()) for e in made.endpoints]
    assert [each.output for each in reported] == [tmp_path / "t" / "server", tmp_path / "t" / "client"]
    shared = [each.model_dump(exclude={"role", "output"}) for each in reported]
    assert shared[0] == shared[1]
    assert reported[0].certificates is not None
    # Clients of an older build know no such key.
    assert "device" not in json.loads(Path(made.endpoints[0].command[-1]).read_text())["workload"]


def test_a_protocol_without_tls_gets_no_certificates(endpoints: Endpoints, tmp_path: Path) -> None:
    request(endpoints, scenario(), tmp_path / "t")
    assert json.loads((tmp_path / "t" / "client" / "parameters.json").read_text())["certificates"] is None


def test_a_third_party_server_gets_its_files_its_payload_and_a_probe(endpoints: Endpoints, tmp_path: Path) -> None:
    made = request(endpoints, scenario("https1", server="nginx"), tmp_path / "t")
    folder = tmp_path / "t" / "server"
    assert made.endpoints[0].command[1:] == ("-p", f"{folder}/", "-c", f"{folder}/nginx.conf", "-e", "stderr")
    assert made.endpoints[0].command[0].endswith("nginx")
    assert isinstance(made.endpoints[0].ready, TcpConnectReady)
    assert (folder / "www" / "bytes" / "0").read_bytes() == b""
    assert str(tmp_path / "k.pem") in (folder / "nginx.conf").read_text()


def test_a_third_party_client_is_run_by_our_endpoint_for_each_exchange(endpoints: Endpoints, tmp_path: Path) -> None:
    made = request(endpoints, scenario("h2", client="curl"), tmp_path / "t")
    assert made.endpoints[1].command[:2] == ("/agent", "endpoint")
    template = json.loads(Path(made.endpoints[1].command[-1]).read_text())
    assert template["timed_out_exit_codes"] == [28]
    assert template["command"][0].endswith("curl")
    assert "server.test:8443:10.0.0.2" in " ".join(template["command"])


def test_a_trial_captures_nothing_by_default(endpoints: Endpoints, tmp_path: Path) -> None:
    made = request(endpoints, scenario("h3"), tmp_path / "t")
    assert made.capture is None
    assert [endpoint.environment for endpoint in made.endpoints] == [{}, {}]
    assert not list((tmp_path / "t").glob("*/tls-secrets.txt"))


@pytest.mark.parametrize(
    ("played", "names"),
    [
        (("http1", "builtin", "builtin"), {}),
        (("https1", "builtin", "builtin"), {"SSLKEYLOGFILE": "tls-secrets.txt"}),
        (("h2", "curl", "nginx"), {"SSLKEYLOGFILE": "tls-secrets.txt"}),
        (("h3", "builtin", "builtin"), {"SSLKEYLOGFILE": "tls-secrets.txt", "QLOGDIR": "qlog"}),
    ],
)
def test_endpoints_of_a_captured_trial_get_the_paths_of_secrets_and_traces(
    played: tuple[str, str, str], names: dict[str, str], endpoints: Endpoints, tmp_path: Path
) -> None:
    folder = tmp_path / "t"
    made = request(endpoints, scenario(*played).model_copy(update={"capture": True}), folder)
    assert made.capture is not None
    assert (made.capture.client, made.capture.server) == (folder / "client.pcapng", folder / "server.pcapng")
    assert made.capture.key_logs == (folder / "client" / "tls-secrets.txt", folder / "server" / "tls-secrets.txt")
    for endpoint in made.endpoints:
        own = folder / endpoint.name
        reported = {key: value for key, value in endpoint.environment.items() if key != "PYTHONDONTWRITEBYTECODE"}
        assert reported == {variable: str(own / name) for variable, name in names.items()}
        assert (own / "qlog").is_dir() == ("QLOGDIR" in names)
        assert (own / "tls-secrets.txt").exists() == ("SSLKEYLOGFILE" in names)
        assert not names or (own / "tls-secrets.txt").stat().st_mode & 0o777 == 0o600


def in_turn(of: Scenario) -> Scenario:
    assert isinstance(of.workload, RequestResponse)
    workload = of.workload.model_copy(update={"upload_bytes": 0, "download_bytes": (7000, 6)})
    return of.model_copy(update={"workload": workload})


def test_a_third_party_server_has_a_file_of_each_size_and_each_client_run_gets_its_size(
    endpoints: Endpoints, tmp_path: Path
) -> None:
    request(endpoints, in_turn(scenario("http1", server="nginx")), tmp_path / "nginx")
    served = (tmp_path / "nginx" / "server" / "www" / "bytes").iterdir()
    assert {file.name: file.stat().st_size for file in served} == {"7000": 7000, "6": 6}
    made = request(endpoints, in_turn(scenario("coap", client="libcoap")), tmp_path / "libcoap")
    template = json.loads(Path(made.endpoints[1].command[-1]).read_text())
    assert template["command"][-1].endswith("/bytes/{download_bytes}")


def test_a_program_that_does_not_declare_sizes_in_turn_does_not_support_them(endpoints: Endpoints) -> None:
    programs = dict(endpoints.implementations)
    client = programs["curl"].roles.client
    assert client is not None
    roles = programs["curl"].roles.model_copy(update={"client": client.model_copy(update={"downloads_in_turn": False})})
    programs["curl"] = programs["curl"].model_copy(update={"roles": roles})
    mine = Endpoints(endpoints.agent, programs, endpoints.certificates, endpoints.addresses)
    assert mine.barrier(in_turn(scenario(client="curl"))) == Barrier(
        EntryStatus.UNSUPPORTED, "curl does not do downloads of several sizes in turn"
    )
    assert endpoints.barrier(in_turn(scenario(client="curl"))) is None


def test_unsupported_and_failed_scenarios_are_distinguished(
    endpoints: Endpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert endpoints.barrier(scenario()) is None
    unsupported = endpoints.barrier(scenario("h3", client="curl"))
    assert unsupported is not None
    assert unsupported.status is EntryStatus.UNSUPPORTED
    assert endpoints.barrier(scenario(client="nginx")) == Barrier(EntryStatus.UNSUPPORTED, "nginx has no role client")
    assert endpoints.barrier(scenario(client="mine")) == Barrier(
        EntryStatus.FAILED, "no implementation 'mine' in implementations.toml"
    )
    monkeypatch.setattr("wirelab.runner.implementations.find_program", lambda _: None)
    missing = endpoints.barrier(scenario(server="nginx"))
    assert missing == Barrier(EntryStatus.FAILED, "nginx is not installed; apt install nginx-light")


def test_a_cpu_limit_is_set_if_the_machine_can_and_unsupported_otherwise(endpoints: Endpoints, tmp_path: Path) -> None:
    slow = scenario().model_copy(update={"cpu": {"client": 0.1}})
    able = replace(endpoints, cpu_quota="cgroup v1")
    assert able.barrier(slow) is None
    assert request(able, slow, tmp_path / "t").cpu_shares == {"client": 0.1}
    barrier = replace(endpoints, cpu_quota="none: writing +cpu to x: Permission denied").barrier(slow)
    assert barrier is not None
    assert barrier.status is EntryStatus.UNSUPPORTED
    assert barrier.error.startswith("this machine cannot limit CPU time (writing +cpu to x: Permission denied)")
    assert endpoints.barrier(scenario()) is None


def test_a_trials_timeout_allows_every_exchange_to_time_out() -> None:
    workload = make_plan(1, 1).scenarios[0].workload
    twelve = workload.model_copy(update={"exchanges": 12, "concurrency": 5, "timeout_ns": 10**9})
    assert trial_timeout_ns(twelve) == (3 + 30) * 10**9
    open_loop = twelve.model_copy(update={"arrival": Poisson(rate_hz=2.0)})
    # Twice the mean of all gaps, and one of 30 times the mean.
    assert trial_timeout_ns(open_loop) == (3 + 12 + 15 + 30) * 10**9
    day = twelve.model_copy(update={"exchanges": 144, "arrival": Periodic(interval_ns=600 * 10**9)})
    assert trial_timeout_ns(day) == (29 + 2 * 86_400 + 30) * 10**9
    retry = Retry(first_ns=1, factor_percent=100, longest_ns=1, jitter_percent=0, keep_ns=86_400 * 10**9, backlog=100)
    kept = day.model_copy(update={"concurrency": 1, "retry": retry})
    assert trial_timeout_ns(kept) == (144 + 1 + 2 * 86_400 + 30) * 10**9
    idle = twelve.model_copy(update={"exchanges": 144, "arrival": IdleStart(interval_ns=600 * 10**9)})
    assert trial_timeout_ns(idle) == (29 + 144 * 70 + 30) * 10**9


def test_a_link_rests_if_the_arrival_is_an_idle_start(endpoints: Endpoints, tmp_path: Path) -> None:
    asked = request(endpoints, scenario(), tmp_path / "t")
    assert "rests" not in json.loads(asked.model_dump_json())
    idle = scenario().workload.model_copy(update={"arrival": IdleStart(interval_ns=600 * 10**9)})
    assert request(endpoints, scenario().model_copy(update={"workload": idle}), tmp_path / "u").rests


def notifying(of: Scenario) -> Scenario:
    workload = PubSub(message_bytes=30, messages=100, arrival=Fixed(rate_hz=10), timeout_ns=10**9)
    return of.model_copy(update={"workload": workload})


def test_a_subscribing_client_says_when_it_is_ready(endpoints: Endpoints, tmp_path: Path) -> None:
    server, client = request(endpoints, notifying(scenario()), tmp_path / "t").endpoints
    assert isinstance(client.ready, EventReady)
    assert (server.ends_trial, client.ends_trial) == (False, True)
    assert request(endpoints, scenario(), tmp_path / "u").endpoints[1].ready is None


def test_with_a_broker_a_publisher_on_the_servers_host_starts_when_the_client_is_ready(
    endpoints: Endpoints, tmp_path: Path
) -> None:
    known = registered()
    brokered = [each.model_copy(update={"roles": (*each.roles, Role.PUBLISHER)}) for each in known.protocols]
    endpoints = replace(endpoints, known=known.model_copy(update={"protocols": tuple(brokered)}))
    started = request(endpoints, notifying(scenario()), tmp_path / "t").endpoints
    assert [(each.name, each.host, each.ends_trial) for each in started] == [
        ("server", "server", False),
        ("client", "client", True),
        ("publisher", "server", False),
    ]
    text = (tmp_path / "t" / "publisher" / "parameters.json").read_text()
    assert EndpointParameters.model_validate_json(text).role is Role.PUBLISHER
    assert len(request(endpoints, scenario(), tmp_path / "u").endpoints) == 2


def test_a_program_that_does_not_list_pubsub_does_not_support_it(endpoints: Endpoints) -> None:
    for of in (scenario("h2", server="nginx"), scenario("h2", client="nghttp")):
        barrier = endpoints.barrier(notifying(of))
        assert barrier is not None
        assert (barrier.status, barrier.error.endswith("does not do pubsub")) == (EntryStatus.UNSUPPORTED, True)


def test_a_subscribing_third_party_client_says_when_it_is_ready_and_runs_once(
    endpoints: Endpoints, tmp_path: Path
) -> None:
    made = request(endpoints, notifying(scenario("h2", client="curl")), tmp_path / "t")
    [client] = [each for each in made.endpoints if each.name == "client"]
    assert client.ready == EventReady(timeout_ns=SUBSCRIBED_TIMEOUT_NS)
    assert client.command[1].endswith("subscribers.py")
    assert client.command[-1] == "https://server.test:8443/changes"
    assert client.environment["PYTHONDONTWRITEBYTECODE"] == "1", "the scripts lie in the package"


def test_rows_of_a_third_party_subscriber_are_checked_and_those_of_the_agent_are_not(
    endpoints: Endpoints, tmp_path: Path
) -> None:
    (tmp_path / "client").mkdir()
    waits = notifying(scenario("h2", client="curl"))
    assert endpoints.wrong_rows(waits, tmp_path, result("t")) == (
        "the client wrote no rows in client/exchanges.jsonl, and the workload has 100 exchanges"
    )
    assert endpoints.wrong_rows(scenario("h2", client="curl"), tmp_path, result("t")) is None
    assert endpoints.wrong_rows(notifying(scenario("h2")), tmp_path, result("t")) is None


def test_a_third_party_server_gets_the_start_time_of_its_entry(endpoints: Endpoints, tmp_path: Path) -> None:
    nginx, rabbitmq = (
        request(endpoints, scenario(protocol, server=server), tmp_path / server).endpoints[0].ready
        for protocol, server in (("h2", "nginx"), ("amqp", "rabbitmq"))
    )
    assert nginx == TcpConnectReady(port=8443, timeout_ns=20 * 10**9)
    assert rabbitmq == EventReady(timeout_ns=180 * 10**9)


def test_a_trial_of_pubsub_lasts_as_long_as_its_messages() -> None:
    short, long = (
        trial_timeout_ns(PubSub(message_bytes=30, messages=messages, arrival=Fixed(rate_hz=1), timeout_ns=10**9))
        for messages in (1, 1001)
    )
    assert long - short == 2 * 1000 * 10**9


PAGE = images(2, 500)
PAGE_LOADS = PageLoads(
    loads=3,
    timeout_ns=10**9,
    page=PageIdentity(
        name="two", sha256=PAGE.site.digest, resources=len(PAGE.site.resources), body_bytes=PAGE.site.body_bytes
    ),
)
OWN = """
[mine]
title = "Mine"
homepage = "https://mine.test"
install = "get it"
version_command = ["true"]
[mine.roles.server]
protocols = ["http1"]
workloads = ["request-response", "page"]
command = ["true", "--port", "{{ port }}", { if = "workload == 'page'", add = ["--root", "{{ site }}"] }]
ready = "tcp-connect"
payload = "www/bytes/{{ download_bytes }}"
files = [{ path = "mine.conf", text = "root {% if workload == 'page' %}{{ site }}{% endif %};" }]
"""


def of_page(endpoints: Endpoints, folder: Path, server: str = "builtin") -> tuple[Endpoints, Scenario]:
    one = scenario(server=server).model_copy(update={"workload": PAGE_LOADS})
    plan = make_plan(1, 1).model_copy(update={"scenarios": (one,)})
    return replace(endpoints, pages=make_pages(folder, plan, {PAGE.site.digest: PAGE})), one


def test_both_ends_get_the_path_of_the_page(endpoints: Endpoints, tmp_path: Path) -> None:
    with_page, one = of_page(endpoints, tmp_path)
    made = request(with_page, one, tmp_path / "t")
    for each in made.endpoints:
        page = EndpointParameters.model_validate_json(Path(each.command[-1]).read_text()).page
        assert page is not None
        assert page.manifest.is_absolute()
        assert (page.folder / "1.png").read_bytes() == PAGE.bodies[1]
    assert made.timeout_ns > 3 * 10**9


def test_no_endpoint_gets_a_page_if_none_is_loaded(endpoints: Endpoints, tmp_path: Path) -> None:
    request(endpoints, scenario(), tmp_path / "t")
    assert "page" not in json.loads((tmp_path / "t" / "client" / "parameters.json").read_text())


def test_a_third_party_server_serves_the_pages_files_and_no_payload(endpoints: Endpoints, tmp_path: Path) -> None:
    (tmp_path / "implementations.toml").write_text(OWN)
    with_page, one = of_page(replace(endpoints, implementations=load(tmp_path)), tmp_path, server="mine")
    made = request(with_page, one, tmp_path / "t")
    site = made.endpoints[0].command[-1]
    assert (Path(site) / "index.html").read_bytes() == PAGE.bodies[0]
    assert (tmp_path / "t" / "server" / "mine.conf").read_text() == f"root {site};"
    assert not (tmp_path / "t" / "server" / "www").exists()
