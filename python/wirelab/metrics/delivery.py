"""Messages of `pubsub` and `stream`, from who published them to each subscriber, both on the machine's one clock."""

from __future__ import annotations

import polars as pl

from wirelab.metrics.base import COMPLETED, ORIGIN, Metric, since, when_completed

_SUBSCRIBER = ("trial", "client")
_DELAY = since("end_ns", pl.col("start_ns"))
_PLAYED_AFTER = _DELAY.filter(COMPLETED).sort_by(pl.col("index").filter(COMPLETED)).first().over(_SUBSCRIBER) + pl.col(
    "playout_delay_ns"
)
"""From a message's publication to its playout: the first message's delay plus the player's buffer."""
LATENESS = "playout_lateness_ns"
STREAMED = "streamed"
"""Column of exchanges: whether their workload is a stream, even if none of its messages arrived."""

METRICS = (
    Metric(
        "delivery-delay",
        "ns",
        "From the instant at which a message was due to be published to that at which the subscriber's application had "
        "it: publisher to subscriber, through the broker where there is one.",
        when_completed(pl.when(pl.col("copies").is_not_null()).then(since("end_ns", ORIGIN))),
    ),
    Metric(
        "playout-lateness",
        "ns",
        "How long after the instant at which the player wanted it a message of a stream came; 0 if it was there. The "
        "player plays the first message its buffer's delay after it came, and each later one as long after the first "
        "as it was published after it (playout delay as in RFC 3550's receivers, without adaptation).",
        when_completed((_DELAY - _PLAYED_AFTER).clip(lower_bound=0)),
    ),
    Metric(
        "lost-messages",
        "",
        "Messages of a trial that a subscriber never got, over its subscribers.",
        pl.col("lost_messages"),
        of="trial",
    ),
    Metric(
        "duplicate-messages",
        "",
        "Number of duplicate messages at the subscribers of a trial.",
        pl.col("duplicate_messages"),
        of="trial",
    ),
    Metric(
        "stalls",
        "",
        "How often the players of a trial's stream had to stop: runs of messages that were late or never came. Null "
        "without a stream.",
        pl.col("stalls"),
        of="trial",
    ),
)

_COPIES = pl.col("copies").cast(pl.Int64)
_ABSENT = (pl.col(LATENESS) > 0) | pl.col(LATENESS).is_null()
_ABSENT_BEFORE = _ABSENT.shift(1, fill_value=False) & (pl.col("client") == pl.col("client").shift(1)).fill_null(False)
TOTALS = {
    "lost_messages": pl.when(_COPIES.is_not_null().any()).then((_COPIES == 0).sum().cast(pl.Int64)),
    "duplicate_messages": pl.when(_COPIES.is_not_null().any()).then((_COPIES - 1).clip(lower_bound=0).sum()),
    "stalls": pl.when(pl.col(STREAMED).any()).then((_ABSENT & ~_ABSENT_BEFORE).sum().cast(pl.Int64)),
}
"""Columns of `trials.parquet`, of a trial's exchanges sorted by subscriber and message."""
