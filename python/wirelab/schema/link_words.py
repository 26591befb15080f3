"""A link in people's words: what packets meet, in order, with every number."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.schema import (
    AddressFamily,
    Codel,
    Corrupt,
    Delay,
    DeliveryTrace,
    DropTail,
    Duplicate,
    DutyCycle,
    FourState,
    FqCodel,
    GilbertElliott,
    GilbertElliottTime,
    Ieee802154,
    ImpairmentSpec,
    JitterSpec,
    LinkSpec,
    Loss,
    LossPattern,
    Markov,
    MediumSpec,
    NatSpec,
    NormalJitter,
    Outage,
    ParetoJitter,
    ParetoNormalJitter,
    QueueSpec,
    RadioSpec,
    Rate,
    Reorder,
    Schedule,
    Serialiser,
    TableJitter,
    TokenBucket,
    UniformJitter,
    Wifi,
    is_netem,
)


def link_words(link: LinkSpec) -> list[tuple[str, str]]:
    """Where, and what happens there, from the client's radio to the far end."""
    words = [("radio", _radio(link.radio))] if link.radio is not None else []
    if link.uplink == link.downlink:
        words += [("each way", _chain(link.uplink))] if link.uplink else []
    else:
        words += [("uplink", _chain(link.uplink)), ("downlink", _chain(link.downlink))]
    if link.medium is not None:
        words.append(("shared", _medium(link.medium)))
    if link.nat is not None:
        words.append(("nat", _nat(link.nat)))
    if link.mtu is not None:
        words.append(("mtu", f"packets of at most {_size(link.mtu)}"))
    if link.family is AddressFamily.IPV6:
        words.append(("family", "IPv6 addresses"))
    words = words or [("each way", _chain(()))]
    if is_netem(link):
        words.append(("backend", "the kernel's netem"))
    return words


def _chain(stages: Sequence[ImpairmentSpec]) -> str:
    return ", then ".join(_stage(stage) for stage in stages) if stages else "nothing: packets pass at once"


def _stage(stage: ImpairmentSpec) -> str:
    match stage:
        case Delay():
            return _delay(stage)
        case Rate() | TokenBucket() | DeliveryTrace() | Schedule() | DutyCycle():
            counted = f" (+ {_size(stage.overhead_bytes)} a packet)" if stage.overhead_bytes else ""
            return f"{_pace(stage)}{counted} behind {_queue(stage.queue)}"
        case Reorder() | Duplicate() | Corrupt():
            return f"{_share(stage.probability)} {_fate(stage)}{_correlated(stage.correlation)}"
        case Outage():
            again = f", again every {_time(stage.every_ns)}" if stage.every_ns is not None else ""
            fate = "dropped" if stage.hold_bytes is None else f"kept, up to {_size(stage.hold_bytes)}"
            return f"no link for {_time(stage.duration_ns)} from {_time(stage.start_ns)} on{again}, packets {fate}"
        case _:
            return _loss(stage)


def _fate(stage: Reorder | Duplicate | Corrupt) -> str:
    match stage:
        case Reorder():
            return f"held back for {_time(stage.by_ns)}"
        case Duplicate():
            return "sent twice"
        case Corrupt():
            return "with one bit inverted"


def _delay(stage: Delay) -> str:
    spread = f" {_jitter(stage.jitter)}" if stage.jitter is not None else ""
    overtaking = ", overtaking" if stage.overtaking else ""
    return f"{_time(stage.delay_ns)}{spread}{_correlated(stage.correlation)}{overtaking}"


def _jitter(jitter: JitterSpec) -> str:
    match jitter:
        case NormalJitter():
            return f"± {_time(jitter.sigma_ns)} (normal, standard deviation)"
        case UniformJitter():
            return f"± {_time(jitter.half_width_ns)} (uniform)"
        case ParetoJitter():
            return f"± {_time(jitter.sigma_ns)} (netem's pareto)"
        case ParetoNormalJitter():
            return f"± {_time(jitter.sigma_ns)} (netem's paretonormal)"
        case TableJitter():
            return f"with a spread of {len(jitter.offsets_ns)} quantiles"


def _pace(stage: Rate | TokenBucket | DeliveryTrace | Schedule | DutyCycle) -> str:
    match stage:
        case Rate():
            return _rate(stage.rate_bps)
        case TokenBucket():
            return f"{_rate(stage.rate_bps)} after bursts of {_size(stage.burst_bytes)}"
        case DutyCycle():
            return f"{_rate(stage.rate_bps)} for {_share(stage.share)} of the time"
        case DeliveryTrace():
            length = _time(stage.opportunities_ms[-1] * 10**6)
            return f"a trace of {len(stage.opportunities_ms)} chances to send 1500 B in {length}"
        case Schedule():
            again = f", again every {_time(stage.repeat_ns)}" if stage.repeat_ns is not None else ""
            return f"delay, rate and loss at {len(stage.points)} instants{again},"


def _queue(queue: QueueSpec) -> str:
    match queue:
        case DropTail():
            packets = [] if queue.packets is None else [f"{queue.packets} packets"]
            return " or ".join(packets if queue.bytes is None else [_size(queue.bytes), *packets])
        case Codel():
            return f"CoDel ({_time(queue.target_ns)}, {_time(queue.interval_ns)}) of {_size(queue.bytes)}"
        case FqCodel():
            return f"FQ-CoDel ({_time(queue.target_ns)}, {_time(queue.interval_ns)}) of {queue.packets} packets"


def _loss(
    stage: Loss | GilbertElliott | GilbertElliottTime | FourState | Markov | LossPattern,
) -> str:
    match stage:
        case Loss():
            return f"{_share(stage.probability)} lost{_correlated(stage.correlation)}"
        case GilbertElliott():
            lost = _average(stage.p, stage.bad_loss, stage.r, stage.good_loss)
            packets = f"{1 / stage.r:.3g} packets on average" if stage.r else "ever"
            return f"{lost} lost, in bursts that lose {_share(stage.bad_loss)} for {packets}"
        case GilbertElliottTime():
            lost = _average(stage.bad_ns, stage.bad_loss, stage.good_ns, stage.good_loss)
            burst = f"{_share(stage.bad_loss)} for {_time(stage.bad_ns)}"
            return f"{lost} lost, in bursts that lose {burst}, {_time(stage.good_ns)} apart, on average"
        case FourState():
            return "loss by netem's four states"
        case Markov():
            return f"loss by a chain of {len(stage.loss)} states"
        case LossPattern():
            again = ", again and again" if stage.repeat else ""
            return f"{stage.pattern.count('1')} of {len(stage.pattern)} packets lost by a pattern{again}"


def _average(bad: float, bad_loss: float, good: float, good_loss: float) -> str:
    """Share lost in the long run, of two states that take their parts of the whole."""
    return f"{100 * (bad * bad_loss + good * good_loss) / (bad + good):.3g} %" if bad + good else "some"


def _radio(radio: RadioSpec) -> str:
    depths = []
    for sleep in radio.sleeps:
        listens = "hears nothing until it sends" if sleep.cycle_ns is None else f"listens every {_time(sleep.cycle_ns)}"
        wakes = f"wakes in {_time(sleep.wake_ns)}" if sleep.wake_ns else "wakes at once"
        depths.append(f"after {_time(sleep.after_ns)} it {listens} and {wakes}")
    return f"sleeps when no packet passes: {'; '.join(depths)}; the network keeps {_size(radio.buffer_bytes)} for it"


def _medium(medium: MediumSpec) -> str:
    match medium:
        case Serialiser():
            counted = f" (+ {_size(medium.overhead_bytes)} a packet)" if medium.overhead_bytes else ""
            air = f"one packet at a time at {_rate(medium.rate_bps)}{counted}"
        case Wifi():
            air = (
                f"Wi-Fi at {_rate(medium.rate_bps)}, {_share(medium.frame_error)} of frames lost, "
                f"{medium.retries} retries, backing off over {medium.cw_min} to {medium.cw_max} slots"
            )
        case Ieee802154():
            air = (
                f"IEEE 802.15.4 frames of 127 B at 250 kbit/s, {_share(medium.frame_error)} lost, "
                f"{medium.retries} retries; a packet dies with one frame"
            )
    return f"{air}; both directions contend, each behind {_queue(medium.queue)}"


def _nat(nat: NatSpec) -> str:
    return f"an address mapping ends after {_time(nat.udp_timeout_ns)} (UDP) or {_time(nat.tcp_timeout_ns)} (TCP) idle"


def _correlated(correlation: float) -> str:
    return f", {_share(correlation)} correlated" if correlation else ""


def _time(nanoseconds: int) -> str:
    """Exact: a link is told in whole nanoseconds."""
    if nanoseconds == 0:
        return "0 s"
    if nanoseconds >= 60 * 10**9 and nanoseconds % (60 * 10**9) == 0:
        return f"{nanoseconds // (60 * 10**9)} min"
    return _exact(nanoseconds, (("s", 10**9), ("ms", 10**6), ("us", 10**3)), "ns")


def _size(size: int) -> str:
    return _exact(size, (("MB", 10**6), ("kB", 10**3)), "B")


def _rate(bits_per_second: int) -> str:
    return _exact(bits_per_second, (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3)), "bit/s")


def _share(fraction: float) -> str:
    return f"{100 * fraction:.6g} %"


def _exact(number: int, units: tuple[tuple[str, int], ...], base: str) -> str:
    for unit, scale in units:
        if number >= scale:
            return f"{number / scale:.15g} {unit}"
    return f"{number} {base}"
