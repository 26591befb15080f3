"""How exchanges and messages of a scenario ended."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field
from typing_extensions import TypedDict

from wirelab.schema.bounds import document

Outcomes = TypedDict(
    "Outcomes",
    {
        "exchanges": Annotated[int, Field(description="Exchanges of trials that count.")],
        "completed": Annotated[int, Field(description="Exchanges that completed.")],
        "sent": Annotated[int, Field(description="Messages that were sent and that nothing answers.")],
        "arrived": Annotated[
            int | None,
            Field(description="Of these, messages that the link delivered; null if not compared, or without any."),
        ],
        "failed": Annotated[int, Field(description="Exchanges that failed.")],
        "timed-out": Annotated[int, Field(description="Exchanges that timed out.")],
        "unsupported": Annotated[int, Field(description="Exchanges that the protocol or program does not do.")],
        "trials": Annotated[int, Field(description="Trials, without the excluded ones.")],
        "failed_trials": Annotated[int, Field(description="Of these, trials that are neither done nor unsupported.")],
        "unsupported_trials": Annotated[
            int, Field(description="Of these, trials of what a protocol or program does not do.")
        ],
        "exchanges_of_failed_trials": Annotated[
            int, Field(description="Exchanges that failed trials recorded. They are in no other count.")
        ],
        "not-confirmed": Annotated[
            int, Field(description="Of these, exchanges that the packets of the link do not confirm.")
        ],
        "excluded_trials": Annotated[int, Field(description="Attempts that were discarded and run again.")],
    },
)
"""How many exchanges ended how, in how many trials. Excluded trials, and exchanges of failed ones, are in no other
count.
"""
document(Outcomes)

OutcomeKey = Literal[
    "exchanges", "completed", "sent", "arrived", "failed", "timed-out", "unsupported",
    "trials", "failed_trials", "unsupported_trials", "exchanges_of_failed_trials", "not-confirmed", "excluded_trials",
]  # fmt: skip


@document
class Messages(TypedDict):
    """Messages that subscribers lost or received twice, over all trials that are done."""

    lost: int
    """Messages that a subscriber never got."""
    duplicate: int
    """Messages that a subscriber got again."""
    stalls: int | None
    """How often players had to stop; null without a player."""


NatResponse = Literal[
    "continued", "migrated", "resumed", "new handshake", "new connection", "another connection", "timed out",
    "nothing sent after", "not known",
]  # fmt: skip
"""What a client did when the NAT had forgotten its mapping."""
RESPONSES: tuple[NatResponse, ...] = get_args(NatResponse)


@document
class NatRecord(TypedDict):
    """What happened when a client sent and the NAT had forgotten its mapping, over all trials that are done."""

    forgotten: int
    """How often it had."""
    new_end: int
    """Of these, how often the NAT gave another port."""
    dropped: int
    """How often it dropped the packets without a word."""
    reset: int
    """How often it answered with a reset."""
    not_completed: int
    """Exchanges of these connections that did not complete from then on."""
    responses: dict[NatResponse, int]
    """How often the client did what: it used the same association further, the same QUIC connection, a new connection
    that resumed the session, that made a full handshake, or that has none, or one that it had before; no later exchange
    completed; none was begun; nothing answers the messages, or only listens.
    """


SizeOutcomes = TypedDict(
    "SizeOutcomes",
    {
        "bytes": Annotated[int, Field(description="The size.")],
        "exchanges": Annotated[int, Field(description="Exchanges with it.")],
        "completed": Annotated[int, Field(description="Exchanges that completed.")],
        "timed-out": Annotated[int, Field(description="Exchanges that timed out.")],
    },
)
"""Downloads of one size, and how they ended."""
document(SizeOutcomes)


@document
class Downloads(TypedDict):
    """Of downloads of several sizes the largest and the smallest."""

    largest: SizeOutcomes
    """Downloads of the largest size."""
    smallest: SizeOutcomes
    """Downloads of the smallest size."""
