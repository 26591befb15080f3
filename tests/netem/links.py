"""The links on which netem and Wirelab's own emulator are compared, and the probes that show what each does.

Each direction has an effect of its own. Probes are sparse for the delay, then many for what befalls packets one by one,
or trains for the rate.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.asked import single_link
from wirelab.runner.probe_plan import SERVER_PORT, SMALL_BYTES
from wirelab.schema import LinkSpec
from wirelab.schema.probe import ProbeFlow, ProbeKind, ProbePlan

MS, SECOND = 10**6, 10**9
ORDER = 'order = ["duplicate", "loss", "corrupt", "delay", "reorder", "rate"]'
"""netem's own."""

LINKS = {
    "loss": f"""{{ delay = "20 ms", {ORDER},
        uplink = {{ loss = "10 %" }}, downlink = {{ loss = "30 %", loss-correlation = "40 %" }} }}""",
    "bursts": f"""{{ delay = "20 ms", {ORDER},
        uplink = {{ gilbert-elliott = {{ p = "1 %", r = "10 %", 1-h = "70 %", 1-k = "0.1 %" }} }},
        downlink = {{ four-state = {{ p13 = "3 %", p31 = "20 %", p32 = "30 %", p23 = "40 %", p14 = "1 %" }} }} }}""",
    "order": f"""{{ {ORDER}, uplink = {{ reorder = {{ probability = "10 %", by = "100 ms" }} }},
        downlink = {{ duplicate = "10 %", delay = "5 ms" }} }}""",
    "jitter": f"""{{ delay = "30 ms", {ORDER},
        downlink = {{ jitter = "normal 3 ms", overtaking = true }} }}""",
    "rate": f"""{{ delay = "10 ms", {ORDER},
        queue = "100 packets", uplink = {{ rate = "500 kbit/s" }}, downlink = {{ rate = "250 kbit/s" }} }}""",
}
"""By the name of what they are about."""
WRONG = f"""{{ delay = "20.1 ms", {ORDER},
    uplink = {{ loss = "15 %" }}, downlink = {{ loss = "12 %" }} }}"""
"""Variants of `loss`: more of it or without its correlation, and 0.1 ms later."""

DELAY_PROBES, DELAY_EVERY = 100, 10 * MS
BURSTS, BURST, BURST_EVERY = 200, 20, 15 * MS
TRAINS, TRAIN, TRAIN_BYTES, TRAIN_EVERY = 20, 8, 1200, 330 * MS
PAUSE = 300 * MS
START, END = 1500 * MS, 2000 * MS


def spec(link: str, backend: str | None) -> LinkSpec:
    """As passed to the agent."""
    return single_link(" ".join(link.split()), [f"backend={backend}"] if backend else [])


def plan(name: str) -> ProbePlan:
    """Both ends have time to start, and at the end what waits has time to arrive."""
    begin = START
    flows = [*_both(ProbeKind.DELAY, begin, DELAY_PROBES, DELAY_EVERY, spread_ns=DELAY_EVERY // 4)]
    begin += DELAY_PROBES * DELAY_EVERY + PAUSE
    if name == "rate":
        flows += _both(ProbeKind.RATE, begin, TRAINS, TRAIN_EVERY, packets=TRAIN, payload_bytes=TRAIN_BYTES)
        begin += TRAINS * TRAIN_EVERY
    else:
        flows += _both(ProbeKind.LOSS, begin, BURSTS, BURST_EVERY, packets=BURST)
        begin += BURSTS * BURST_EVERY
    duration = begin + END
    return ProbePlan(start_ns=0, duration_ns=duration, server_port=SERVER_PORT, flows=tuple(flows))


def _both(
    kind: ProbeKind,
    begin: int,
    bursts: int,
    every: int,
    *,
    packets: int = 1,
    spread_ns: int = 0,
    payload_bytes: int = SMALL_BYTES,
) -> Iterator[ProbeFlow]:
    for up in (True, False):
        yield ProbeFlow(
            uplink=up, client_port=kind.port(uplink=up), begin_ns=begin if up else begin + every // 2, bursts=bursts,
            every_ns=every, spread_ns=spread_ns, packets=packets, payload_bytes=payload_bytes,
        )  # fmt: skip
