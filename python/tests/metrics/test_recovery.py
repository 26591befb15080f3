"""Time to recovery, and messages lost or late, of synthetic rows and outages."""

from __future__ import annotations

from typing import Any

from wirelab.metrics.recovery import Event, Recovery, merged, recoveries

TIMEOUT = 10


def row(due: int, end: int, outcome: str = "completed", client: int = 0) -> dict[str, Any]:
    """An exchange that began when it was due."""
    return {"client": client, "intended_start_ns": due, "start_ns": due, "end_ns": end, "outcome": outcome}


def link(start: int, end: int | None) -> Event:
    return Event("link", start, end)


def found(rows: list[dict[str, Any]], *events: Event) -> list[Recovery]:
    return list(recoveries(rows, events, TIMEOUT))


def test_recovery_is_from_the_end_of_the_outage_to_the_end_of_the_next_completed_exchange() -> None:
    rows = [row(0, 1), row(100, 110, "timed-out"), row(200, 210, "failed"), row(300, 304), row(400, 401)]
    [recovery] = found(rows, link(90, 250))
    assert (recovery.recovery_ns, recovery.lost, recovery.late) == (54, 2, 0)
    assert [each["start_ns"] for each in recovery.affected] == [100, 200, 300]


def test_what_was_due_before_the_recovery_is_lost_even_after_the_outage() -> None:
    rows = [row(0, 1), row(100, 110, "failed"), row(160, 170, "failed"), row(200, 201), row(300, 310, "failed")]
    [recovery] = found(rows, link(90, 150))
    assert (recovery.recovery_ns, recovery.lost) == (51, 2)


def test_a_message_under_way_when_the_outage_began_is_affected() -> None:
    [recovery] = found([row(80, 95, "failed"), row(200, 201)], link(90, 150))
    assert (recovery.lost, len(recovery.affected)) == (1, 2)


def test_late_is_what_completed_more_than_a_time_out_after_it_was_due() -> None:
    rows = [row(100, 260), row(150, 261), row(200, 262), row(260, 270), row(300, 301)]
    [recovery] = found(rows, link(90, 250))
    assert (recovery.recovery_ns, recovery.lost, recovery.late) == (10, 0, 3)
    assert len(recovery.affected) == 3


def test_each_of_two_outages_has_what_came_until_the_next() -> None:
    rows = [row(100, 110, "failed"), row(200, 201), row(300, 310, "failed"), row(400, 405)]
    first, second = found(rows, link(90, 150), link(290, 350))
    assert (first.recovery_ns, first.lost) == (51, 1)
    assert (second.recovery_ns, second.lost) == (55, 1)


def test_an_outage_after_which_nothing_completed_has_no_recovery() -> None:
    rows = [row(0, 1), row(100, 110, "failed"), row(200, 210, "timed-out")]
    [recovery] = found(rows, link(90, 150))
    assert (recovery.recovery_ns, recovery.lost) == (None, 2)
    rows = [row(100, 110, "failed"), row(310, 320, "failed"), row(400, 401)]
    first, second = found(rows, link(90, 150), link(300, 350))
    assert (first.recovery_ns, second.recovery_ns) == (None, 51)


def test_a_server_that_was_never_ready_again_has_no_recovery() -> None:
    [recovery] = found([row(0, 1), row(100, 110, "failed")], Event("server", 90, None))
    assert (recovery.recovery_ns, recovery.lost) == (None, 1)


def test_an_outage_after_the_last_message_is_none() -> None:
    assert found([row(0, 1)], link(90, 150)) == []
    assert found([], link(90, 150)) == []


def test_each_client_recovers_by_itself() -> None:
    rows = [row(100, 110, "failed"), row(200, 201), row(100, 110, "failed", client=1), row(240, 241, client=1)]
    assert [(each.client, each.recovery_ns) for each in found(rows, link(90, 150))] == [(0, 51), (1, 91)]


def test_a_message_that_nothing_answers_is_not_lost_and_shows_no_recovery() -> None:
    [recovery] = found([row(100, 101, "sent"), row(200, 201, "sent")], link(90, 150))
    assert (recovery.recovery_ns, recovery.lost, recovery.late) == (None, 0, 0)


def test_outages_that_overlap_are_one() -> None:
    server = Event("server", 40, 60)
    assert merged([link(100, 120), server, link(50, 70)]) == [Event("server", 40, 70), link(100, 120)]
    assert merged([Event("server", 40, None), link(50, 70)]) == [Event("server", 40, None)]


def test_a_message_that_spans_two_outages_is_counted_once() -> None:
    [first, second] = found([row(100, 310, "failed"), row(400, 401)], link(90, 150), link(300, 350))
    assert [(each.met, each.lost, each.late) for each in (first, second)] == [(True, 1, 0), (True, 0, 0)]
    assert (first.recovery_ns, second.recovery_ns) == (None, 51)
    [first, second] = found([row(100, 380), row(400, 401)], link(90, 150), link(300, 350))
    assert [(each.lost, each.late, len(each.affected)) for each in (first, second)] == [(0, 1, 1), (0, 0, 0)]
    assert (first.recovery_ns, second.recovery_ns) == (None, 30)


def test_a_message_after_the_recovery_that_meets_the_next_outage_is_of_that() -> None:
    rows = [row(100, 110, "failed"), row(160, 161), row(200, 380), row(400, 401)]
    first, second = found(rows, link(90, 150), link(300, 350))
    assert (first.lost, first.late, second.lost, second.late) == (1, 0, 0, 1)


def test_an_outage_between_two_messages_is_not_met_and_does_not_end_the_time_of_the_one_before() -> None:
    rows = [row(0, 1), row(100, 110, "failed"), row(260, 262), row(400, 401)]
    first, second, third = found(rows, link(90, 150), link(200, 210), link(300, 310))
    assert (first.met, first.recovery_ns, first.lost) == (True, 112, 1)
    for each in (second, third):
        assert (each.met, each.recovery_ns, each.affected, each.lost, each.late) == (False, None, (), 0, 0)


def test_an_outage_between_two_messages_is_met_if_the_next_one_is_lost() -> None:
    rows = [row(0, 1), row(200, 210, "failed"), row(300, 301)]
    [recovery] = found(rows, Event("server", 90, 150))
    assert (recovery.met, recovery.recovery_ns, recovery.lost, len(recovery.affected)) == (True, 151, 1, 2)


def test_messages_that_nothing_answers_do_not_meet_an_outage_between_them() -> None:
    [recovery] = found([row(0, 1, "sent"), row(200, 201, "sent")], link(90, 150))
    assert not recovery.met


def test_a_late_message_after_the_recovery_is_of_the_outage_before() -> None:
    rows = [row(100, 160), row(140, 165), row(155, 170), row(165, 180), row(300, 301)]
    [recovery, _] = found(rows, link(90, 150), link(250, 260))
    assert (recovery.recovery_ns, len(recovery.affected), recovery.late) == (10, 3, 4)


def test_a_subscriber_lost_what_never_came_and_what_came_after_the_time_out_is_late() -> None:
    rows = [
        row(100, 110, "timed-out") | {"copies": 0},
        row(120, 130, "timed-out") | {"copies": 1},
        row(200, 201) | {"copies": 1},
    ]
    [recovery] = found(rows, link(90, 150))
    assert (recovery.lost, recovery.late) == (1, 1)


def test_thousands_of_handovers_and_messages_take_no_longer_than_their_sum() -> None:
    class Counted(dict[str, Any]):
        reads = 0

        def __getitem__(self, name: str) -> Any:
            Counted.reads += 1
            return super().__getitem__(name)

    rows = [Counted(row(1000 * place, 1000 * place + 1)) for place in range(1000)]
    found(rows, *(link(1000 * place + 500, 1000 * place + 501) for place in range(1000)))
    assert Counted.reads < 20 * len(rows)
