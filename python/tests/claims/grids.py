"""A file of claims with a grid of choices, for tests."""

from __future__ import annotations

from datetime import UTC, datetime

LATE = datetime(2099, 1, 1, tzinfo=UTC)
"""After everything that a file of claims marks."""

CHOICES = """\
[[choice]]
path = "link.rtt"
title = "round trip"
levels = ["20 ms", "2 ms", "4 ms"]
for = { "2 ms" = "a local network" }
against = { "20 ms" = "too slow" }
[[choice]]
path = "workload.connection"
title = "connection policy"
levels = ["new", "persistent"]
[[choice]]
path = "delay"
title = "which delay is meant"
levels = ["end-to-end-delay", "response-time"]
[[interpretation]]
name = "lan"
title = "a local network"
basis = "text"
why = "it says so"
levels = { "link.rtt" = "2 ms" }
[[interpretation]]
name = "calibrated"
title = "fitted to a number"
basis = "fitted"
why = "it fits every cell"
levels = { "link.rtt" = "4 ms" }
used = [["delay", "h2", "lossy", "mean"]]
after-the-fact = 2026-11-27T00:00:00Z
"""

FILE = f"""\
paper = "example"
primary = "lan"
[metrics]
delay = ["end-to-end-delay", "response-time"]
size = ["wire-bytes"]
[grid]
protocol = ["h2", "h3"]
link = ["clean", "lossy"]
{CHOICES}
[[claim]]
id = "C1"
text = "h3 is faster with loss"
[[claim.part]]
form = "order"
metric = "delay"
where = {{ link = "lossy" }}
ascending = [{{ protocol = "h3" }}, {{ protocol = "h2" }}]
[[claim]]
id = "C2"
text = "h3 is faster without loss"
[[claim.part]]
form = "order"
metric = "delay"
where = {{ link = "clean" }}
ascending = [{{ protocol = "h3" }}, {{ protocol = "h2" }}]
[[claim.part]]
form = "order"
beside = "with loss"
metric = "delay"
where = {{ link = "lossy" }}
ascending = [{{ protocol = "h3" }}, {{ protocol = "h2" }}]
[[claim]]
id = "C3"
text = "h2 needs fewer bytes with loss"
[[claim.part]]
form = "order"
metric = "size"
where = {{ link = "lossy" }}
ascending = [{{ protocol = "h2" }}, {{ protocol = "h3" }}]
"""

LATER = """[[claim.part]]
form = "order"
metric = "delay"
beside = "of answered requests alone"
after-the-fact = 2026-11-29T00:00:00Z
where = { link = "lossy" }
ascending = [{ protocol = "h3" }, { protocol = "h2" }]
"""
"""A part of a claim, written after data existed."""
