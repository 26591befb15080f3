"""A trial as the host is asked for it: its folder, parameter files, and the processes of its endpoints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wirelab.experiment.library import BUILTIN
from wirelab.experiment.programs.implementations import (
    ClientEntry,
    Implementation,
    RoleEntry,
    ServerEntry,
)
from wirelab.experiment.programs.texts import PER_EXCHANGE, FilledLater
from wirelab.launcher import launched
from wirelab.runner.background import background, start_timeout_ns
from wirelab.runner.barriers import Barrier, program_barrier, settings_for, spoken_by
from wirelab.runner.implementations import find_program
from wirelab.runner.pages import MadePage
from wirelab.runner.resource_rows import wrong_resources
from wirelab.runner.rows import wrong_rows
from wirelab.runner.topology import LaneAddresses, families, in_url, other_links
from wirelab.schema import (
    CaptureFiles,
    Certificates,
    Closed,
    ConfirmRequest,
    Description,
    EndpointParameters,
    EndpointProcess,
    EventReady,
    IdleStart,
    PageLoads,
    Poisson,
    ProtocolDescription,
    PubSub,
    PubSubWorkload,
    ReadyCondition,
    Resumed,
    Role,
    ServerAddress,
    Stream,
    TcpConnectReady,
    TrialRequest,
    TrialResult,
    UdpBoundReady,
    WorkloadSpec,
    registered,
)
from wirelab.schema.campaign import PACKET_LOG, QLOG, REQUEST, SECRETS, EntryStatus, capture_name
from wirelab.schema.endpoint import SettingValue
from wirelab.schema.plan import Scenario, Trial
from wirelab.schema.workload import LONGEST_REST_NS, ArrivalSpec, OpenLoop
from wirelab.site.hints import NO_PAGE, page_variables

Variables = Mapping[str, object]
SERVER_NAME = "server.test"
SSLKEYLOGFILE = "SSLKEYLOGFILE"
QLOGDIR = "QLOGDIR"
RECEIVED = "received.json"
"""The instants at which a server of our own had each whole message."""
READY_TIMEOUT_NS = 20 * 10**9
SUBSCRIBED_TIMEOUT_NS = 60 * 10**9
"""Longer than a client takes to say that its subscribers wait, or that it waits for them no longer."""
TRIAL_GRACE_NS = 30 * 10**9
LONGEST_GAP = 30
"""Of a Poisson process, in mean gaps: a longer one comes once in 10^13."""
HEADER_BYTES = 64
"""IPv6 header, TCP header and 4 bytes: enough for ports, flags, sequence numbers and a QUIC packet's type."""


@dataclass(frozen=True)
class Endpoints:
    """The data that all trials of a campaign share."""

    agent: Path
    implementations: Mapping[str, Implementation]
    certificates: Mapping[str, Certificates]
    addresses: LaneAddresses
    known: Description = field(default_factory=registered)
    """Protocols, with the user's own."""
    cpu_quota: str = "none"
    """The mechanism that limits CPU time, or `none: ` and the reason."""
    pages: Mapping[str, MadePage] = field(default_factory=dict)
    """The pages of scenarios, by digest."""

    def barrier(self, scenario: Scenario) -> Barrier | None:
        """What is missing in the namespaces, the machine or the programs; None if the scenario can run."""
        for family in families(scenario):
            if not self.addresses.has(family):
                return Barrier(
                    EntryStatus.FAILED,
                    f"the hosts have no {family} addresses; host.settings.ipv6 of campaign.json says why",
                )
        if scenario.cpu and self.cpu_quota.startswith("none"):
            why = f"this machine cannot limit CPU time ({self.cpu_quota.partition(': ')[2]}); see {launched('doctor')}"
            return Barrier(EntryStatus.UNSUPPORTED, why)
        return program_barrier(scenario, self.implementations, self.known)

    def request(self, scenario: Scenario, trial: Trial, lane: int, folder: Path) -> TrialRequest:
        """Make the trial's folder with its parameter files, and the request that runs it."""
        for role in self._roles(scenario):
            (folder / role.value).mkdir(parents=True)
            traces = self._trace_variables(scenario, folder / role.value)
            if (secrets := traces.get(SSLKEYLOGFILE)) is not None:
                # It is created first, so that its writer cannot make it readable for others.
                Path(secrets).touch(mode=0o600)
            if (qlog := traces.get(QLOGDIR)) is not None:
                Path(qlog).mkdir()
        processes = [self._process_of(role, scenario, trial, folder) for role in self._roles(scenario)]
        processes[0] = processes[0].model_copy(update={"restart": scenario.restart})
        # Once there is somebody to answer, and before anybody asks.
        processes[1:1] = background(self.agent, self.addresses, scenario, trial, folder)
        request = TrialRequest(
            trial=trial.trial,
            lane=lane,
            link=scenario.link,
            link_seed=trial.link_seed,
            packet_log=folder / PACKET_LOG,
            rests=isinstance(getattr(scenario.workload, "arrival", None), IdleStart),
            other_links=other_links(scenario, trial, folder),
            header_bytes=HEADER_BYTES,
            capture=_capture(folder) if scenario.capture else None,
            congestion_control=scenario.congestion_control,
            cpu_shares=scenario.cpu,
            confirm=self._confirm(scenario, folder),
            endpoints=tuple(processes),
            timeout_ns=trial_timeout_ns(scenario.workload) + start_timeout_ns(scenario),
        )
        (folder / REQUEST).write_text(request.model_dump_json(indent=1, exclude_none=True), encoding="utf-8")
        return request

    def wrong_rows(self, scenario: Scenario, folder: Path, result: TrialResult) -> str | None:
        """The error in the rows of a client that performs the whole workload, as subscribers do; None for other
        clients, whose rows the agent writes.
        """
        program = self.implementations.get(scenario.implementation.client)
        if program is None or program.roles.client is None:
            return None
        if not program.roles.client.command and not isinstance(scenario.workload, PubSubWorkload):
            return None
        output = folder / Role.CLIENT.value
        protocol = self.known.protocol(scenario.protocol)
        settings = scenario.settings
        unanswered = None if protocol is None else protocol.unanswered(scenario.workload.kind, settings)
        why = wrong_rows(output, scenario.workload, result.start_ns, result.end_ns, unanswered)
        page = self._page(scenario)
        return why if why is not None or page is None else wrong_resources(output, page.site)

    def _confirm(self, scenario: Scenario, folder: Path) -> ConfirmRequest:
        """Whose exchanges the link is to confirm."""
        ends = scenario.implementation
        program = self.implementations.get(ends.client)
        entry = program.roles.client if program is not None else None
        # A server that is killed keeps no record.
        is_ours = ends.server == BUILTIN and scenario.origin is None and scenario.restart is None
        return ConfirmRequest(
            parameters=folder / Role.CLIENT.value / "parameters.json",
            stamp_tolerance_ns=0 if entry is None else round(entry.stamp_tolerance_ms * 1e6),
            received=folder / Role.SERVER.value / RECEIVED if is_ours else None,
        )

    def _process_of(self, role: Role, scenario: Scenario, trial: Trial, folder: Path) -> EndpointProcess:
        match role:
            case Role.SERVER:
                return self._server(scenario, trial, folder)
            case Role.CLIENT:
                return self._client(scenario, trial, folder)
            case Role.PUBLISHER | Role.PROXY:
                directory = folder / role.value
                self._parameters(scenario, trial, role, directory)
                ready = EventReady(timeout_ns=READY_TIMEOUT_NS) if role is Role.PROXY else None
                return _process(role, directory, self._endpoint_command(directory), ready)

    def _server(self, scenario: Scenario, trial: Trial, folder: Path) -> EndpointProcess:
        directory, role = folder / "server", Role.SERVER
        parameters = self._parameters(scenario, trial, Role.SERVER, directory)
        name = scenario.implementation.server
        if name == BUILTIN:
            command = self._endpoint_command(directory)
            ready = EventReady(timeout_ns=READY_TIMEOUT_NS)
            return _process(Role.SERVER, directory, command, ready, self._trace_variables(scenario, directory))
        program = self.implementations[name]
        entry = program.roles.server
        assert isinstance(entry, ServerEntry), "the barrier lets no other through"
        variables = self._variables(entry, scenario, role, directory)
        for file in entry.files:
            path, text = (program.text(each, variables) for each in (file.path, file.text))
            _write(directory / path, text.encode())
        if entry.payload is not None and self._page(scenario) is None:
            for size in scenario.workload.downloads:
                path = program.text(entry.payload, {**variables, "download_bytes": size})
                _write(directory / path, bytes(size))
        command = program.command([*entry.command, *entry.arguments], variables)
        environment = self._foreign_environment(program, entry, scenario, variables, directory)
        return _process(Role.SERVER, directory, _found(command), _ready(entry, parameters.server.port), environment)

    def _client(self, scenario: Scenario, trial: Trial, folder: Path) -> EndpointProcess:
        directory, role = folder / "client", Role.CLIENT
        self._parameters(scenario, trial, Role.CLIENT, directory)
        name = scenario.implementation.client
        command = self._endpoint_command(directory)
        waits = isinstance(scenario.workload, PubSubWorkload)
        ready = EventReady(timeout_ns=SUBSCRIBED_TIMEOUT_NS) if waits else None
        if name == BUILTIN:
            return _process(Role.CLIENT, directory, command, ready, self._trace_variables(scenario, directory))
        program = self.implementations[name]
        entry = program.roles.client
        assert isinstance(entry, ClientEntry), "the barrier lets no other through"
        variables = self._variables(entry, scenario, role, directory)
        environment = self._foreign_environment(program, entry, scenario, variables, directory)
        whole = entry.whole(scenario.workload)
        if not whole:
            variables |= PER_EXCHANGE
        if len(scenario.workload.downloads) > 1:
            # The agent knows which size is next.
            variables["download_bytes"] = FilledLater("download_bytes")
        template = _found(program.command([*(whole or entry.per_exchange), *entry.arguments], variables))
        if whole:
            return _process(Role.CLIENT, directory, template, ready, environment)
        path = directory / "per-exchange.json"
        content = {"command": template, "timed_out_exit_codes": entry.timed_out_exit_codes}
        path.write_text(json.dumps(content), encoding="utf-8")
        return _process(Role.CLIENT, directory, [*command, "--per-exchange", str(path)], environment=environment)

    def _foreign_environment(
        self, program: Implementation, entry: RoleEntry, scenario: Scenario, variables: Variables, directory: Path
    ) -> dict[str, str]:
        """Its environment variables. Python's compiled files would end up in the package, next to its scripts."""
        own = {key: program.text(text, variables) for key, text in entry.environment.items()}
        return {"PYTHONDONTWRITEBYTECODE": "1"} | self._trace_variables(scenario, directory) | own

    def _parameters(self, scenario: Scenario, trial: Trial, role: Role, directory: Path) -> EndpointParameters:
        (spoken, settings), upstream = spoken_by(scenario, role), None
        if scenario.origin is not None and role is Role.PROXY:
            upstream = self._server_address(scenario.origin.protocol, self.addresses.server(scenario))
        protocol, page = self._protocol(spoken), self._page(scenario)
        parameters = EndpointParameters(
            protocol=spoken,
            role=role,
            server=self._server_address(spoken, self._address(scenario, role)),
            upstream=upstream,
            settings=settings_for(scenario, role),
            workload=scenario.workload,
            page=None if page is None else page.files,
            certificates=self.certificates.get(certificate_kind(settings)) if protocol.secure else None,
            output=directory,
            seed=trial.endpoint_seed,
        )
        text = parameters.model_dump_json(indent=1, exclude={"page"} if page is None else None)
        (directory / "parameters.json").write_text(text, encoding="utf-8")
        return parameters

    def _endpoint_command(self, directory: Path) -> list[str]:
        return [str(self.agent), "endpoint", str(directory / "parameters.json")]

    def _address(self, scenario: Scenario, role: Role) -> str:
        """Where a server listens; where everybody else finds who answers, or a proxy is found."""
        return self.addresses.server(scenario) if role is Role.SERVER else self.addresses.peer(scenario)

    def _variables(self, entry: RoleEntry, scenario: Scenario, role: Role, directory: Path) -> dict[str, object]:
        """The variables of an entry's texts (`docs/contract.md`)."""
        spoken, settings = spoken_by(scenario, role)
        protocol = self._protocol(spoken)
        certificates = self.certificates.get(certificate_kind(settings))
        files = {role: str(path) for role, path in certificates if isinstance(path, Path)} if certificates else {}
        address, page = self._address(scenario, role), self._page(scenario)
        return {
            **entry.variables(protocol.name, settings_for(scenario, role), scenario.workload),
            "address": address,
            "host": in_url(address),
            "port": protocol.default_port,
            "name": SERVER_NAME,
            "directory": str(directory),
            "parameters": str(directory / "parameters.json"),
            "upload_bytes": scenario.workload.upload_bytes,
            "download_bytes": scenario.workload.downloads[0],
            **files,
            **(NO_PAGE if page is None else page_variables(page.site, page.files.folder)),
        }

    def _page(self, scenario: Scenario) -> MadePage | None:
        """The page that it loads, if any."""
        return self.pages[scenario.workload.page.sha256] if isinstance(scenario.workload, PageLoads) else None

    def _server_address(self, protocol: str, address: str) -> ServerAddress:
        return ServerAddress(address=address, port=self._protocol(protocol).default_port, name=SERVER_NAME)

    def _protocol(self, name: str) -> ProtocolDescription:
        protocol = self.known.protocol(name)
        assert protocol is not None, "the plan has only known protocols"
        return protocol

    def _roles(self, scenario: Scenario) -> tuple[Role, ...]:
        """The roles, in the order in which they start."""
        if scenario.origin is not None:
            return (Role.SERVER, Role.PROXY, Role.CLIENT)
        brokered = (
            isinstance(scenario.workload, PubSubWorkload) and Role.PUBLISHER in self._protocol(scenario.protocol).roles
        )
        return (Role.SERVER, Role.CLIENT, Role.PUBLISHER) if brokered else (Role.SERVER, Role.CLIENT)

    def _trace_variables(self, scenario: Scenario, directory: Path) -> dict[str, str]:
        """The environment variables that tell TLS and QUIC libraries where to write secrets and traces."""
        protocol = self._protocol(scenario.protocol)
        if not scenario.capture or not protocol.secure:
            return {}
        traces = {SSLKEYLOGFILE: SECRETS} | ({QLOGDIR: QLOG} if protocol.transport == "udp" else {})
        return {variable: str(directory / name) for variable, name in traces.items()}


def certificate_kind(settings: Mapping[str, SettingValue]) -> str:
    """Key type of the server's certificate that a scenario asks for."""
    return str(settings.get("certificate-key", "ecdsa-p256"))


def trial_timeout_ns(workload: WorkloadSpec) -> int:
    """Longer than the exchanges can take if each times out, so that only a hung endpoint reaches it."""
    if isinstance(workload, PubSub | Stream):
        published_ns = _longest_ns(workload.published, workload.messages)
        return SUBSCRIBED_TIMEOUT_NS + published_ns + workload.timeout_ns + TRIAL_GRACE_NS
    if isinstance(workload, PageLoads):
        return workload.loads * workload.timeout_ns + TRIAL_GRACE_NS
    rounds = -(-workload.exchanges // max(workload.concurrency, 1))
    if isinstance(workload.connection, Resumed):
        # Until there is a session.
        rounds += 3
    if workload.retry is not None:
        # The last message that is kept is given up when its time-out is over, before others are sent.
        rounds += 1
    arrivals_ns = _longest_arrivals_ns(workload.arrival, workload.exchanges)
    phase_ns = workload.device.start_phase_ns if workload.device is not None else 0
    return rounds * workload.timeout_ns + phase_ns + arrivals_ns + TRIAL_GRACE_NS


def _longest_arrivals_ns(arrival: ArrivalSpec, messages: int) -> int:
    match arrival:
        case Closed():
            return 0
        case IdleStart():
            return LONGEST_REST_NS * messages
        case _:
            return _longest_ns(arrival, messages)


def _longest_ns(arrival: OpenLoop, messages: int) -> int:
    """Longer than so many messages take to be due, with the last one's gap and a phase."""
    random_ns = LONGEST_GAP * arrival.gap_ns if isinstance(arrival, Poisson) else 0.0
    return round(2 * arrival.span_ns(messages) + random_ns)


def _capture(folder: Path) -> CaptureFiles:
    ends = (Role.CLIENT.value, Role.SERVER.value)
    client, server = (folder / capture_name(end) for end in ends)
    return CaptureFiles(client=client, server=server, key_logs=tuple(folder / end / SECRETS for end in ends))


def _process(
    role: Role,
    directory: Path,
    command: list[str],
    ready: ReadyCondition | None = None,
    environment: dict[str, str] | None = None,
) -> EndpointProcess:
    return EndpointProcess(
        name=role.value,
        host=(Role.SERVER if role is Role.PUBLISHER else role).value,
        command=tuple(command),
        environment=environment or {},
        directory=directory,
        stdout=directory / "stdout.txt",
        stderr=directory / "stderr.txt",
        ready=ready,
        ends_trial=role is Role.CLIENT,
    )


def _ready(entry: ServerEntry, port: int) -> ReadyCondition:
    timeout_ns = round(entry.ready_timeout_s * 1e9)
    match entry.ready:
        case "tcp-connect":
            return TcpConnectReady(port=port, timeout_ns=timeout_ns)
        case "udp-bound":
            return UdpBoundReady(port=port, timeout_ns=timeout_ns)
        case "event":
            return EventReady(timeout_ns=timeout_ns)


def _found(command: list[str]) -> list[str]:
    return [find_program(command[0]) or command[0], *command[1:]]


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
