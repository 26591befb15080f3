"""Links of tests, with what the agent says of them: each is asked once in a session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from wirelab.experiment import experiment, interop
from wirelab.experiment.experiment import Check, Experiment
from wirelab.experiment.link import single as links
from wirelab.link_facts import asking
from wirelab.schema import Description, DirectionFacts, LinkFacts, LinkSpec, canonical_json, link_key
from wirelab.schema.link_answer import AskLink

Json = Mapping[str, Any]


def ask(link: LinkSpec) -> LinkFacts:
    """What the agent says of a link."""
    return _asked(canonical_json(link.to_json()))


@cache
def _asked(text: str) -> LinkFacts:
    with asking() as found:
        return found(LinkSpec.model_validate_json(text))


def facts(link: Json) -> LinkFacts:
    """The same of a link's JSON, of which a direction may be left out."""
    return ask(LinkSpec.model_validate({"uplink": [], "downlink": [], **link}))


def chain(*stages: Json) -> DirectionFacts:
    """Of one direction."""
    return facts({"uplink": stages}).uplink


def load_experiment(
    name: str, sets: Iterable[str] = (), known: Description | None = None, check: Check | None = None
) -> Experiment:
    return experiment.load_experiment(name, sets, ask, known, check)


def single_link(word: str, sets: Sequence[str] = (), others: Iterable[str] = ()) -> LinkSpec:
    return links.single_link(word, sets, ask, others)


def interop_experiment(folder: Path, only: interop.Only, **more: Any) -> Experiment:
    return interop.interop_experiment(folder, only, ask, **more)


def facts_of_plan(plan: Mapping[str, Any], ask: AskLink) -> dict[str, Any]:
    """The value of `link_facts` for the JSON of a plan: facts of every link of its scenarios, by `link_key`.

    For plans of before they had any.
    """
    found: dict[str, Any] = {}
    for link in _links(plan):
        key = link_key(link)
        if key not in found:
            found[key] = ask(LinkSpec.model_validate(link)).model_dump(mode="json")
    return found


def _links(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for scenario in plan["scenarios"]:
        more: Iterable[Mapping[str, Any]] = scenario.get("topology") or ()
        yield from (each for each in (scenario["link"], *(one.get("link") for one in more)) if each is not None)
