"""Colours, shapes and dashes. One protocol looks the same in every chart of every report.

Colours are those of Okabe and Ito (2008), darkened or lightened until each has a contrast of 3:1 on the page (WCAG 2.2,
1.4.11).
Charts are drawn with sentinel colours that `figures.svg` replaces by CSS variables, so that one drawing serves light,
dark and paper.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

PROTOCOL_SLOTS = {
    "raw-tcp": 0,
    "raw-udp": 1,
    "http1": 2,
    "https1": 3,
    "h2": 4,
    "h2c": 5,
    "h3": 6,
    "coap": 7,
    "mqtt": 8,
    "amqp": 9,
    "coaps": 10,
    "coap+tcp": 11,
    "coaps+tcp": 12,
    "mqtts": 13,
    "mqtt+quic": 14,
    "amqps": 15,
}
LIGHT = (
    "#6b6b6b", "#8a6d3b", "#c65200", "#a8427f", "#0068a8", "#2588bf", "#00805a", "#8f6f00", "#7a4fb5", "#b3261e",
    "#e740e7", "#1b1bde", "#394909", "#533767", "#eb5c8b", "#a57eb9", "#37a437", "#763019", "#ae1bde", "#5e15a8",
)  # fmt: skip
DARK = (
    "#a9a9a9", "#c9a56a", "#ff9248", "#ec92c8", "#5cb3f5", "#93d3fa", "#35cf9f", "#e3c238", "#bd9cf2", "#ff8a80",
    "#ce1bde", "#6969ec", "#598d11", "#a474b4", "#e42565", "#f0c9f8", "#25e425", "#b56226", "#e269ec", "#af5ceb",
)  # fmt: skip
MOST_VARIANTS = 15
"""Of one slot that charts tell from each other."""
OWN_SLOTS = tuple(range(len(PROTOCOL_SLOTS), len(LIGHT)))
"""For user-defined protocols."""
SHAPES = (
    "circle", "square", "triangle-up", "triangle-down", "square", "triangle-right", "circle", "diamond", "cross",
    "triangle-left", "triangle-down", "triangle-up", "triangle-right", "circle", "square", "diamond", "cross",
    "triangle-left", "diamond", "cross",
)  # fmt: skip
MARKS = {
    "circle": "M20,3.5a4.5,4.5 0 1 0 .01,0Z",
    "square": "M16,4h8v8h-8Z",
    "triangle-up": "M20,3l5,9h-10Z",
    "triangle-down": "M20,13l-5,-9h10Z",
    "triangle-right": "M25,8l-9,5v-10Z",
    "triangle-left": "M15,8l9,5v-10Z",
    "diamond": "M20,2l5,6l-5,6l-5,-6Z",
    "cross": "M18.3,3h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3Z",
}
"""The path of each shape in a legend, 40 pixels wide and 16 high."""
DASHES = (
    (1, 2), (1, 4), (), (8, 2), (7, 3), (2, 2), (3, 2), (9, 2, 2, 2), (5, 1), (6, 2, 1, 2, 1, 2),
    (4, 4), (10, 3), (3, 5), (6, 6), (2, 5), (12, 4), (8, 5), (5, 3), (1, 6), (11, 2, 2, 2),
)  # fmt: skip

PARTS_LIGHT = (
    "#8c8c8c", "#d9a441", "#b85c9e", "#3f7fb5", "#4f9d78", "#b4532a", "#6b4fa0", "#3d3d3d", "#8fa32a",
)  # fmt: skip
PARTS_DARK = (
    "#9a9a9a", "#e0b55c", "#d58ac0", "#6aa9dd", "#6cc39a", "#e08a5f", "#a58ee0", "#e4e4e4", "#c0d45a",
)  # fmt: skip


@dataclass(frozen=True)
class Look:
    """How a series is drawn: slot of the palette, shape of its points, dash of its lines. `variant` counts the series
    of one slot.
    """

    slot: int
    shape: str
    dash: tuple[int, ...]
    variant: int = 0

    @property
    def key(self) -> str:
        """What the page knows the series by."""
        return series_key(self.slot, self.variant)


def looks(protocols: list[tuple[str, str]]) -> list[Look]:
    """A look for each series, given as (protocol, variant): the protocol decides the colour, variants shape and dash.

    A protocol that is not Wirelab's has a slot by its name, the same in every campaign; of two with the same slot in
    one chart the later by name takes the next that is free.
    """
    slots = dict(PROTOCOL_SLOTS)
    for protocol in sorted({protocol for protocol, _ in protocols} - PROTOCOL_SLOTS.keys()):
        wanted = int.from_bytes(hashlib.sha256(protocol.encode()).digest()[:4], "big") % len(OWN_SLOTS)
        in_turn = [OWN_SLOTS[(wanted + step) % len(OWN_SLOTS)] for step in range(len(OWN_SLOTS))]
        slots[protocol] = next((slot for slot in in_turn if slot not in slots.values()), in_turn[0])
    seen: dict[int, int] = {}
    result = []
    for protocol, _ in protocols:
        slot = slots[protocol]
        variant = seen.get(slot, 0)
        seen[slot] = variant + 1
        shape = SHAPES[slot] if variant == 0 else SHAPES[(slot + variant) % len(SHAPES)]
        result.append(Look(slot, shape, DASHES[slot] if variant == 0 else (4 + 2 * variant, 2), variant))
    return result


def series_color(slot: int, variant: int = 0) -> str:
    """The sentinel of a series' colour. Variants share the colour, not the sentinel, so that a chart can tell them
    from each other.
    """
    return f"#{1 + min(variant, MOST_VARIANTS):02x}01{slot + 16:02x}"


def series_key(slot: int, variant: int) -> str:
    """`4`, and `4-1` for the second series of that slot."""
    return f"{slot}-{variant}" if variant else str(slot)


def series_keys() -> dict[str, str]:
    """Sentinel to the key of its series."""
    variants = range(MOST_VARIANTS + 1)
    return {
        series_color(slot, variant): series_key(slot, variant) for variant in variants for slot in range(len(LIGHT))
    }


def part_color(index: int) -> str:
    """The sentinel of the colour of a part of a bar."""
    return f"#0102{index % len(PARTS_LIGHT) + 16:02x}"


INK, MUTED, GRID, PAPER, FAINT = "#010300", "#010301", "#010302", "#010303", "#010304"
GOOD, BAD, UNSURE = "#010305", "#010306", "#010307"
"""The sentinels of the tones of verdicts."""


def css_variables() -> dict[str, str]:
    """Sentinel to CSS value."""
    variables = {color: f"var(--s{key.partition('-')[0]})" for color, key in series_keys().items()}
    variables |= {part_color(i): f"var(--p{i})" for i in range(len(PARTS_LIGHT))}
    return variables | {
        INK: "var(--ink)", MUTED: "var(--muted)", GRID: "var(--rule)", PAPER: "var(--paper)", FAINT: "var(--faint)",
        GOOD: "var(--good)", BAD: "var(--bad)", UNSURE: "var(--unsure)",
    }  # fmt: skip
