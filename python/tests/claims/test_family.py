"""Judging claims as a family: what the error rate means, and how parts combine."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from tests.claims.fakes import Noted
from tests.repeats import repeats
from wirelab.claims.family import Rules, judge, judge_family
from wirelab.claims.forms import NotMeasured, Order
from wirelab.claims.model import Claim
from wirelab.claims.part import Levels
from wirelab.stats.estimate.bootstrap import Draws
from wirelab.stats.link.grade import DISTURBED

RULES = Rules(0.05, 1.25, {})


class Noise(Noted):
    """Every mean is truly 1; each is drawn again with an error of 1 %."""

    def __init__(self, rng: np.random.Generator, effects: dict[str, float] | None = None) -> None:
        super().__init__()
        self.gone: frozenset[str] | None = None
        self.bad: dict[str, str] = {}
        self.waits: dict[str, float] = {}
        self.why = ""
        self.rng = rng
        self.effects = effects or {}
        self.drawn: dict[frozenset[str], Draws] = {}
        self.late: dict[str, tuple[int, int]] = {}
        self.calm: Draws | None = None

    def draws(self, metric: str, statistic: str, levels: Levels, horizon_s: float | None = None) -> Draws | None:
        key = frozenset(levels.values())
        if key == self.gone:
            self.absent["gone"] = self.why
            return None
        if key not in self.drawn:
            point = 1 + sum(self.effects.get(level, 0) for level in key) + self.rng.normal(0, 0.01)
            self.drawn[key] = Draws(point, point + self.rng.normal(0, 0.01, 4000), 1e6, 100)
        self.unusable |= {level: why for level, why in self.bad.items() if level in key}
        self.waited |= {level: wait for level, wait in self.waits.items() if level in key}
        self.disturbed |= {level: self.late[level] for level in self.late if level in key}
        if self.without == DISTURBED and not self.late.keys().isdisjoint(key):
            return self.calm
        if self.without in key:
            return self.drawn[key].less(self.waits[self.without])
        return self.drawn[key]


def _claim(name: str, cells: int = 1) -> Claim:
    part = Order(
        form="order", metric="delay", ascending=[{"protocol": f"{name}-a"}, {"protocol": f"{name}-b"}],
        over={"link": [f"{name}-{cell}" for cell in range(cells)]},
    )  # fmt: skip
    return Claim.model_construct(id=name, text=name, note=None, parts=[part])


@pytest.mark.simulation
def test_the_family_error_rate_holds_if_no_claim_has_an_effect() -> None:
    rng = np.random.default_rng(17)
    claims = [_claim(f"c{number}", cells) for number, cells in enumerate((1, 1, 1, 4, 4, 8))]
    families = repeats(300)
    wrong = sum(
        any(judged.verdict != "inconclusive" for judged in judge_family(claims, Noise(rng), RULES))
        for _ in range(families)
    )
    assert wrong <= binom.ppf(0.999, families, 0.05)


def test_without_the_family_correction_the_error_rate_is_exceeded() -> None:
    rng = np.random.default_rng(17)
    claims = [_claim(f"c{number}") for number in range(6)]
    wrong = sum(
        any(judge(claim, source, 0.05, RULES).verdict != "inconclusive" for claim in claims)
        for source in (Noise(rng) for _ in range(300))
    )
    assert wrong > binom.ppf(0.999, 300, 0.05)


def test_a_decided_claim_leaves_its_share_of_the_error_rate_to_the_others() -> None:
    borderline = next(
        seed for seed in range(400)
        if _borderline(np.random.default_rng(seed))
    )  # fmt: skip
    rng = np.random.default_rng(borderline)
    source = Noise(rng, {"x-b": 0.026})
    alone = judge(_claim("x"), source, 0.05, RULES)
    assert alone.verdict == "confirmed"
    uncertain = judge_family([_claim("x"), _claim("y"), _claim("z")], source, RULES)[0]
    assert uncertain.verdict == "inconclusive"
    assert "not among 3 claims" in uncertain.why
    source.effects |= {"y-b": 1.0, "z-b": 1.0}
    for name in ("y", "z"):
        for key in [key for key in source.drawn if any(level.startswith(name) for level in key)]:
            del source.drawn[key]
    assert judge_family([_claim("x"), _claim("y"), _claim("z")], source, RULES)[0].verdict == "confirmed"


def _borderline(rng: np.random.Generator) -> bool:
    """Decided at 5 % and not at a third of it, while the two other claims are decided at neither."""
    source = Noise(rng, {"x-b": 0.026})
    x, y, z = (_claim(name) for name in "xyz")
    return (
        judge(x, source, 0.05, RULES).verdict == "confirmed"
        and judge(x, source, 0.05 / 3, RULES).verdict == "inconclusive"
        and all(judge(claim, source, 0.05, RULES).verdict == "inconclusive" for claim in (y, z))
    )


def test_one_contradicted_part_contradicts_the_claim_and_is_named() -> None:
    source = Noise(np.random.default_rng(0), {"c-b": 1.0})
    source.drawn[frozenset({"c-a", "c-2"})] = Draws(5.0, np.full(4000, 5.0), 100, 100)
    judged = judge(_claim("c", 4), source, 0.05, RULES)
    assert judged.verdict == "contradicted"
    assert "3 confirmed, 1 contradicted" in judged.why
    assert "c-2" in judged.why


def test_a_claim_with_an_inconclusive_part_is_inconclusive() -> None:
    source = Noise(np.random.default_rng(0), {"c-b": 1.0})
    source.drawn[frozenset({"c-a", "c-1"})] = source.draws("delay", "mean", {"x": "c-b", "y": "c-1"})  # type: ignore[assignment]
    judged = judge(_claim("c", 2), source, 0.05, RULES)
    assert judged.verdict == "inconclusive"


def test_missing_scenarios_are_reported_for_inconclusive_claims_and_not_for_contradicted_ones() -> None:
    source = Noise(np.random.default_rng(0), {"c-b": 1.0})
    parts = judge(_claim("c", 2), source, 0.05, RULES)
    assert (parts.verdict, parts.missing) == ("confirmed", False)
    source.gone = frozenset({"c-a", "c-1"})
    parts = judge(_claim("c", 2), source, 0.05, RULES)
    assert (parts.verdict, parts.missing) == ("inconclusive", True)
    source.drawn[frozenset({"c-a", "c-0"})] = Draws(5.0, np.full(4000, 5.0), 100, 100)
    parts = judge(_claim("c", 2), source, 0.05, RULES)
    assert (parts.verdict, parts.missing) == ("contradicted", False)


def test_a_claim_of_many_parts_says_which_setting_was_not_in_force() -> None:
    source = Noise(np.random.default_rng(0), {"c-b": 1.0})
    source.gone, source.why = frozenset({"c-a", "c-1"}), "a setting was not in force: a window of 1"
    several = judge(_claim("c", 3), source, 0.05, RULES)
    assert several.why == "of 3 parts 2 confirmed, 1 inconclusive; a setting was not in force: a window of 1"
    assert [part.why.count("not in force") for part in several.parts] == [0, 1, 0]
    source.drawn[frozenset({"c-a", "c-0"})] = Draws(5.0, np.full(4000, 5.0), 100, 100)
    contradicted = judge(_claim("c", 3), source, 0.05, RULES)
    assert (contradicted.verdict, "not in force" in contradicted.why) == ("contradicted", False)


def test_parts_outside_the_verdict_use_none_of_the_error_rate() -> None:
    claim = _claim("c")
    beside = [part.model_copy(update={"beside": "here too"}) for part in _claim("c", 20).parts]
    both = Claim.model_construct(id="c", text="c", note=None, parts=[*claim.parts, *beside])
    source = Noise(np.random.default_rng(0), {"c-a": 0.033})
    assert judge(claim, source, 0.05, RULES).verdict == "contradicted"
    assert judge(both, source, 0.05, RULES).verdict == "contradicted"
    twenty_one = Claim.model_construct(id="c", text="c", note=None, parts=_claim("c", 21).parts)
    assert judge(twenty_one, source, 0.05, RULES).parts[0].verdict == "inconclusive"


def test_a_claim_decided_by_one_part_has_that_parts_reason() -> None:
    decides = NotMeasured(form="not-measured", reason="nobody looked")
    beside = Order(
        form="order", metric="delay", ascending=[{"protocol": "a"}, {"protocol": "b"}], beside="here"
    )  # fmt: skip
    claim = Claim.model_construct(id="c", text="c", note=None, parts=[decides, beside])
    judged = judge(claim, Noise(np.random.default_rng(1), {"b": 1.0}), 0.05, RULES)
    assert (judged.verdict, judged.why) == ("inconclusive", "not measured: nobody looked")
    assert [part.verdict for part in judged.parts] == ["inconclusive", "confirmed"]


def test_claims_that_no_data_can_decide_take_nothing_of_the_error_rate() -> None:
    source = Noise(np.random.default_rng(0), {"c-a": 0.033})
    [alone] = judge_family([_claim("c")], source, RULES)
    nobody = [
        Claim.model_construct(
            id=f"n{number}", text="n", note=None, parts=[NotMeasured(form="not-measured", reason="nobody looked")]
        )
        for number in range(20)
    ]
    among, *others = judge_family([_claim("c"), *nobody], source, RULES)
    assert (among.verdict, among.judged) == (alone.verdict, alone.judged) == ("contradicted", alone.judged)
    assert not any(other.decidable for other in others)


def test_a_claim_on_a_scenario_of_unusable_quality_is_inconclusive() -> None:
    source = Noise(np.random.default_rng(0), {"c-b": 1.0})
    assert judge(_claim("c"), source, 0.05, RULES).verdict == "confirmed"
    source.bad = {"c-b": "the clock stepped"}
    judged = judge(_claim("c"), source, 0.05, RULES)
    assert (judged.verdict, judged.decidable) == ("inconclusive", False)
    assert judged.why.endswith("it would be confirmed, but the quality of c-b is unusable: the clock stepped")
    source.effects = {"c-a": 5.0}
    source.drawn.clear()
    assert "it would be contradicted" in judge(_claim("c"), source, 0.05, RULES).why


@pytest.mark.parametrize(("wait_s", "verdict"), [(0.2, "confirmed"), (0.99, "inconclusive"), (1.5, "inconclusive")])
def test_a_verdict_must_survive_without_the_cpu_waiting_of_each_scenario(wait_s: float, verdict: str) -> None:
    source = Noise(np.random.default_rng(0), {"c-b": 1.0})
    source.waits = {"c-b": wait_s}
    judged = judge(_claim("c"), source, 0.05, RULES)
    assert judged.verdict == verdict
    assert ("of CPU waiting of c-b" in judged.why) == (verdict == "inconclusive")
    assert source.without is None


@pytest.mark.parametrize(("without", "verdict"), [(2.0, "confirmed"), (1.0, "inconclusive")])
def test_a_verdict_must_survive_without_the_exchanges_that_the_emulator_disturbed(without: float, verdict: str) -> None:
    source = Noise(np.random.default_rng(0), {"c-b": 1.0})
    source.late = {"c-b": (9, 7)}
    source.calm = Draws(without, without + np.random.default_rng(1).normal(0, 0.01, 4000), 1e6, 100)
    judged = judge(_claim("c"), source, 0.05, RULES)
    assert judged.verdict == verdict
    words = "it would be confirmed, but not without the 2 of 9 exchanges during which the link was late"
    assert judged.why.endswith(words) == (verdict == "inconclusive")
    assert source.without is None


def test_a_set_up_without_the_cause_cannot_contradict_or_confirm() -> None:
    source = Noise(np.random.default_rng(0), {"c-b": 1.0, "d-a": 1.0})
    for name, key, verdict in (("c", "cannot_confirm", "confirmed"), ("d", "cannot_contradict", "contradicted")):
        [part] = _claim(name).parts
        assert judge(_claim(name), source, 0.05, RULES).verdict == verdict
        cannot = part.model_copy(update={key: "this link loses nothing"})
        judged = judge(Claim.model_construct(id=name, text=name, note=None, parts=[cannot]), source, 0.05, RULES)
        assert (judged.verdict, judged.decidable) == ("inconclusive", True)
        assert judged.why.endswith("this link loses nothing")


def test_a_claim_on_standard_deviations_says_that_they_are_descriptive() -> None:
    [part] = _claim("c").parts
    sd = Claim.model_construct(id="c", text="c", note=None, parts=[part.model_copy(update={"statistic": "sd"})])
    judged = judge(sd, Noise(np.random.default_rng(0), {"c-b": 1.0}), 0.05, RULES)
    assert judged.rests_on_sd
    assert "descriptive" in judged.why
    assert not judge(_claim("c"), Noise(np.random.default_rng(0)), 0.05, RULES).rests_on_sd
