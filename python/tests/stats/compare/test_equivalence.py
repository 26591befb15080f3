"""Agreement of two samples as equivalence, on simulated delays of known truth."""

from __future__ import annotations

import numpy as np
import pytest

from wirelab.stats.compare.equivalence import Delays, Measure, Verdict, distance, measures, offset

COMPUTING_S, NOISE_S = 0.5e-3, 0.1e-3
"""What a machine adds to each delay in real time: always, and by chance."""


def delays(
    seed: int, *, live: bool = False, trials: int = 30, exchanges: int = 100, loss: float = 0.15,
    shift: float = 0.0, repeat: float = 0.2, slot: float = 0.0, timed_out: float = 0.0,
) -> Delays:  # fmt: skip
    """Two round trips of 20 ms; a lost packet is repeated after `repeat`, and each time after twice as long.

    Timers end within 4 ms, or at the next multiple of `slot`.
    """
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(trials):
        waits = repeat * (2.0 ** (rng.geometric(1 - loss, exchanges) - 1) - 1)
        late = np.where(waits > 0, 0.004 * rng.random(exchanges), 0)
        waits = np.ceil(waits / slot) * slot if slot else waits
        times = 0.04 + shift + waits + late
        times[rng.random(exchanges) < timed_out] = np.inf
        found.append(times + (COMPUTING_S + NOISE_S * rng.exponential(1, exchanges)) * live)
    return found


def compared(live: Delays, virtual: Delays) -> dict[str, Measure]:
    rng = np.random.default_rng(1)
    taken = offset(delays(101, live=True, loss=0.0), delays(102, loss=0.0), rng)
    return {each.name: each for each in measures(live, virtual, taken, rng)}


def test_two_samples_of_one_distribution_agree_in_every_measure() -> None:
    for seed in range(3):
        found = compared(delays(seed, live=True), delays(50 + seed))
        assert {name: each.verdict for name, each in found.items()} == dict.fromkeys(
            ("median", "late-share", "p95", "distance"), Verdict.AGREES
        )


def paired(live: Delays, virtual: Delays) -> dict[str, Measure]:
    found = measures(live, virtual, None, np.random.default_rng(1), paired=True)
    return {each.name: each for each in found}


def test_pairs_that_lose_the_same_packets_agree_where_independent_samples_are_too_few() -> None:
    """Half of the exchanges wait for a repeat, so that a median may be of either half."""
    virtual = delays(1, trials=12, loss=0.5, repeat=1.0)
    noise = np.random.default_rng(2)
    live = [trial + NOISE_S * noise.random(len(trial)) for trial in virtual]
    apart = {each.name: each for each in measures(live, virtual, None, np.random.default_rng(1))}
    together = paired(live, virtual)
    for name in ("median", "late-share"):
        assert (apart[name].verdict, together[name].verdict) == (Verdict.INCONCLUSIVE, Verdict.AGREES)
        assert together[name].point == apart[name].point


def test_pairs_of_which_one_side_is_late_differ() -> None:
    virtual = delays(1, trials=12)
    live = [np.where(np.arange(len(trial)) < 10, 1.5, trial) for trial in virtual]
    late = paired(live, virtual)["late-share"]
    assert late.verdict is Verdict.DIFFERS
    assert late.low is not None
    assert late.high is not None
    assert late.low < 0.1 < late.high + 0.02
    # Seen from the other side it is the same difference.
    mirrored = paired(virtual, live)["late-share"]
    assert (mirrored.low, mirrored.high) == pytest.approx((-late.high, -late.low))


def test_the_offset_is_what_computing_adds_in_real_time() -> None:
    taken = offset(delays(1, live=True, loss=0.0), delays(2, loss=0.0), np.random.default_rng(1))
    assert taken.seconds == pytest.approx(COMPUTING_S + NOISE_S * np.log(2), rel=0.02)


def test_a_shift_beyond_the_limit_of_the_medians_differs() -> None:
    found = compared(delays(1, live=True), delays(2, shift=0.8e-3))
    assert found["median"].verdict is Verdict.DIFFERS
    assert found["distance"].verdict is Verdict.DIFFERS
    assert found["median"].most == pytest.approx(0.406e-3, rel=0.01)


def test_another_loss_differs_in_the_tail_and_not_in_the_median() -> None:
    found = compared(delays(1, live=True), delays(2, loss=0.3))
    assert found["median"].verdict is Verdict.AGREES
    assert {found[name].verdict for name in ("p95", "distance")} == {Verdict.DIFFERS}


def test_timers_that_end_later_differ_in_their_distribution() -> None:
    """Retransmissions at 1.10 s and not at 1.04 s: neither the median nor the ratio of p95 shows it."""
    found = compared(delays(1, live=True, repeat=1.0), delays(2, repeat=1.0, slot=1.06))
    assert found["distance"].verdict is Verdict.DIFFERS
    assert {found[name].verdict for name in ("median", "p95")} == {Verdict.AGREES}
    assert found["late-share"].verdict is not Verdict.DIFFERS


def test_the_machines_own_scatter_is_no_evidence_against_the_virtual_clock() -> None:
    rng = np.random.default_rng(1)
    noise = [rng.random(100) * 5e-3 for _ in range(30)]
    live = [trial + added for trial, added in zip(delays(1), noise, strict=True)]
    taken = offset([0.04 + added for added in noise], delays(2, loss=0.0), rng)
    (found,) = (each for each in measures(live, delays(3), taken, rng) if each.name == "distance")
    assert found.scatter == pytest.approx(0.42, abs=0.03)
    assert found.low is not None
    assert found.low > found.most
    assert found.verdict is Verdict.INCONCLUSIVE


def test_what_did_not_complete_is_late_and_the_largest() -> None:
    found = compared(delays(1, live=True, timed_out=0.1), delays(2))
    assert found["p95"].verdict is Verdict.DIFFERS
    assert found["p95"].point is None
    assert found["late-share"].verdict is Verdict.DIFFERS
    assert found["late-share"].point == pytest.approx(0.1, abs=0.02)
    both = compared(delays(1, live=True, timed_out=0.1), delays(2, timed_out=0.1))
    assert both["p95"].verdict is Verdict.INCONCLUSIVE
    assert both["median"].verdict is Verdict.AGREES


def test_of_few_exchanges_only_medians_are_compared_within_15_percent() -> None:
    found = compared(delays(1, live=True, trials=10, exchanges=10), delays(2, trials=10, exchanges=10, shift=2e-3))
    assert list(found) == ["median"]
    assert found["median"].verdict is Verdict.AGREES
    assert found["median"].most == pytest.approx(0.15 * 0.0406, rel=0.01)


def test_too_few_trials_or_exchanges_show_nothing() -> None:
    found = compared(delays(1, live=True, trials=3, exchanges=1000), delays(2, trials=3, exchanges=1000))
    assert found["distance"].verdict is Verdict.INCONCLUSIVE
    assert compared([], delays(2)) == {}


def test_a_reference_has_no_median_of_its_own() -> None:
    rng = np.random.default_rng(1)
    live, virtual = delays(1, live=True, loss=0.0), delays(2, loss=0.0)
    found = measures(live, virtual, offset(live, virtual, rng), rng, reference=True)
    assert [each.name for each in found] == ["late-share", "p95", "distance"]
    assert {each.verdict for each in found} == {Verdict.AGREES}


def test_a_share_of_nothing_has_an_interval_with_a_width() -> None:
    found = compared(delays(1, live=True, loss=0.0), delays(2, loss=0.0))["late-share"]
    assert found.point == 0
    assert found.low is not None
    assert found.low < -0.0005


def test_the_distance_is_that_of_kolmogorov_without_a_tolerance() -> None:
    from scipy.stats import ks_2samp

    live, virtual = delays(1, live=True), delays(2, loss=0.2)
    known = ks_2samp(np.concatenate(list(live)), np.concatenate(list(virtual))).statistic
    assert distance(live, virtual, 0.0) == pytest.approx(known)


def test_the_distance_ignores_what_lies_within_the_tolerance() -> None:
    one, other = [np.array([0.040, 0.041])], [np.array([0.0402, 0.0412])]
    assert distance(one, other, 0.0) == 0.5
    assert distance(one, other, 0.3e-3) == 0
    assert distance(other, one, 0.3e-3) == 0
    assert distance(one, [np.array([0.0402, np.inf])], 0.3e-3) == 0.5


@pytest.mark.parametrize("swapped", [False, True])
def test_samples_that_depend_within_their_trials_are_not_said_to_differ(swapped: bool) -> None:
    rng = np.random.default_rng(3)
    for _ in range(3):
        live, virtual = ([0.04 + rng.exponential(0.2) + rng.exponential(0.01, 100) for _ in range(30)] for _ in "ab")
        sides = (virtual, live) if swapped else (live, virtual)
        found = measures(*sides, None, rng)
        assert Verdict.DIFFERS not in {each.verdict for each in found}
