"""Colours, shapes and dashes. One stack looks the same in every chart of every report.

Colours are those of Okabe and Ito (2008), darkened or lightened until each has a contrast of 3:1 on the page (WCAG 2.2,
1.4.11).
Charts are drawn with sentinel colours that `figures.svg` replaces by CSS variables, so that one drawing serves light,
dark and paper.
"""

from __future__ import annotations

from dataclasses import dataclass

STACK_SLOTS = {
    "raw-tcp": 0,
    "raw-udp": 1,
    "http1": 2,
    "https1": 3,
    "h2": 4,
    "h2c": 5,
    "h3": 6,
}
LIGHT = ("#6b6b6b", "#8a6d3b", "#c65200", "#a8427f", "#0068a8", "#2588bf", "#00805a", "#8f6f00", "#7a4fb5", "#b3261e")
DARK = ("#a9a9a9", "#c9a56a", "#ff9248", "#ec92c8", "#5cb3f5", "#93d3fa", "#35cf9f", "#e3c238", "#bd9cf2", "#ff8a80")
SHAPES = (
    "circle", "square", "triangle-up", "triangle-down", "square", "triangle-right", "circle", "diamond", "cross",
    "triangle-left",
)  # fmt: skip
DASHES = ((1, 2), (1, 4), (), (8, 2), (7, 3), (2, 2), (3, 2), (9, 2, 2, 2), (5, 1), (6, 2, 1, 2, 1, 2))

PARTS_LIGHT = ("#8c8c8c", "#d9a441", "#b85c9e", "#3f7fb5", "#4f9d78")
PARTS_DARK = ("#9a9a9a", "#e0b55c", "#d58ac0", "#6aa9dd", "#6cc39a")


@dataclass(frozen=True)
class Look:
    """How a series is drawn: slot of the palette, shape of its points, dash of its lines."""

    slot: int
    shape: str
    dash: tuple[int, ...]


def looks(stacks: list[tuple[str, str]]) -> list[Look]:
    """A look for each series, given as (stack, variant): the stack decides the colour, further variants shape and dash.

    Stacks without a slot of their own take free ones in order of their names, so the choice depends on the set alone.
    """
    others = sorted({stack for stack, _ in stacks} - STACK_SLOTS.keys())
    free = [slot for slot in range(len(LIGHT)) if slot not in STACK_SLOTS.values()] or [0]
    slots = STACK_SLOTS | {stack: free[i % len(free)] for i, stack in enumerate(others)}
    seen: dict[str, int] = {}
    result = []
    for stack, _ in stacks:
        slot, variant = slots[stack], seen.get(stack, 0)
        seen[stack] = variant + 1
        shape = SHAPES[slot] if variant == 0 else SHAPES[(slot + variant) % len(SHAPES)]
        result.append(Look(slot, shape, DASHES[slot] if variant == 0 else (4 + 2 * variant, 2)))
    return result


def series_color(slot: int) -> str:
    """The sentinel of a series' colour."""
    return f"#0101{slot + 16:02x}"


def part_color(index: int) -> str:
    """The sentinel of the colour of a part of a bar."""
    return f"#0102{index % len(PARTS_LIGHT) + 16:02x}"


INK, MUTED, GRID, PAPER, FAINT = "#010300", "#010301", "#010302", "#010303", "#010304"


def css_variables() -> dict[str, str]:
    """Sentinel to CSS value."""
    variables = {series_color(i): f"var(--s{i})" for i in range(len(LIGHT))}
    variables |= {part_color(i): f"var(--p{i})" for i in range(len(PARTS_LIGHT))}
    return variables | {
        INK: "var(--ink)", MUTED: "var(--muted)", GRID: "var(--rule)", PAPER: "var(--paper)", FAINT: "var(--faint)",
    }  # fmt: skip
