from __future__ import annotations

import numpy as np

from wirelab.stats.estimate.sample import Sample

SAMPLE = Sample.of([[3.0, 1.0], [], [2.0]], [1, 1, 0])


def test_censored_values_stand_last_and_count_for_their_trial() -> None:
    assert SAMPLE.n == 5
    assert SAMPLE.ordered.tolist() == [1, 2, 3, np.inf, np.inf]
    assert SAMPLE.up_to(2) == ([1, 0, 1], [3, 1, 1])
    assert SAMPLE.up_to(np.inf) == ([3, 1, 1], [3, 1, 1])


def test_a_trial_of_timeouts_only_counts_if_timeouts_do() -> None:
    assert [trial.tolist() for trial in SAMPLE.with_censored()] == [[3, 1, np.inf], [np.inf], [2]]
    assert [trial.tolist() for trial in SAMPLE.completed()] == [[3, 1], [2]]


def test_an_empty_sample_has_no_values() -> None:
    assert Sample.of([]).n == 0
    assert Sample.of([[], []]).completed() == ()
