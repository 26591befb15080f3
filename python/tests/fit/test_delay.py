import numpy as np
import pytest

from tests.fit import samples
from wirelab.fit import Observations
from wirelab.fit.delay import quantile, spreads, successive, table


def seen(rtts: list[int], **more: object) -> Observations:
    return Observations(kind="a ping log", packets="echo requests", round_trips_ns=np.array(rtts), **more)  # type: ignore[arg-type]


def test_a_delay_table_reaches_from_the_minimum_to_the_maximum() -> None:
    delays = (samples.round_trips_ms(1, 5000) * 1e6).astype(np.int64)
    spread = table(delays)
    assert len(spread.offsets_ns) == 101
    assert spread.mean_ns + spread.offsets_ns[0] == delays.min()
    assert spread.mean_ns + spread.offsets_ns[-1] == delays.max()
    assert list(spread.offsets_ns) == sorted(spread.offsets_ns)


def test_an_emulated_delay_table_has_the_measured_distribution() -> None:
    delays = (samples.round_trips_ms(2, 5000) * 1e6).astype(np.int64)
    spread = table(delays)
    at = np.random.default_rng(3).random(200_000) * (len(spread.offsets_ns) - 1)
    emulated = spread.mean_ns + np.interp(at, np.arange(len(spread.offsets_ns)), spread.offsets_ns)
    assert emulated.mean() == pytest.approx(spread.mean_ns, rel=2e-3)
    for q in (0.1, 0.5, 0.9, 0.99):
        assert np.quantile(emulated, q) == pytest.approx(np.quantile(delays, q), rel=5e-3)


def test_few_values_give_a_short_table_and_equal_ones_none() -> None:
    assert len(table(np.array([1000, 2000, 4000])).offsets_ns) == 3
    assert table(np.array([7, 7, 7])).offsets_ns == ()


def test_from_round_trips_each_way_gets_half_the_minimum_and_the_uplink_the_spread() -> None:
    both = spreads(seen([20, 30, 40]))
    assert (both["downlink"].mean_ns, both["downlink"].offsets_ns) == (10, ())
    assert both["uplink"].mean_ns + both["uplink"].offsets_ns[0] == 10
    assert both["uplink"].mean_ns + both["uplink"].offsets_ns[-1] == 30


def test_one_way_delays_keep_their_own_spread_around_an_equal_split() -> None:
    ways = {"uplink": np.array([112, 115, 118]), "downlink": np.array([-92, -92, -92])}
    both = spreads(seen([20, 23, 26], one_way_ns=ways))
    assert both["uplink"].mean_ns + both["uplink"].offsets_ns[0] == 10
    assert both["uplink"].mean_ns + both["uplink"].offsets_ns[-1] == 16
    assert (both["downlink"].mean_ns, both["downlink"].offsets_ns) == (10, ())


def test_one_way_delays_of_synchronised_clocks_are_used_unchanged() -> None:
    ways = {"uplink": np.array([15, 15]), "downlink": np.array([5, 5])}
    both = spreads(seen([20, 20], one_way_ns=ways, clocks_agree=True))
    assert (both["uplink"].mean_ns, both["downlink"].mean_ns) == (15, 5)


def test_round_trips_of_a_transfer_give_no_jitter_of_the_link() -> None:
    both = spreads(seen([20, 30, 40], spread_is_links=False))
    assert [both[way].offsets_ns for way in ("uplink", "downlink")] == [(), ()]


def test_a_median_of_few_values_has_no_interval() -> None:
    assert quantile(np.array([10, 20, 30]), 0.5).low is None


def test_the_interval_of_a_median_keeps_its_coverage() -> None:
    truth = float(np.median(np.random.default_rng(0).gamma(1.5, 4.0, 10**6)))
    covered = 0
    for seed in range(400):
        estimate = quantile((np.random.default_rng(seed + 1).gamma(1.5, 4.0, 101) * 1e9).astype(np.int64), 0.5)
        assert estimate.low is not None
        assert estimate.high is not None
        covered += estimate.low <= truth <= estimate.high
    assert 0.92 <= covered / 400 <= 0.985


def test_correlated_successive_delays_are_reported() -> None:
    rng = np.random.default_rng(5)
    walk = np.convolve(rng.normal(size=5001), [1, 1], mode="valid")
    assert successive((walk * 1e6).astype(np.int64)) == pytest.approx(0.48, abs=0.04)
    assert successive(rng.integers(0, 10**6, 5000)) == pytest.approx(0, abs=0.04)
    assert successive(np.array([5] * 50)) is None
