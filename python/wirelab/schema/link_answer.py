"""How a link is asked for: the function that answers, and its refusal. Who answers is `wirelab.link_facts`."""

from __future__ import annotations

from collections.abc import Callable

from wirelab.schema.link_facts import LinkFacts, LinkRefusal
from wirelab.schema.link_spec import LinkSpec

AskLink = Callable[[LinkSpec], LinkFacts]
"""Gives a link's facts, or raises `LinkRefusedError`."""


class LinkRefusedError(ValueError):
    """A link that the data plane refuses, and why."""

    def __init__(self, why: LinkRefusal) -> None:
        super().__init__(why.what)
        self.why = why
