"""What `make bench` asks. One file and one line here for each question."""

from __future__ import annotations

from collections.abc import Callable

from bench.questions import (
    delay,
    instructions,
    lanes,
    load,
    loss,
    many_links,
    measuring,
    rate,
    startup,
    throughput,
    verbs,
)
from bench.results import Answer
from bench.setup import Setup

QUESTIONS: dict[str, Callable[[Setup], Answer]] = {
    "delay": delay.answer,
    "throughput": throughput.answer,
    "rate": rate.answer,
    "loss": loss.answer,
    "many-links": many_links.answer,
    "lanes": lanes.answer,
    "instructions": instructions.answer,
    "load": load.answer,
    "measuring": measuring.answer,
    "startup": startup.answer,
    "verbs": verbs.answer,
}
