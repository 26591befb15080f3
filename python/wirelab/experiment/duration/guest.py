"""What a trial under the virtual clock takes of this machine: processor time of its guest, and bytes of its records.

Constants were measured with the installed kernel and a release build of the agent (`docs/design/duration.md` has the
commands); they are rough, as expected times are.
"""

from __future__ import annotations

from wirelab.experiment.duration.trial import contacts
from wirelab.schema import Description, PageLoads, Persistent, PubSub, RequestWorkload, Stream
from wirelab.schema.plan import Plan, Scenario
from wirelab.schema.timers import silences

BOOT_NS = 200_000_000
"""Boot, the networks of the trial and its end."""
MESSAGE_NS = 700_000
"""A request and its answer on an open connection."""
OPENED_NS, SECURED_NS = 1_200_000, 6_000_000
"""A new connection without and with a handshake of its security."""
PROBE_NS = 900_000
"""A keep-alive and its answer."""
IDLE_HOUR_NS = 1_500_000
"""An hour in which nothing happens: the kernel's own timers."""

TRIAL_BYTES = 30_000
MESSAGE_BYTES, OPENED_BYTES, SECURED_BYTES, PROBE_BYTES = 360, 750, 1_750, 300
"""Of packet logs and of rows."""

TRANSFER_NS, TRANSFER_BYTES = 60_000, 180
"""Of a packet of a body, with its acknowledgement."""
BACKGROUND_NS, BACKGROUND_BYTES = 150_000, 104
"""Of a packet of background traffic, which many flows send side by side."""
PACKET_BYTES = 1_400
HOUR_NS = 3600 * 10**9


def guest_wall_ns(scenario: Scenario, known: Description) -> int:
    """Processor time of one trial, which is its time on a processor that does nothing else."""
    messages, opened, probes, packets = _counts(scenario, known)
    each_ns = SECURED_NS if _is_secure(scenario, known) else OPENED_NS
    idle_ns = round(IDLE_HOUR_NS * scenario.expected_trial_ns / HOUR_NS)
    background_ns = _background(scenario) * BACKGROUND_NS
    own_ns = messages * MESSAGE_NS + opened * each_ns + probes * PROBE_NS + packets * TRANSFER_NS
    return BOOT_NS + own_ns + background_ns + idle_ns


def record_bytes(scenario: Scenario, known: Description) -> int:
    """What one trial leaves on the disk."""
    return own_bytes(scenario, known) + _background(scenario) * BACKGROUND_BYTES


def own_bytes(scenario: Scenario, known: Description) -> int:
    """The same without background traffic, whose packets are only counted when a dataset is made."""
    messages, opened, probes, packets = _counts(scenario, known)
    each = SECURED_BYTES if _is_secure(scenario, known) else OPENED_BYTES
    carried = messages * MESSAGE_BYTES + opened * each + probes * PROBE_BYTES + packets * TRANSFER_BYTES
    return TRIAL_BYTES + carried


def guests_wall_ns(plan: Plan, jobs: int) -> int:
    """All trials of a plan, with so many guests at a time."""
    known = plan.known
    each = [guest_wall_ns(scenario, known) for scenario in plan.scenarios]
    return len(plan.blocks) * max(sum(each) // max(jobs, 1), max(each, default=0) // max(len(plan.blocks), 1))


def records_bytes(plan: Plan) -> int:
    """All trials of a plan."""
    return len(plan.blocks) * sum(record_bytes(scenario, plan.known) for scenario in plan.scenarios)


def _background(scenario: Scenario) -> int:
    """Packets of background traffic in a trial."""
    return round(scenario.background_packets_per_s * scenario.expected_trial_ns / 1e9)


def _counts(scenario: Scenario, known: Description) -> tuple[int, int, int, int]:
    """Messages, opened connections, keep-alives, and packets of bodies beyond the first of each message."""
    workload = scenario.workload
    sizes = workload.downloads
    body_bytes = workload.upload_bytes + sum(sizes) // len(sizes)
    messages = workload.rows * (workload.page.resources if isinstance(workload, PageLoads) else 1)
    packets = workload.rows * (body_bytes // PACKET_BYTES)
    if isinstance(workload, RequestWorkload) and not isinstance(workload.connection, Persistent):
        return messages, workload.rows, 0, packets
    clients = workload.subscribers if isinstance(workload, PubSub | Stream) else getattr(workload, "clients", 1)
    contacts_opened, requests = contacts(workload)
    return messages + requests, clients + contacts_opened, _probes(scenario, known), packets


def _probes(scenario: Scenario, known: Description) -> int:
    """Keep-alives in the gaps between messages."""
    protocol, gap_ns = known.protocol(scenario.protocol), scenario.workload.gap_ns
    if protocol is None or gap_ns is None:
        return 0
    lengths = [each.length_ns for each in silences(protocol, scenario.settings) if each.kind in {"probes", "asks"}]
    return scenario.workload.rows * int(gap_ns // min(lengths)) if lengths else 0


def _is_secure(scenario: Scenario, known: Description) -> bool:
    protocol = known.protocol(scenario.protocol)
    return protocol is not None and protocol.secure
