"""The parts of the page, in their order: those with charts, then the evidence.

Adding one: a file with a function from a campaign to a section (or None), and its line here.
"""

from collections.abc import Callable

from wirelab.report.blocks import Section
from wirelab.report.campaign import Campaign
from wirelab.report.sections import (
    claims,
    comparisons,
    delays,
    emulation_accuracy,
    energy,
    enumerated,
    expectations,
    glance,
    glossary,
    ledger,
    limits,
    lowest_delay,
    machine,
    messages,
    nat,
    offered,
    outcomes,
    pages,
    phases,
    plan,
    programs,
    published,
    recovery,
    resources,
    reuse,
    rule,
    sizes,
    trials,
    waterfalls,
    wire,
)

Build = Callable[[Campaign], Section | None]
CHARTS: tuple[Build, ...] = (
    glance.section,
    lowest_delay.section,
    delays.section,
    enumerated.section,
    waterfalls.section,
    phases.section,
    wire.section,
    ledger.section,
    energy.section,
)
"""Sections of charts. One that draws nothing stands with the evidence."""
SECTIONS: tuple[Build, ...] = (
    *CHARTS,
    claims.section,
    expectations.section,
    outcomes.section,
    offered.section,
    limits.section,
    emulation_accuracy.section,
    comparisons.section,
    published.section,
    rule.section,
    sizes.section,
    pages.section,
    messages.section,
    recovery.section,
    nat.section,
    resources.section,
    programs.section,
    machine.section,
    plan.section,
    trials.section,
    reuse.section,
    glossary.section,
)
