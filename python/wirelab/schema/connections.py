"""Connections of a scenario in `plan.json`, and how much random loss leaves them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wirelab.schema.base import Border, Unsigned

MAX_LINES = 6


class LossLimit(Border):
    """Random loss, and not the link's rate, limits a transfer: what is expected, by `docs/design/duration.md`."""

    flow_bps: Unsigned
    """What one connection reaches, bit/s."""
    link_bps: Unsigned | None
    """Rate of the link in that direction, bit/s; null without a limit."""
    loss: float
    """Share of packets that are lost in that direction."""
    rtt_ns: Unsigned
    """Round trip."""


def _mbit(bits_per_second: float) -> str:
    return f"{bits_per_second / 1e6:.2g}" if bits_per_second < 10**7 else f"{bits_per_second / 1e6:.3g}"


class Connections(Border):
    """Connections of an exchange, and what their sender's congestion control is."""

    at_once: Unsigned
    """Connections that one exchange, or one load of a page, uses at once."""
    congestion_control: str
    """Name of the algorithm."""
    constants: str | None
    """Its constants, with their source; null if they are not known."""
    packet_bytes: Unsigned
    """Application bytes of a full packet."""
    loss_limit: LossLimit | None
    """Null if random loss is not the limit."""

    @property
    def limit_words(self) -> str | None:
        """How much random loss leaves the connections, if it limits them."""
        if (limit := self.loss_limit) is None:
            return None
        one, link = _mbit(limit.flow_bps), "" if limit.link_bps is None else f" of {_mbit(limit.link_bps)}"
        together = f", and its {self.at_once} connections to {_mbit(limit.flow_bps * self.at_once)} Mbit/s"
        return (
            f"loss limits one connection to {one}{link} Mbit/s{together * (self.at_once > 1)} "
            f"({self.congestion_control}, {limit.loss * 100:.3g} % of packets of {self.packet_bytes} B lost, "
            f"round trip {limit.rtt_ns / 1e6:.4g} ms)"
        )


def loss_lines(used: Iterable[tuple[str, str, Connections | None]]) -> Iterator[str]:
    """A line for each link and kind of connections that random loss limits, from protocols, names of links and their
    connections.
    """
    found: dict[str, list[str]] = {}
    for protocol, link_name, each in used:
        if each is not None and each.limit_words is not None:
            found.setdefault(f"on {link_name}, {each.limit_words}", []).append(protocol)
    for words, protocols in list(found.items())[:MAX_LINES]:
        yield f"{', '.join(dict.fromkeys(protocols))}: {words}"
    if len(found) > MAX_LINES:
        yield f"Random loss limits {len(found) - MAX_LINES} more kinds of connections; plan.json has them."
