"""How subscribers wait, as written."""

import pytest

from wirelab.experiment.file.waiting import read_wait
from wirelab.experiment.file.workload import WorkloadTable
from wirelab.schema import PubSub
from wirelab.schema.workload import CheckIn, Connected, Poll
from wirelab.units import UnitError

MINUTE = 60 * 10**9


@pytest.mark.parametrize(
    ("written", "wait"),
    [
        ("connected", Connected()),
        ({"check-in": "10 min", "stay": "5 s"}, CheckIn(every_ns=10 * MINUTE, stay_ns=5 * 10**9)),
        ({"check-in": "10 min"}, CheckIn(every_ns=10 * MINUTE, stay_ns=2 * 10**9)),
        ({"poll": "1 h"}, Poll(every_ns=60 * MINUTE)),
    ],
)
def test_ways_of_waiting_are_read(written: object, wait: object) -> None:
    assert read_wait(written) == wait


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("poll", "is not a way of waiting"),
        ({"poll": "1 h", "stay": "1 s"}, "is not a way of waiting"),
        ({"stay": "1 s"}, "is not a way of waiting"),
        ({"poll": "0 s"}, "a poll needs a time of more than 0"),
        ({"check-in": "0 s"}, "a check-in needs a time of more than 0"),
        ({"check-in": "1 min", "stay": "0 s"}, "a stay needs a time of more than 0"),
        ({"check-in": "10 min", "stay": "20 min"}, "stays 20 min, and checks in every 10 min"),
        ({"poll": 10}, "unit"),
    ],
)
def test_what_is_no_way_of_waiting_is_refused(written: object, words: str) -> None:
    with pytest.raises(UnitError, match=words):
        read_wait(written)


def test_the_time_out_is_an_interval_longer_unless_it_is_given() -> None:
    table = {"kind": "pubsub", "wait": {"poll": "10 min"}}
    spec = WorkloadTable.model_validate(table).spec()
    given = WorkloadTable.model_validate({**table, "timeout": "30 s"}).spec()
    assert isinstance(spec, PubSub)
    assert (spec.timeout_ns, given.timeout_ns) == (10 * MINUTE + 10**10, 3 * 10**10)


def test_a_connected_subscriber_is_not_written_down() -> None:
    spec = WorkloadTable.model_validate({"kind": "pubsub"}).spec()
    polls = WorkloadTable.model_validate({"kind": "pubsub", "wait": {"poll": "1 s"}}).spec()
    assert "wait" not in spec.to_json()
    assert polls.to_json()["wait"] == {"by": "poll", "every_ns": 10**9}
