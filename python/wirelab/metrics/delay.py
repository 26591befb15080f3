"""Delays of whole exchanges. A name lookup is left out, as milosevic2021 does: it asks another server.

Delays count from the intended start, also of an exchange that had to wait for its start: to leave that wait out would
hide an overload (coordinated omission).
"""

from __future__ import annotations

import polars as pl

from wirelab.metrics.base import LOOKED_UP, ORIGIN, WAITED, Metric, since, when_completed
from wirelab.schema import registered

# curl's MAX_INITIAL_POST_SIZE (lib/http.c, 7.75 to 7.88): a longer HTTP/1.1 body is not sent along with the request's
# header.
CURL_INITIAL_POST_BYTES = 64 * 1024

_HTTP1 = pl.col("protocol").is_in(sorted(registered().names(lambda protocol: protocol.http_version == "1.1")))
_HTTP = pl.col("protocol").is_in(sorted(registered().names(lambda protocol: protocol.http_version is not None)))
_BODY_APART = ~_HTTP1 | (pl.col("upload_bytes") > CURL_INITIAL_POST_BYTES) | pl.col("expect_continue")
_CURL_START = (
    pl.when(pl.col("curl_starttransfer_ns").is_not_null())
    .then(pl.col("start_ns") + pl.col("curl_starttransfer_ns"))
    .when(_HTTP & (pl.col("upload_bytes") > 0) & _BODY_APART)
    .then(pl.col("first_body_sent_ns"))
    .when(_HTTP)
    .then(pl.col("first_response_byte_ns"))
)

_SIZES = pl.col("download_bytes")
_LARGEST, _SMALLEST = _SIZES.max().over("scenario"), _SIZES.min().over("scenario")
_OF_LARGEST = (_SIZES == _LARGEST) & (_SMALLEST < _LARGEST)
_OF_SMALLEST = (_SIZES == _SMALLEST) & (_SMALLEST < _LARGEST)
_END_TO_END = when_completed(since("end_ns", ORIGIN))
_RESPONSE = when_completed(since("first_final_byte_ns", ORIGIN))

METRICS = (
    Metric(
        "end-to-end-delay",
        "ns",
        "From the intended start to the last byte of the final response, without the name lookup. In a closed loop an "
        "exchange is intended to start when it does, and this is milosevic2021's end-to-end delay: curl's time_total - "
        "time_namelookup. In an open loop the wait for its start counts.",
        _END_TO_END,
    ),
    Metric(
        "end-to-end-delay-largest",
        "ns",
        "The end-to-end delay of the exchanges with the largest download of several sizes that take turns; null "
        "where all are alike.",
        pl.when(_OF_LARGEST).then(_END_TO_END),
        among=_OF_LARGEST,
    ),
    Metric(
        "end-to-end-delay-smallest",
        "ns",
        "The same for the smallest download.",
        pl.when(_OF_SMALLEST).then(_END_TO_END),
        among=_OF_SMALLEST,
    ),
    Metric(
        "response-time",
        "ns",
        "From the intended start to the first byte of the final response, without the name lookup. Means the same for "
        "every protocol: a 1xx response and the request's own bytes do not count.",
        _RESPONSE,
    ),
    Metric(
        "response-time-largest",
        "ns",
        "The response time of the exchanges with the largest download of several sizes that take turns; null "
        "where all are alike.",
        pl.when(_OF_LARGEST).then(_RESPONSE),
        among=_OF_LARGEST,
    ),
    Metric(
        "response-time-smallest",
        "ns",
        "The same for the smallest download.",
        pl.when(_OF_SMALLEST).then(_RESPONSE),
        among=_OF_SMALLEST,
    ),
    Metric(
        "response-time-curl",
        "ns",
        "curl's time_starttransfer - time_namelookup for curl 7.75 to 7.88 with --data-binary. Over HTTP/1.1 this is "
        "the first byte of any response (the first byte of the body sent, if the body is longer than 64 KiB or waits "
        "for 100 Continue); over HTTP/2 and HTTP/3 an upload's first body byte sent, so it says nothing about the "
        "server. A third-party curl's own printed value is used as it is, so this counts from the start, and not from "
        "the intended one. Null for protocols that curl does not speak.",
        when_completed(_CURL_START - LOOKED_UP),
    ),
    Metric(
        "start-delay",
        "ns",
        "From the instant at which the arrival process wanted the exchange to its start, whatever its outcome. Large "
        "where an open loop finds every place taken. It is part of the delays.",
        WAITED,
    ),
)
