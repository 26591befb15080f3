"""The parts of the page, in their order.

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

SECTIONS: tuple[Callable[[Campaign], Section | None], ...] = (
    claims.section,
    expectations.section,
    glance.section,
    lowest_delay.section,
    offered.section,
    emulation_accuracy.section,
    limits.section,
    published.section,
    rule.section,
    delays.section,
    enumerated.section,
    sizes.section,
    pages.section,
    waterfalls.section,
    phases.section,
    messages.section,
    recovery.section,
    nat.section,
    wire.section,
    ledger.section,
    resources.section,
    energy.section,
    outcomes.section,
    comparisons.section,
    programs.section,
    machine.section,
    plan.section,
    trials.section,
    reuse.section,
    glossary.section,
)
