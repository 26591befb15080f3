"""Do the loss models lose what theory says? Offline, 10 million packets for each model and seed."""

from __future__ import annotations

from bench.build import example
from bench.process import run
from bench.results import Answer, Target
from bench.setup import Setup

DEVIATION = 3.29
"""Standard errors: 99.9 % of a normal distribution lie within."""
_TIMEOUT_S = 300.0
_FIGURES = 9
"""Words behind a model's name: seed, theory %, loss %, deviation, chi-square, degrees of freedom, bound."""


def answer(setup: Setup) -> Answer:
    """Every random model, as `crates/wirelab-link/examples/loss_figures.rs` has it."""
    found = Answer(
        "loss",
        "Loss models against theory, 10 million packets offline",
        ("model", "seed", "theory/%", "loss/%", "off by/s.e.", "chi-square", "degrees", "99.9 % bound"),
    )
    found.notes.append(
        "rate: deviation from theory in standard errors, correlation of losses counted; runs: Pearson's chi-square of "
        "the lengths of runs of losses. A loss pattern is not random and has exact tests"
    )
    with setup.place(setup.users[0]) as place:
        text = run([str(example("loss_figures"))], place, _TIMEOUT_S)
    deviations: dict[str, list[float]] = {}
    runs: dict[str, list[float]] = {}
    for line in text.splitlines()[1:]:
        model, *words = line.rsplit(maxsplit=_FIGURES)
        seed, theory, lost, deviation, statistic, degrees, bound = (float(word) for word in words if word != "%")
        found.rows.append((model, int(seed), theory, lost, deviation, statistic, int(degrees), bound))
        deviations.setdefault(model, []).append(abs(deviation))
        runs.setdefault(model, []).append(statistic / bound)
    for model, of_seeds in deviations.items():
        found.targets += [
            Target(f"{model}: rate off by, worst seed", "s.e.", max(of_seeds), "<=", DEVIATION),
            Target(f"{model}: runs, chi-square over its bound, worst seed", "", max(runs[model]), "<=", 1.0),
        ]
    return found
