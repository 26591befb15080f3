"""What keeps one scenario from being run although each part of it is right."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from wirelab.errors import WirelabError
from wirelab.experiment.duration.exchange import connections_to_server, exchange_parts
from wirelab.experiment.file.model import ExperimentFile
from wirelab.experiment.file.positions import Path
from wirelab.experiment.file.problems import shown
from wirelab.experiment.file.quantities import MOST_16
from wirelab.experiment.file.request import COAP_FIELD
from wirelab.experiment.file.source import Source
from wirelab.experiment.file.topology import PROXY, SERVER
from wirelab.experiment.grid.outages import check_outages
from wirelab.experiment.grid.scenario import Scenario
from wirelab.schema import (
    Closed,
    IdleStart,
    NatSpec,
    Persistent,
    ProtocolDescription,
    PubSubWorkload,
    RequestResponse,
    RequestWorkload,
    Role,
    Telemetry,
    is_netem,
)
from wirelab.schema.waits import lacks_setting, lacks_wait

COAP_CONTENT = 205
"""CoAP's status 2.05 (RFC 7252, section 5.9.1.5), as tables have it."""
COAP_METHODS = ("GET", "POST", "PUT", "DELETE", "FETCH", "PATCH", "iPATCH")
"""RFC 7252, section 12.1.1; RFC 8132, section 6."""
_CACHE = "cache"
"""The setting of a protocol that its proxy alone heeds."""
_WAIT = "workload.wait"


def check_scenario(
    source: Source,
    file: ExperimentFile,
    protocol: ProtocolDescription,
    scenario: Scenario,
    origin: Callable[[str, Path], Path],
) -> None:
    """Raise the first of them; `origin(path, otherwise)` is where the level of a factor was written, or the latter."""
    if scenario.workload.kind not in protocol.workloads:
        where = source.where(origin("workload.kind", ("workload", "kind")))
        does = ", ".join(protocol.workloads)
        raise WirelabError(f"{protocol.name} does not do {scenario.workload.kind}", where, hint=f"it does: {does}")
    if file.capture and is_netem(scenario.link):
        what = "netem does not report when a packet leaves, or that it was dropped, so that no capture can be made"
        raise WirelabError(what, source.where(("capture",)), hint='capture = false, or backend = "wirelab"')
    if file.offloads:
        _check_offloads(source, scenario)
    if file.clock == "virtual" and scenario.cpu:
        what = "under the virtual clock computing takes no time, and a limit of CPU time would change nothing"
        limited = next(iter(scenario.cpu))
        where = source.where(origin(f"{limited}.cpu", (limited, "cpu")))
        raise WirelabError(what, where, hint='remove it, or clock = "live"')
    _check_idle_start(source, file, scenario, origin)
    check_outages(source, scenario, origin)
    _check_wait(source, file, protocol, scenario, origin)
    _check_hosts(source, file, scenario)
    _check_ports(source, protocol, scenario)
    if Role.PROXY in protocol.roles and scenario.settings.get(_CACHE) is True and scenario.origin is None:
        what = f"{protocol.name} does not use a proxy, and the cache is a proxy's (true)"
        raise WirelabError(
            what,
            source.where(_cache_at(file, protocol, origin)),
            hint=f'[endpoints.proxy] protocols = ["{protocol.name}"]',
        )
    _check_request(source, protocol, scenario, origin)
    _check_publish(source, protocol, scenario, origin)
    if protocol.echo and scenario.workload.upload_bytes == 0:
        where = source.where(origin("workload.upload", ("workload", "upload")))
        raise WirelabError(f"{protocol.name} echoes its request, which is empty", where, hint='such as upload = "30 B"')


def _check_request(
    source: Source, protocol: ProtocolDescription, scenario: Scenario, origin: Callable[[str, Path], Path]
) -> None:
    """A request of the user's own takes methods and paths; CoAP has one header."""
    if not isinstance(scenario.workload, RequestResponse) or (request := scenario.workload.request) is None:
        return
    where = source.where(origin("workload.request", ("workload", "request")))
    if protocol.success is None:
        raise WirelabError(f"{protocol.name} has no methods and paths", where, "HTTP and CoAP have them")
    if protocol.success.fetched != COAP_CONTENT:
        return
    if request.method not in COAP_METHODS:
        raise WirelabError(f"{request.method} is no method of CoAP", where, f"it has {', '.join(COAP_METHODS)}")
    path = request.target.split("?")[0]
    if "%" in request.target or "//" in path or path.endswith("/") != (path == "/"):
        what = f"{request.target} has a %, or an empty segment, which a CoAP path is not written with"
        raise WirelabError(what, where, "such as /api/items")
    for name, value in request.fields:
        if name.lower() != COAP_FIELD or not value.isascii() or not value.isdigit() or int(value) > MOST_16:
            what = f"CoAP has no header {name} = {shown(value)}"
            raise WirelabError(what, where, f'{COAP_FIELD} = "50" alone, as a number')


def _check_publish(
    source: Source, protocol: ProtocolDescription, scenario: Scenario, origin: Callable[[str, Path], Path]
) -> None:
    """A message of the user's own takes topics."""
    if not isinstance(scenario.workload, Telemetry) or (message := scenario.workload.publish) is None:
        return
    where = source.where(origin("workload.publish", ("workload", "publish")))
    if protocol.topics is None:
        hint = "MQTT and AMQP have them; of HTTP and CoAP there is workload.request"
        raise WirelabError(f"{protocol.name} has no topics", where, hint)
    wrong = [letter for letter in protocol.topics.without if letter in message.topic]
    if wrong:
        what = f"{shown(message.topic)} is no {protocol.topics.called} of {protocol.name}: it has a {wrong[0]}"
        raise WirelabError(what, where, f"leave out {' and '.join(protocol.topics.without)}")


def _cache_at(file: ExperimentFile, protocol: ProtocolDescription, origin: Callable[[str, Path], Path]) -> Path:
    """Where it was said, the strongest place first."""
    for path in (f"protocols.{protocol.name}.{_CACHE}", f"protocol.{_CACHE}"):
        if place := origin(path, ()):
            return place
    return (
        ("protocols", protocol.name, _CACHE)
        if _CACHE in file.protocols.get(protocol.name, {})
        else ("protocol", _CACHE)
    )


def _check_offloads(source: Source, scenario: Scenario) -> None:
    """What a link cannot do to packets that stand for several, and whose checksums are not there yet."""
    for link, facts in zip(scenario.links, scenario.facts, strict=True):
        ways = ((link.uplink, facts.uplink.stages), (link.downlink, facts.downlink.stages))
        known = [each for specs, stages in ways for each in zip(specs, stages, strict=True)]
        parts = {"netem": is_netem(link), "mtu": link.mtu is not None, "medium": link.medium is not None}
        parts["nat"] = link.nat is not None
        of_one = [name for name, there in parts.items() if there]
        of_one += [spec.kind for spec, stage in known if stage.of_one_packet]
        if of_one:
            what = f"{scenario.link_name} has {of_one[0]}, but with offloads one packet stands for up to 64 KiB"
            raise WirelabError(what, source.where(("offloads",)), hint="offloads = false, or a link without that")


def _check_idle_start(
    source: Source, file: ExperimentFile, scenario: Scenario, origin: Callable[[str, Path], Path]
) -> None:
    """Only one link rests, one device asks for it, and nobody else may send meanwhile."""
    workload = scenario.workload
    if not isinstance(workload, RequestWorkload) or not isinstance(workload.arrival, IdleStart):
        return
    reasons = (
        (
            file.clock == "virtual",
            "idle-start is for the live clock: under the virtual clock waiting takes no time",
            'arrival = "periodic"',
        ),
        (workload.clients > 1, f"an idle start is of one device (clients = {workload.clients})", "clients = 1"),
        (
            workload.concurrency > 1,
            f"an idle start is of one message at a time (concurrency = {workload.concurrency})",
            "concurrency = 1",
        ),
        (is_netem(scenario.link), "netem has no clock that could be put forward", 'backend = "wirelab"'),
        (bool(scenario.traffic), "background traffic never rests", 'leave it out, or wait with arrival = "periodic"'),
        (
            len(scenario.links) > 1,
            f"an idle start puts the clock of one link forward, and there are {len(scenario.links)}",
            'arrival = "periodic"',
        ),
    )
    for holds, what, hint in reasons:
        if holds:
            raise WirelabError(what, source.where(origin("workload.arrival", ("workload", "arrival"))), hint)


def _check_wait(
    source: Source,
    file: ExperimentFile,
    protocol: ProtocolDescription,
    scenario: Scenario,
    origin: Callable[[str, Path], Path],
) -> None:
    """Whether subscribers can wait as they are to. Where ways of waiting are compared, a protocol that has only some of
    them is left out of the others.
    """
    compares = not {"workload", _WAIT}.isdisjoint(file.varied)
    found = None if compares else lacks_wait(protocol, scenario.workload)
    found = found or lacks_setting(protocol, scenario.workload, scenario.settings)
    if found is not None:
        where = source.where(origin(_WAIT, ("workload", "wait")))
        raise WirelabError(found.what, where, hint=found.hint)


def _check_ports(source: Source, protocol: ProtocolDescription, scenario: Scenario) -> None:
    """Whether a NAT has room for the mappings that its hosts have at once."""
    for link in scenario.links:
        if link.nat is None:
            continue
        needed = _mappings(link.nat, protocol, scenario)
        first, last = link.nat.ports
        room = {"table": link.nat.table_size}
        if not link.nat.keep_port:
            room["ports"] = last - first + 1
        key = min(room, key=lambda each: room[each])
        if room[key] < needed:
            what = f"the NAT of {scenario.link_name} has room for {room[key]} mappings, and the clients have {needed}"
            raise WirelabError(what, source.where(("link", "nat", key)), hint=f"larger {key}, or a shorter time-out")


def _mappings(nat: NatSpec, protocol: ProtocolDescription, scenario: Scenario) -> int:
    """How many its clients have at once: of connections that are closed, until they are idle for long enough."""
    workload = scenario.workload
    clients: int = getattr(workload, "clients", getattr(workload, "subscribers", 1))
    at_once = connections_to_server(scenario, protocol.timing)
    policy = getattr(workload, "connection", None)
    if isinstance(policy, Persistent):
        return clients * policy.connections
    if isinstance(workload, RequestWorkload):
        idle_ns = nat.tcp_transitory_timeout_ns if protocol.transport == "tcp" else nat.udp_timeout_ns
        # In a closed loop one begins no sooner than a round trip after the one before.
        rtt_ns = max(1, exchange_parts(scenario, protocol).rtt_ns)
        arrival = workload.arrival
        closed = ceil(idle_ns / rtt_ns) if isinstance(arrival, Closed) else arrival.most_within(idle_ns)
        at_once += min(closed, workload.exchanges)
    return clients * at_once


def _check_hosts(source: Source, file: ExperimentFile, scenario: Scenario) -> None:
    """What only a link of two hosts can do."""
    where = source.where(("topology",))
    for each in scenario.topology:
        link = each.link or scenario.link
        if is_netem(link) and len(each.near) + len(each.far) > 2:
            raise WirelabError(f"netem runs links between two hosts, and {each.name} has more", where)
        if link.radio is not None and len(each.near) > 1:
            raise WirelabError(f"a radio's sleep is that of one host, and {each.name}.near has several", where)
    if not scenario.topology:
        return
    if scenario.origin is not None and isinstance(scenario.workload, PubSubWorkload):
        what = f"a proxy observes nothing, so that {scenario.protocol} does no {scenario.workload.kind} through it"
        raise WirelabError(what, source.where(("endpoints", PROXY, "protocols")))
    here = SERVER in scenario.topology[0].far
    if scenario.origin is None and not here:
        what = f"{scenario.protocol} does not use a proxy, and the server is not on the client's link"
        hint = f'[endpoints.proxy] protocols = ["{scenario.protocol}"]'
        raise WirelabError(what, where, hint)
    if file.capture and not here:
        what = "captures are made on the client's link, and the server is not there"
        raise WirelabError(what, source.where(("capture",)), hint="capture = false")
