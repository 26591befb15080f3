"""Energy of a radio from the packets that it sent and received."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from wirelab_energy.errors import WirelabError
from wirelab_energy.machine.base import State
from wirelab_energy.packet import Packet
from wirelab_energy.radio import BOUNDS, Radio
from wirelab_energy.range import Range
from wirelab_energy.track import NS, Span, Track, follow


@dataclass(frozen=True, slots=True)
class StateShare:
    """What one state took of the whole; `seconds` are those of the typical constants."""

    seconds: float
    joules: Range


@dataclass(frozen=True, slots=True)
class Segment:
    """A time in one state, with the typical constants; `watts` is the mean power there."""

    state: str
    start_ns: int
    end_ns: int
    watts: Range


@dataclass(frozen=True, slots=True)
class RadioEnergy:
    """Energy of a radio from `start_ns` to `end_ns`, and on to `settled_ns`, the end of the last timer that the packets
    started, if that is later: a message is paid for in its tail.

    The bounds of `joules` take all constants at the ends of their ranges at once, in order; `at_bounds` has the sums
    as they are, for a part may take more with lower constants: it ends later then. `tail_s` is the time from the end of
    the last packet to that of the last timer, `listening_s` the time with the receiver on for what may come. `late_s`
    is what the last packet waited for those before it: more than 0 where the radio is slower than what it is fed.
    """

    radio: Radio
    packets: tuple[Packet, ...]
    start_ns: int
    end_ns: int
    settled_ns: int
    joules: Range
    at_bounds: Mapping[str, float]
    states: Mapping[str, StateShare]
    airtime_up_s: float
    airtime_down_s: float
    listening_s: float
    tail_s: float
    late_s: float
    timeline: tuple[Segment, ...]

    @property
    def beyond_s(self) -> float:
        """How much of the tail lies beyond `end_ns`."""
        return max(0.0, min(self.tail_s, (self.settled_ns - self.end_ns) / NS))


def radio_energy(radio: Radio, packets: Sequence[Packet], start_ns: int, end_ns: int) -> RadioEnergy:
    """What the packets cost, from a radio at rest at `start_ns`. Packets may come in any order."""
    ordered = _in_order(packets)
    return _weigh(radio, ordered, _tracks(radio, ordered, start_ns, end_ns), (start_ns, end_ns))


def partition(
    radio: Radio, packets: Sequence[Packet], start_ns: int, end_ns: int, cuts: Sequence[int]
) -> tuple[RadioEnergy, list[RadioEnergy]]:
    """What `radio_energy` says of the packets, and the same in parts, which are cut at these instants, in order.

    The radio is followed once, so a part begins in the state in which the one before it ends, and times add up to the
    nanosecond. A wake or a tail that a cut goes through is in both parts. The last part has the tail beyond `end_ns`.
    """
    ordered = _in_order(packets)
    tracks = _tracks(radio, ordered, start_ns, end_ns)
    edges = [start_ns, *cuts]
    parts_of = {each: list(_parts(track, edges)) for each, track in {id(t): t for t in tracks.values()}.items()}
    ends = [*cuts, max(start_ns, end_ns, ordered[-1].time_ns if ordered else start_ns)]
    parts, first = [], 0
    for place, window in enumerate(zip(edges, ends, strict=True)):
        last = first
        while last < len(ordered) and (place == len(cuts) or ordered[last].time_ns < window[1]):
            last += 1
        of_part = {bound: parts_of[id(track)][place] for bound, track in tracks.items()}
        parts.append(_weigh(radio, ordered[first:last], of_part, window))
        first = last
    return _weigh(radio, ordered, tracks, (start_ns, end_ns)), parts


def steady_energy(radio: Radio, message: RadioEnergy, interval_s: float) -> RadioEnergy:
    """One interval of many, each with this message: it finds the radio as the last one left it, whose tail is cut where
    it begins. The interval begins right behind a message and ends with the next one, as the wake and the reception of a
    downlink packet lie before its time.
    """
    interval_ns = round(interval_s * NS)
    if interval_ns <= 0 or message.start_ns + interval_ns < _over_ns(message):
        took = (_over_ns(message) - message.start_ns) / NS
        raise WirelabError(
            f"an interval of {interval_s:g} s is shorter than the message, which takes {took:.3g} s",
            hint="a longer interval, or a smaller message",
        )
    rows = [
        tuple(Packet(each.time_ns + nth * interval_ns, each.up, each.size) for each in message.packets)
        for nth in range(3)
    ]
    packets = [packet for row in rows for packet in row]
    tracks = {
        bound: next(_parts(track, (track.quiet_ns - interval_ns, track.quiet_ns)))
        for bound, track in _tracks(radio, packets, message.start_ns, message.start_ns).items()
    }
    over_ns = tracks["typical"].quiet_ns
    return _weigh(radio, rows[-1], tracks, (over_ns - interval_ns, over_ns))


def _tracks(radio: Radio, packets: Sequence[Packet], start_ns: int, end_ns: int) -> dict[str, Track]:
    """The states with the constants at each of their bounds; one track where only powers have bounds."""
    found = {
        bound: follow(radio.machine, radio.values(bound), packets, start_ns, end_ns)
        for bound in dict.fromkeys(radio.timed_as.values())
    }
    return {bound: found[alike] for bound, alike in radio.timed_as.items()}


def _over_ns(message: RadioEnergy) -> int:
    return max(message.settled_ns - round(message.tail_s * NS), *(each.time_ns for each in message.packets), 0)


def _in_order(packets: Sequence[Packet]) -> tuple[Packet, ...]:
    return tuple(sorted(packets, key=lambda packet: packet.time_ns))


def _parts(track: Track, edges: Sequence[int]) -> Iterator[Track]:
    """The track between neighbouring edges, and from the last one on. Linear: a month has many of both."""
    place, whole = 0, track.spans
    for start_ns, end_ns in pairwise((*edges, max(edges[-1], whole[-1].end_ns) if whole else edges[-1])):
        spans = []
        while place < len(whole) and whole[place].start_ns < end_ns:
            span = whole[place]
            if start_ns <= span.start_ns and span.end_ns <= end_ns:
                spans.append(span)
            elif start_ns < end_ns and span.end_ns > start_ns:
                spans.append(Span(span.state, max(span.start_ns, start_ns), min(span.end_ns, end_ns)))
            if span.end_ns > end_ns:
                break
            place += 1
        yield Track(tuple(spans), min(track.quiet_ns, end_ns), min(track.settled_ns, end_ns), track.late_ns)


def _weigh(
    radio: Radio, packets: tuple[Packet, ...], tracks: Mapping[str, Track], window: tuple[int, int]
) -> RadioEnergy:
    """Power times time over the states of these tracks, one for each bound."""
    seconds_of = {each: _seconds(track) for each, track in {id(t): t for t in tracks.values()}.items()}
    joules = {bound: _joules(radio.states[bound], seconds_of[id(tracks[bound])]) for bound in BOUNDS}
    typical, track = radio.states["typical"], tracks["typical"]
    seconds = seconds_of[id(track)]
    shares = {
        name: StateShare(seconds.get(name, 0.0), _range({bound: joules[bound].get(name, 0.0) for bound in BOUNDS}))
        for name in typical
        if any(name in each for each in joules.values())
    }
    at_bounds = {bound: sum(joules[bound].values()) for bound in BOUNDS}
    return RadioEnergy(
        radio=radio,
        packets=packets,
        start_ns=window[0],
        end_ns=window[1],
        settled_ns=track.settled_ns,
        joules=_range(at_bounds),
        at_bounds=at_bounds,
        states=shares,
        airtime_up_s=sum(typical[name].transmits * each for name, each in seconds.items()),
        airtime_down_s=sum(typical[name].receives * each for name, each in seconds.items()),
        listening_s=sum(typical[name].listens * each for name, each in seconds.items()),
        tail_s=(track.settled_ns - track.quiet_ns) / NS,
        late_s=track.late_ns / NS,
        timeline=tuple(
            Segment(span.state, span.start_ns, span.end_ns, radio.watts[span.state]) for span in track.spans
        ),
    )


def _range(bounds: Mapping[str, float]) -> Range:
    return Range.spanning(bounds["typical"], bounds["low"], bounds["high"])


def _joules(states: Mapping[str, State], seconds: Mapping[str, float]) -> dict[str, float]:
    return {name: states[name].watts * each for name, each in seconds.items()}


def _seconds(track: Track) -> dict[str, float]:
    found: defaultdict[str, int] = defaultdict(int)
    for span in track.spans:
        found[span.state] += span.end_ns - span.start_ns
    return {name: each / NS for name, each in found.items()}
