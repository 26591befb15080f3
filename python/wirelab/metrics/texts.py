"""What the columns of tables mean that neither a metric nor a row of the data plane describes. Knows no value."""

from __future__ import annotations

from wirelab.metrics.link import DIRECTIONS
from wirelab.metrics.resources import ROLES

TABLES = {
    "exchanges.parquet": "A row for each exchange of the trials that are done, scenario after scenario. Some columns "
    "are of one workload: `curl_starttransfer_ns` of requests and telemetry, `copies` of pubsub and stream, "
    "`connections` and pushed bytes of pages. A table has them only if a scenario of the campaign has such a workload.",
    "trials.parquet": "A row for each finished trial, then one for each discarded attempt.",
    "resources.parquet": "A row for each resource of each load, if pages are loaded.",
    "ledger.parquet": "A row for each direction of each captured trial that is done and whose captures lack nothing.",
    "settings.parquet": "A row for each setting of each end of a trial that is done, if anything showed it.",
    "nat.parquet": "A row for each time that a packet missed its mapping, which the NAT had forgotten. Only with a "
    "link that translates addresses.",
    "outages.parquet": "A row for each outage of a link or of the server and each client, in the trials that are done. "
    "Only with an outage (`docs/guide/outages.md`).",
    "energy.parquet": "A row for each trial and state of the radio, one for the processor where its CPU time was "
    "measured on the device, and one for the device asleep. Only with a radio.",
    "packets.parquet": "A row for each packet and each copy of a probed link's log, in `probes/LINK/`.",
}
"""What a row is."""
_WAYS = {"up": "uplink", "down": "downlink"}
_DROPPED = {
    "lost": "by loss that was configured",
    "queue_full": "because a queue was full",
    "aqm": "by CoDel, to keep the queue short",
    "outage": "because there was no link",
    "retries": "after the last retry of the link layer, or without free air",
    "nat": "because no address mapping was left",
}
_LINK = {
    "received": "Packets that the client's link took from the sender, {}.",
    "originated": "Resets that the client's link made itself (NAT), {}.",
    "duplicated": "Copies that the client's link made, {}.",
    "delivered": "Packets that the client's link delivered, {}.",
    "held": "Packets still inside the client's link when the trial ended, {}.",
    "received_bytes": "IP bytes that the client's link took from the sender, {}.",
    **{cause: f"Packets that the client's link dropped {why}, {{}}." for cause, why in _DROPPED.items()},
    "log_packets": "Packets that the link delivered, without copies, by its log, {}.",
    "log_duplicated": "Delivered packets that left twice, by the log, {}.",
    "log_corrupted": "Delivered packets with an inverted bit, by the log, {}.",
    "log_reordered": "Delivered packets that a later one overtook, by the log, {}.",
}
_USED = {
    "memory_samples": "Samples of the {}'s proportional memory.",
    "quota_periods": "Periods with work of the {}'s host. Null without a limit on CPU time.",
    "throttled_periods": "Of these, periods in which the host used up its limit. Null without a limit on CPU time.",
}
COLUMNS = {
    "trial": "Name of the trial, and of its folder.",
    "scenario": "Key of the scenario in `plan.json`.",
    "protocol": "Name of the protocol. A column for each factor and choice follows, named by its path, such as "
    "`link.rtt`; it is null where a scenario does not have it.",
    "block": "Number of the block, from 0.",
    "replicate": "Number of the trial among those of its scenario, from 0.",
    "lane": "Number of the job that ran the trial, from 0.",
    "part": "Part of a merged campaign that ran the trial, from 1. Only campaigns merged in real time have it.",
    "disturbed": "Whether a packet was late during the exchange by more than 0.5 ms and a tenth of the links' round "
    "trip: the delay is then not the protocol's alone. Null if that is not known.",
    "download_bytes": "Size of the answer that the exchange asked for; of several sizes, of the one whose turn it was.",
    "trials.parquet:trial": "Name of the trial; of a discarded attempt `TRIAL.discarded-ATTEMPT`.",
    "trials.parquet:status": "`done`, `failed`, `unsupported`, `timed-out`, `cancelled`, `discarded`; `damaged` if a "
    "record is missing or torn, `unusable` if the link stalled; such trials are left out.",
    "trials.parquet:error": "Why the trial failed or is unusable, or which record is damaged; null if it is done.",
    "excluded": "True of a discarded attempt. It has no exchanges.",
    "exclusion": "Why the attempt was discarded; else null.",
    "completed": "Exchanges that completed.",
    "sent": "Messages that were sent and that nothing answers.",
    "arrived": "Of these, messages whose bytes the link delivered; null without any, or if they were not compared.",
    "failed": "Exchanges that failed.",
    "timed_out": "Exchanges that timed out.",
    "unsupported": "Exchanges that the protocol or program does not do.",
    "not_checked": "Why the client's exchanges were not compared with the packets of the link; null if they were.",
    "not_confirmed": "Exchanges that the client calls completed and the link does not confirm; the trial failed.",
    "uncounted": "Exchanges that a trial which is not done recorded; null if its file is torn.",
    "lateness_upper_ns": "Upper edges of the buckets that hold packets, of the histogram of the timing error.",
    "lateness_packets": "Packets in each of these buckets, both directions.",
    "left_out_of_captures": "Packets that captures lack because the disk was too slow. The link carried them.",
    "replay_packets": "Packets of the trial's logs, replayed through fresh links. Null without a log that can be read.",
    "replay_mismatches": "Of these, packets that the replay delivers or drops differently, or at another time.",
    "duration_ns": "Duration of the trial.",
    "exchanges_ns": "From the first exchange's start to the end of the last one to end.",
    "kernel_drops": "Packets that the kernel dropped before or behind the link. More than 0 makes the trial unusable.",
    "oversized": "Frames longer than the MTU. More than 0 makes the trial unusable.",
    "clock_step": "The real-time clock stepped during the trial, which makes it unusable.",
    **{f"wire_{way}_bytes": f"IP bytes of the client on its link, {words}." for way, words in _WAYS.items()},
    **{f"wire_{way}_packets": f"IP packets of the client on its link, {words}." for way, words in _WAYS.items()},
    **{f"{way}_{name}": text.format(_WAYS[way]) for way in DIRECTIONS for name, text in _LINK.items()},
    **{f"{role}_{name}": text.format(role) for role in ROLES for name, text in _USED.items()},
    "resources.parquet:client": "Which of the trial's clients, from 0.",
    "resources.parquet:exchange": "Index of the load: `index` in `exchanges.parquet`.",
    "kind": "Kind of the resource in the page's manifest; null if the manifest does not have it.",
    "media_type": "Its media type in the manifest; null if the manifest does not have it.",
    "parent": "Index of the resource that names it; null of the document.",
    "blocking": "Whether it blocks the first drawing of the page, by the manifest.",
    "phase_queued_ns": "Time in which the resource waited for a connection, or for its turn on one.",
    "phase_connect_ns": "Time of the TCP handshake. Null if there was none.",
    "phase_handshake_ns": "Time of the TLS or QUIC handshake. Null if there was none.",
    "phase_wait_ns": "From the request, or the promise of a push, to the first byte of the response.",
    "phase_transfer_ns": "From the first byte of the response to the last one.",
    "direction": "`up` or `down`.",
    "exchanges": "Exchanges of the trial.",
    "ledger.parquet:payload": "Bytes of messages in `application`. Null if an exchange was not completed, or something "
    "could not be opened.",
    "ledger.parquet:connections": "Connections that the trial's exchanges opened.",
    "settings.parquet:connections": "Connections whose settings were read.",
    "ledger.parquet:packets": "Packets that reached the link.",
    "ledger.parquet:total": "IP bytes that reached the link. The parts add up to it.",
    "end": "The end that announced the setting: `client` or `server`.",
    "setting": "Name of the setting.",
    "announced_low": "Smallest value that was announced, over the trial's connections, in the setting's own unit.",
    "announced_high": "Largest value that was announced. Null if nothing was said.",
    "effective_low": "Smallest value that was in effect. Null if nothing was said.",
    "effective_high": "Largest value that was in effect. Null if nothing was said.",
    "source": "The end that recorded it: `client` or `server`. A third-party program has none of its own.",
    "settings.parquet:used": "The most that the other end used at the same time, or null.",
    "at_ns": "When the packet reached the link.",
    "treatment": "What the NAT did: `new-end` (another port), `dropped` (without a word) or `reset`.",
    "response": "What the client did: `continued` on the same association, `migrated` its QUIC connection, `resumed` a "
    "session on a new connection, made a `new handshake` or a `new connection`. `timed out`: none of its later "
    "exchanges completed. `another connection`: one that was there before. `nothing sent after`: "
    "none began. `not known`: nothing answers the messages, or the client is a subscriber.",
    "not_completed": "Exchanges of this port that did not complete from then until it was forgotten again.",
    "recovery_ns": "Until the next exchange completed that shows the response. Null without one.",
    "what": "What was away: `link` or `server`. Outages that overlap are one.",
    "outage_start_ns": "When the outage began.",
    "outage_end_ns": "When the outage ended, or the server was ready again. Null if the trial ended before.",
    "met": "Whether a message was under way or due in the outage, or was lost between its end and the recovery.",
    "outages.parquet:recovery_ns": "From the end of the outage to the end of the client's first exchange that "
    "completed after it. Null without one before the next outage that a message met, and if no message met this one.",
    "affected": "Messages that were under way when the outage began, or due until the recovery. Each is of the first "
    "outage that it met.",
    "lost": "Of these, messages that were not completed, or never reached the subscriber.",
    "late": "Messages that completed, or reached the subscriber, more than the time-out after they were due, until the "
    "next outage that a message met.",
    "outages.parquet:attempts": "How often the affected messages were tried. Null if the client does not count it.",
    "part_energy_typical": "Energy of the affected messages with the time behind them and the connections that they "
    "opened, with all constants typical. "
    "Null if it is not known.",
    "part_energy_low": "The same with all constants at their least.",
    "part_energy_high": "The same with all constants at their most.",
    "state": "State of the radio, `processor`, or `device asleep`.",
    "energy.parquet:exchanges": "Completed exchanges that the sums are over, each taken by itself.",
    "days": "Messages that a day's energy is known of, whatever their outcome.",
    "seconds": "Time in the state. Of the processor it is CPU time, during that of the radio.",
    **{
        f"{of}_energy_{bound}": f"Energy of {what}, with all constants {words}."
        for of, what in {
            "radio": "exchanges by themselves, by the radio alone",
            "message": "exchanges by themselves, by radio and processor; null if the processor's is not known",
            "day": "days",
        }.items()
        for bound, words in {"typical": "typical", "low": "at their least", "high": "at their most"}.items()
    },
    "client_port": "Port on the client's side. It says what a probe is for (see `files.md`).",
}
"""By the name of a column, or by table and column where tables differ."""
