"""How many lanes a run begins with."""

from wirelab.runner.lanes import default_lanes

MS = 1_000_000


def test_exchanges_that_wait_for_their_link_share_the_cpus() -> None:
    assert default_lanes([60 * MS], trials=500, cpus=2, real_time=True) == 15
    assert default_lanes([400 * MS], trials=500, cpus=2, real_time=True) == 32


def test_exchanges_that_need_the_cpu_run_one_at_a_time() -> None:
    assert default_lanes([2 * MS], trials=500, cpus=2, real_time=True) == 1


def test_there_are_no_more_lanes_than_trials() -> None:
    assert default_lanes([400 * MS], trials=3, cpus=8, real_time=True) == 3


def test_a_link_that_shares_its_only_cpu_begins_with_few() -> None:
    assert default_lanes([400 * MS], trials=500, cpus=1, real_time=False) == 2
    assert default_lanes([400 * MS], trials=500, cpus=1, real_time=True) == 16


def test_a_link_with_a_cpu_of_its_own_needs_no_real_time_scheduling() -> None:
    assert default_lanes([400 * MS], trials=500, cpus=2, real_time=False) == 32
    assert default_lanes([60 * MS], trials=500, cpus=2, real_time=False) == 7
