"""Runs probes over a link: one trial in which both ends send what a plan says. Does not judge the results."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from wirelab.clock.host import AgentHost, Host, HostGoneError, RefusedError
from wirelab.errors import RunError
from wirelab.launcher import launched
from wirelab.plan import stable_hash
from wirelab.runner import cpus
from wirelab.runner.probe_plan import SERVER_PORT, plan_probes, probes_ns
from wirelab.runner.topology import lane_links
from wirelab.schema import (
    EndpointProcess,
    HostFacts,
    LinkFacts,
    LinkSpec,
    OpenLanes,
    TrialRequest,
    TrialResult,
    TrialStatus,
    UdpBoundReady,
    is_netem,
    link_key,
)
from wirelab.schema.campaign import PACKET_LOG, PROBE_PLAN, PROBES, REQUEST, RESULT
from wirelab.schema.plan import Plan
from wirelab.schema.probe import ProbePlan

MTU = 1500
READY_NS = 20 * 10**9
GRACE_NS = 30 * 10**9
AHEAD_NS = 700 * 10**6
"""How long the two processes have to start before the plan begins."""
HEADER_BYTES = 64
CAMPAIGN_NS = 2 * 10**9
"""The probing time of each distinct link of a campaign."""
_POLL_S = 0.5


Tell = Callable[[ProbePlan, int], None]
"""Receives the progress of a plan: nanoseconds since its start, negative before."""


@contextmanager
def probed_alone(  # noqa: PLR0913, PLR0917 (what it runs on, and what it runs)
    agent: Path, keep: Path | None, link: LinkSpec, known: LinkFacts, seed: int | None, time_ns: int, tell: Tell
) -> Iterator[tuple[Path, HostFacts]]:
    """Probe a link in a lane of its own. Gives the folder of the records, and the machine.

    Without `keep` the folder is the host's: it is gone afterwards, and also if this process is killed.
    """
    scratch = Path(tempfile.gettempdir()) / f"wirelab-calibrate-{secrets.token_hex(8)}"
    folder, log = (scratch, None) if keep is None else (keep.resolve(), keep.resolve() / "host.log")
    host = AgentHost(agent, log, scratch if keep is None else None)
    try:
        facts = host.open(OpenLanes(lanes=1, mtu=MTU, netem=is_netem(link)))
        with cpus.away_from(facts.link_cpu):
            probe(host, agent, folder, link, known, seed, time_ns, tell)
        yield folder, facts
    finally:
        host.close()
        # A host that was killed has left it.
        shutil.rmtree(scratch, ignore_errors=True)


def probe_campaign(host: Host, agent: Path, plan: Plan, folder: Path, say: Callable[[str], None]) -> None:
    """Probe each distinct link of a campaign before its first block, one after the other in a lane of a host that runs
    nothing else. Links that an earlier run probed are left alone, and what cannot be probed is said and not measured.
    """
    for key, link in distinct_links(plan).items():
        place = folder / PROBES / key
        if (place / RESULT).exists():
            continue
        if place.exists():
            shutil.rmtree(place)
        place.mkdir(parents=True)
        try:
            seed = stable_hash(plan.seed, "probes", key)
            probe(host, agent, place, link, plan.link_facts[key], seed, CAMPAIGN_NS, peer=_peer(plan))
        except HostGoneError:
            raise
        except RunError as error:
            say(f"link {key}: {error.what}")


def campaign_probes_ns(plan: Plan) -> int:
    """About how long that takes."""
    return sum(probes_ns(link, plan.link_facts[key], CAMPAIGN_NS) for key, link in distinct_links(plan).items())


def distinct_links(plan: Plan) -> dict[str, LinkSpec]:
    """Links of the scenarios, by the names of their folders. All are probed between the ends of the client's link."""
    links: dict[str, LinkSpec] = {}
    for scenario in plan.scenarios:
        for link in scenario.links:
            links.setdefault(link_key(link), link)
    return links


def probe(  # noqa: PLR0913, PLR0917 (what it runs on, and what it runs)
    host: Host, agent: Path, folder: Path, link: LinkSpec, known: LinkFacts, seed: int | None, time_ns: int,
    tell: Tell = lambda _plan, _at: None, peer: str = "server",
) -> TrialResult:  # fmt: skip
    """Probe a link in lane 0 of a host that runs nothing else, as the lane's first, between the client and `peer`.

    The seed is the probes' own, and no trial's. Raises `RunError` if the probes could not be sent.
    """
    seed = secrets.randbits(63) if seed is None else seed
    plan = plan_probes(link, known, time_ns)
    started, timeout_ns = start_probes(host, agent, folder, link, seed, plan, peer=peer)
    deadline = time.monotonic() + (timeout_ns + GRACE_NS) / 1e9
    while (over := host.wait(_POLL_S)) is None:
        tell(started, host.clock_ns() - started.start_ns)
        if time.monotonic() > deadline:
            late_s = (timeout_ns + GRACE_NS - started.duration_ns) / 1e9
            host.cancel(folder.name)
            host.wait(GRACE_NS / 1e9)
            raise RunError(f"the probes were not over {late_s:.0f} s after their time", hint=launched("doctor"))
    if isinstance(over, RefusedError):
        raise RunError(over.message)
    if over.status is not TrialStatus.DONE:
        raise RunError(f"probes {over.status.value}: {over.error or 'no reason given'}")
    (folder / RESULT).write_text(over.model_dump_json(), encoding="utf-8")
    return over


def start_probes(  # noqa: PLR0913, PLR0917
    host: Host,
    agent: Path,
    folder: Path,
    link: LinkSpec,
    seed: int,
    plan: ProbePlan,
    lane: int = 0,
    peer: str = "server",
) -> tuple[ProbePlan, int]:
    """Start what a plan says in a free lane; the host's `wait` has the result. Gives the plan with its start, and how
    many nanoseconds the host lets it take.
    """
    request = _request(agent, folder, link, seed, plan, lane, peer)
    started = plan.model_copy(update={"start_ns": host.clock_ns() + AHEAD_NS})
    (folder / PROBE_PLAN).write_text(started.model_dump_json(), encoding="utf-8")
    (folder / REQUEST).write_text(request.model_dump_json(indent=1, exclude_none=True), encoding="utf-8")
    host.start(request)
    return started, request.timeout_ns


def _that_keeps_ports(link: LinkSpec) -> LinkSpec:
    """A server sends probes to a client's own port."""
    if link.nat is None:
        return link
    return link.model_copy(update={"nat": link.nat.model_copy(update={"keep_port": True})})


def _request(  # noqa: PLR0913, PLR0917
    agent: Path, folder: Path, link: LinkSpec, seed: int, plan: ProbePlan, lane: int, peer: str
) -> TrialRequest:
    ready = UdpBoundReady(port=SERVER_PORT, timeout_ns=READY_NS)
    return TrialRequest(
        trial=folder.name,
        lane=lane,
        link=_that_keeps_ports(link),
        link_seed=seed,
        packet_log=folder / PACKET_LOG,
        header_bytes=HEADER_BYTES,
        congestion_control="reno",
        endpoints=(_end(agent, folder, "server", peer, ready), _end(agent, folder, "client", "client", None)),
        timeout_ns=plan.duration_ns + GRACE_NS,
    )


def _peer(plan: Plan) -> str:
    """The first host on the far side of the lanes' first link."""
    links = lane_links(plan)
    return links[0].far[0] if links else "server"


def _end(agent: Path, folder: Path, name: str, on: str, ready: UdpBoundReady | None) -> EndpointProcess:
    return EndpointProcess(
        name=name,
        host=on,
        command=(str(agent), "probes", "--end", name, "--", str(folder / PROBE_PLAN)),
        directory=folder,
        stdout=folder / f"{name}.txt",
        stderr=folder / f"{name}.err",
        ready=ready,
        ends_trial=True,
    )
