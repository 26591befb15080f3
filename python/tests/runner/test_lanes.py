"""How many lanes a run begins with."""

from wirelab.runner.lanes import default_lanes

MS = 1_000_000


def test_exchanges_that_wait_for_their_link_share_the_cpus() -> None:
    assert default_lanes([60 * MS], trials=500, cpus=2, real_time=True) == 15
    assert default_lanes([400 * MS], trials=500, cpus=2, real_time=True) == 16


def test_exchanges_that_need_the_cpu_run_one_at_a_time() -> None:
    assert default_lanes([2 * MS], trials=500, cpus=2, real_time=True) == 1


def test_there_are_no_more_lanes_than_trials() -> None:
    assert default_lanes([400 * MS], trials=3, cpus=8, real_time=True) == 3


def test_a_link_without_real_time_scheduling_begins_with_fewer() -> None:
    assert default_lanes([400 * MS], trials=500, cpus=2, real_time=False) == 4
