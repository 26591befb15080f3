"""The fits, and whether their tests and intervals keep their nominal rates on simulated losses."""

import itertools
import math

import numpy as np
import pytest

from tests.fit import samples
from wirelab.fit.gilbert_elliott import Runs, fit, log_likelihood
from wirelab.fit.loss import count_runs, fit_losses, independence, share_in_bursts, simple_gilbert
from wirelab.stats.estimate.model import Estimate


def fates(text: str) -> samples.Fates:
    return np.array([letter == "x" for letter in text])


def covers(estimate: Estimate | None, truth: float) -> bool:
    assert estimate is not None
    return estimate.low is not None and estimate.high is not None and estimate.low <= truth <= estimate.high


def test_a_run_is_a_sequence_of_losses_without_a_gap() -> None:
    assert count_runs(fates("xx..x.xxx")) == 3


def test_without_loss_there_is_no_model_but_an_upper_bound() -> None:
    fitted = fit_losses(fates("." * 100))
    assert (fitted.model, fitted.lost, fitted.share.low) == ("none", 0, 0.0)
    assert fitted.share.high == pytest.approx(1 - 0.025 ** (1 / 100))


def test_the_test_of_independence_is_the_exact_share_of_arrangements() -> None:
    observed = fates("..xx....x.")
    arrangements = [np.isin(np.arange(10), lost) for lost in itertools.combinations(range(10), 3)]
    fewer = sum(count_runs(each) <= count_runs(observed) for each in arrangements)
    assert independence(observed) == pytest.approx(fewer / len(arrangements))


def test_independent_losses_are_called_bursty_no_more_often_than_the_level() -> None:
    rng = np.random.default_rng(11)
    rejected = np.mean([independence(rng.random(2000) < 0.05) < 0.05 for _ in range(1500)])
    assert 0.02 <= rejected <= 0.065


def test_independent_losses_keep_their_model() -> None:
    fitted = fit_losses(np.random.default_rng(5).random(3000) < 0.03)
    assert fitted.model == "independent"
    assert fitted.p is None
    assert covers(fitted.share, 0.03)


def test_p_and_r_are_shares_of_transitions() -> None:
    p, r = simple_gilbert(fates("..xx.....x...xx."))
    assert (p.point, p.n) == (3 / 10, 10)
    assert (r.point, r.n) == (3 / 5, 5)


def test_the_intervals_of_p_and_r_keep_their_coverage() -> None:
    fitted = [simple_gilbert(lost) for lost in samples.gilbert_elliott(range(1000), 4000, p=0.01, r=0.3)]
    for index, truth in enumerate((0.01, 0.3)):
        assert 0.94 <= np.mean([covers(each[index], truth) for each in fitted]) <= 0.985


def test_the_interval_of_the_share_is_wider_for_bursts_and_keeps_its_coverage() -> None:
    p, r, n = 0.02, 0.25, 3000
    truth = p / (p + r)
    shares = []
    for lost in samples.gilbert_elliott(range(600), n, p=p, r=r):
        found = [each.point or 0.0 for each in simple_gilbert(lost)]
        shares.append(share_in_bursts(int(lost.sum()), n, [*found, 1.0, 0.0]))
    assert 0.92 <= np.mean([covers(each, truth) for each in shares]) <= 0.985
    binomial = math.sqrt(truth * (1 - truth) / n) * 2 * 1.96
    assert np.mean([(each.high or 0) - (each.low or 0) for each in shares]) > 2 * binomial


def test_a_simple_gilbert_link_is_recognized() -> None:
    models = [fit_losses(lost).model for lost in samples.gilbert_elliott(range(24), 2000, p=0.02, r=0.25)]
    assert models.count("independent") == 0
    assert models.count("gilbert-elliott") <= 4


def test_the_likelihood_is_that_of_the_hidden_chain() -> None:
    lost = fates("x..xx...")
    p, r, bad_loss, good_loss = 0.2, 0.4, 0.7, 0.05
    total = 0.0
    for path in itertools.product((False, True), repeat=len(lost)):
        chance = (p if path[0] else r) / (p + r)
        for before, after in itertools.pairwise(path):
            leave = r if before else p
            chance *= leave if after != before else 1 - leave
        for bad, gone in zip(path, lost, strict=True):
            loss = bad_loss if bad else good_loss
            chance *= loss if gone else 1 - loss
        total += chance
    assert log_likelihood(Runs.of(lost), p, r, bad_loss, good_loss) == pytest.approx(math.log(total))


def test_four_parameters_are_estimated_and_their_intervals_cover_them() -> None:
    truth = {"p": 0.01, "r": 0.05, "bad_loss": 0.5, "good_loss": 0.01}
    sequences = samples.gilbert_elliott(range(24), 12000, **truth)
    fitted = [fit_losses(lost) for lost in sequences]
    assert [each.model for each in fitted] == ["gilbert-elliott"] * 24
    for name, value in truth.items():
        estimates: list[Estimate] = [getattr(each, name) for each in fitted]
        assert np.median([each.point or 0 for each in estimates]) == pytest.approx(value, rel=0.1)
        assert np.mean([covers(each, value) for each in estimates]) >= 0.87


def test_the_papers_burst_channel_is_recovered() -> None:
    (lost,) = samples.gilbert_elliott([3], 100_000, p=0.01, r=0.1, bad_loss=0.7, good_loss=0.001)
    fitted = fit_losses(lost)
    assert fitted.model == "gilbert-elliott"
    for estimate, truth in ((fitted.p, 0.01), (fitted.r, 0.1), (fitted.bad_loss, 0.7), (fitted.good_loss, 0.001)):
        assert estimate is not None
        assert estimate.point == pytest.approx(truth, rel=0.25)


def test_the_bad_state_is_the_one_that_loses_more() -> None:
    (lost,) = samples.gilbert_elliott([4], 12000, p=0.01, r=0.05, bad_loss=0.5, good_loss=0.01)
    hidden = fit(lost, 0.4, 0.02)
    assert (hidden.bad_loss.point or 0) > (hidden.good_loss.point or 1)


@pytest.mark.parametrize("text", ["." * 200 + "x" * 9, "x" * 9 + "." * 200])
def test_one_burst_without_a_beginning_or_an_end_gives_no_burst_model(text: str) -> None:
    fitted = fit_losses(fates(text))
    assert fitted.model == "independent"
    assert (fitted.p_independent or 1) < 1e-6


def test_losing_everything_is_a_loss_of_100_percent() -> None:
    fitted = fit_losses(fates("xxxx"))
    assert (fitted.model, fitted.share.point) == ("independent", 1.0)


@pytest.mark.parametrize(
    "parameters",
    [(0.0, 0.0, 1.0, 0.0), (1.0, 0.0, 1.0, 0.0), (1.0, 1.0, 1.0, 0.0), (0.5, 1e-300, 1.0, 0.0), (0.1, 0.2, 0.0, 0.0)],
)
def test_parameters_at_their_bounds_give_an_interval_around_the_share(parameters: tuple[float, ...]) -> None:
    share = share_in_bursts(3, 10, parameters)
    assert share.low is not None
    assert share.high is not None
    assert 0 <= share.low <= 0.3 <= share.high <= 1


def test_a_state_that_never_changes_leaves_any_share_possible() -> None:
    share = share_in_bursts(3, 10, (0.0, 0.0, 1.0, 0.0))
    assert (share.low, share.high) == (0.0, 1.0)
