"""What `choose` runs, in which order, and how it becomes an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.answer.choose.candidates import Candidate, candidates
from wirelab.answer.choose.chosen import chosen
from wirelab.answer.choose.evidence import Evidence, Run
from wirelab.answer.choose.experiments import Group, Named, Variant, groups, text
from wirelab.answer.choose.measured import OfChoice, measured, vary_radio
from wirelab.answer.choose.network import Nat, Network
from wirelab.answer.choose.question import Asked, require_possible
from wirelab.answer.choose.ranking import LOOKS
from wirelab.answer.choose.timers import sleeps_alike
from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.experiment import library
from wirelab.launcher import launched
from wirelab.runner.budget import Budget
from wirelab.runner.campaign import FAILURES
from wirelab.schema.campaign import JOURNAL, EntryStatus, scan_journal
from wirelab.schema.choose import Apart
from wirelab.units import format_duration

if TYPE_CHECKING:
    from rich.console import Console

    from wirelab.experiment.experiment import Experiment
    from wirelab.experiment.grid.scenario import Scenario
    from wirelab.experiment.library import Profile
    from wirelab.metrics.energy_settings import Equipment
    from wirelab.schema.choose import Chosen, Lever, WinnerMap
    from wirelab.schema.exact import ExactBounds
    from wirelab.schema.link_answer import AskLink
    from wirelab.schema.plan import Plan

FIRST = 2
"""Replicates before the first table."""
OTHERWISE = 2
"""Replicates of every other combination of the network's settings."""
SPENT = Budget(-math.inf)
"""With it nothing is started."""
NOT_ENDED = frozenset({EntryStatus.CANCELLED, EntryStatus.DISCARDED})
"""What a trial may have come to without an end that counts."""
NOT_ALLOWED = "The budget did not allow"
TYPICAL, SETTINGS = "typical", "settings"
"""The campaigns under the network's typical settings, and under all others."""
PARTIAL = frozenset({TYPICAL, SETTINGS})
"""Campaigns of which a part says something."""


@dataclass
class Work:
    """One question, with everything that its answer needs."""

    asked: Asked
    folder: Path
    budget: Budget
    jobs: int | None
    console: Console
    equipments: Mapping[str, Equipment]
    network: Network
    candidates: Sequence[Candidate]
    apart: Sequence[Apart]
    kernel: str | None
    warnings: list[str]
    files: Mapping[str, str]
    """Profiles of the user's own, by their links' names."""
    links: dict[str, Mapping[str, object]] = field(default_factory=dict)
    """Links that are not shipped, as an experiment has them."""
    radios: dict[str, dict[str, Equipment]] = field(default_factory=dict)
    """By link: radios by the names of their settings."""
    link_words: str = ""
    rtt_ns: int = 0
    runs: dict[Run, OfChoice] = field(default_factory=dict)
    timed: Mapping[tuple[Run, str], OfChoice | None] = field(default_factory=dict)
    delays_known: bool = False
    """Whether settings of the radio that move packets are run."""
    kept: dict[Run, tuple[str, str]] = field(default_factory=dict)
    """The campaign and the scenario's key of each."""
    programs: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    """Why the link cannot carry a protocol, by its name."""
    levers: list[Lever] = field(default_factory=list)
    worse: list[str] = field(default_factory=list)
    """Changes that were tried and deliver worse."""
    maps: list[WinnerMap] = field(default_factory=list)
    tails: Mapping[str, ExactBounds] = field(default_factory=dict)
    spent_s: float = 0.0
    """What trials took of this machine's time, all included."""
    trials: int = 0
    """How many these were."""
    fresh: bool = False
    """Archive what the folders have before their first run."""
    begun: set[str] = field(default_factory=set)
    """Campaigns that were run by this call."""
    lacking: str = ""
    """What the last campaign lacks because the budget ended, in words; empty if it is whole."""
    lacking_trials: int = 0
    """How many trials that are, also of a campaign that the budget did not allow at all."""

    @classmethod
    def of(cls, asked: Asked, folder: Path, budget_ns: int, jobs: int | None, console: Console) -> Work:
        """Everything that is wrong with the question is raised here, before anything is run."""
        from wirelab.cli.choose.equipment import equipments
        from wirelab.clock.kernel import find_kernel
        from wirelab.experiment.programs.own_protocols import own_protocols
        from wirelab.schema import registered

        profile = _profile(asked.link)
        files = {profile.name: str(Path(asked.link).resolve())} if library.is_profile_file(asked.link) else {}
        asked = replace(asked, link=profile.name)
        radios = equipments(asked, (profile.name, *profile.grants))
        network = Network.of(profile, radios.get(profile.name))
        protocols = (*registered().protocols, *own_protocols(others()))
        found, apart = candidates(asked, protocols, network.forgets, "--protocols")
        kernel, warnings = find_kernel(), list[str]()
        if kernel is None:
            found = [each for each in found if each.keep_alive_ns is None]
            network = network.without_runs()
            warnings.append(
                "NAT time-outs and keep-alives were not measured: they need the virtual clock's kernel, which "
                f"{launched('clock build')} builds."
            )
        work = cls(
            asked, folder, Budget.of(budget_ns), jobs, console, radios, network, found, apart,
            None if kernel is None else kernel.version, warnings, files,
        )  # fmt: skip
        usual = next(iter(network.radios))
        work.radios = {link: {usual: each} for link, each in radios.items()}
        work.links = {link: {"profile": file} for link, file in files.items()}
        if profile.name in radios and not sleeps_alike(profile.link, radios[profile.name].radio):
            warnings.append(
                f"The radio {radios[profile.name].radio.name} falls asleep at other times than the link, so its energy "
                "may be wrong: give --radio a file with the link's timers."
            )
        work._check()
        return work

    def answer(self, show: Callable[[Chosen], None]) -> Chosen:
        """Run until it is settled or the budget is spent, the most important first."""
        from wirelab.cli.choose.levers import levers, radio_levers
        from wirelab.cli.choose.maps import maps
        from wirelab.cli.choose.tails import tails
        from wirelab.cli.choose.timers import timed

        typical = {each.name: self.network.nats[:1] or (None,) for each in self.candidates}
        settled = False
        for replicates in (FIRST, *(LOOKS if self.virtual else LOOKS[:1])):
            found = self.run(TYPICAL, self.candidates, self.network.links[:1], typical, replicates)
            if found is None:
                if not self.runs:
                    self.left_out("the first runs")
                break
            self.runs |= found
            if self.lacking:
                # Some choices have more trials than others, and the budget is spent.
                self.left_out(self.lacking, self.lacking_trials)
                break
            settled = replicates >= LOOKS[0] and self._is_settled()
            if settled:
                break
            if replicates == FIRST:
                show(self.record(settled=False))
        self._vary_radio(TYPICAL)
        self.tails = tails(self)
        self.levers = levers(self)
        self._run_settings()
        self.timed = timed(self)
        of_radio, worse = radio_levers(self.evidence())
        self.levers = sorted([*self.levers, *of_radio], key=lambda lever: lever["ratio"])
        self.worse += worse
        self.maps = maps(self)
        return self.record(settled=settled)

    def _run_settings(self) -> None:
        """Other links and NATs, and other settings of the radio on each."""
        if any(axis["runs"] == "always" for axis in self.network.axes):
            nats = {each.name: self.network.nats_of(each) for each in self.candidates}
            known = dict(self.kept)
            found = self.run(SETTINGS, self.candidates, self.network.links, nats, OTHERWISE)
            # What is typical has more replicates already.
            self.runs, self.kept = {**(found or {}), **self.runs}, {**self.kept, **known}
            if found is None:
                self.left_out("the network's other settings", self.lacking_trials)
            elif self.lacking:
                self.left_out(f"{self.lacking} under the network's other settings", self.lacking_trials)
        self._vary_radio(SETTINGS)

    @property
    def virtual(self) -> bool:
        """Whether the kernel of the virtual clock is there."""
        return self.kernel is not None

    def evidence(self) -> Evidence:
        """What is known so far."""
        known = [each for each in self.candidates if each.protocol not in self.refused]
        return Evidence(
            asked=self.asked, network=self.network, candidates=known, equipments=self.equipments, runs=self.runs,
            timed=self.timed, delays_known=self.delays_known,
            apart=[*self.apart, *(Apart(protocol=name, why=why) for name, why in self.refused.items())],
            levers=self.levers, worse=self.worse, maps=self.maps, tails=self.tails,
            programs=self.programs, link_words=self.link_words,
            clock="virtual" if self.virtual else "live", kernel=self.kernel, warnings=self.warnings,
        )  # fmt: skip

    def _is_settled(self) -> bool:
        evidence = self.evidence()
        return evidence.is_settled(evidence.typical)

    def record(self, *, settled: bool) -> Chosen:
        """The answer so far."""
        return chosen(self.evidence(), settled=settled)

    @property
    def pace_s(self) -> float:
        """What a trial took of this machine's time on average, all included; 0 before the first."""
        return self.spent_s / max(1, self.trials)

    def left_out(self, what: str, trials: int = 0) -> None:
        """Say what the budget did not allow, and what so many trials of it would take, if any has been run."""
        if any(each.startswith(f"{NOT_ALLOWED} {what}") for each in self.warnings):
            return
        takes_s = math.ceil(self.pace_s * trials)
        takes = f", which takes {format_duration(takes_s * 1e9)} or longer" if takes_s else ""
        self.warnings.append(f"{NOT_ALLOWED} {what}{takes}; a longer --budget continues.")

    def profile(self, link: str) -> Profile:
        """Of the link that was asked for, or of another that its operator grants."""
        return library.profile_file(Path(self.files[link])) if link in self.files else library.profiles()[link]

    def written(self, link: str) -> str:
        """How an experiment names a link's profile."""
        return self.files.get(link, link)

    def run(  # noqa: PLR0913, PLR0917 (what is run, and how often)
        self,
        name: str,
        members: Sequence[Candidate],
        links: Sequence[str],
        nats: Mapping[str, Sequence[Nat | None]],
        replicates: int,
        variant: Variant | None = None,
        asked: Asked | None = None,
    ) -> dict[Run, OfChoice] | None:
        """Run and measure what the folder lacks; None if the budget does not allow it. If the budget ends meanwhile,
        what was measured until then counts, and `lacking` says how much was not run.
        """
        from wirelab.link_facts import asking

        with asking() as ask:
            loaded, scenarios = self.scenarios(members, links, nats, ask, variant, asked)
        return self._campaign(name, loaded, scenarios, replicates)

    def _check(self) -> None:
        """Refuse what this link cannot do at all. Raises `WirelabError`."""
        from wirelab.experiment.duration.path import path
        from wirelab.link_facts import asking
        from wirelab.report.sections.plan import link_words

        one = self.candidates[:1]
        with asking() as ask:
            nats = {one[0].name: self.network.nats[:1] or (None,)}
            _, scenarios = self.scenarios(one, self.network.links[:1], nats, ask)
        facts = next(iter(scenarios.values())).facts[0]
        self.link_words = link_words(facts)
        up, down = path(facts).ways
        self.rtt_ns = up.delay_ns + down.delay_ns
        require_possible(self.asked, self.rtt_ns, up.rate_bps, down.rate_bps)

    def scenarios(  # noqa: PLR0913, PLR0917 (what is run, and how)
        self,
        members: Sequence[Candidate],
        links: Sequence[str],
        nats: Mapping[str, Sequence[Nat | None]],
        ask: AskLink,
        variant: Variant | None = None,
        asked: Asked | None = None,
    ) -> tuple[Experiment, dict[Run, Scenario]]:
        """One experiment that has all of them, and its scenarios by what they are of."""
        found, loaded = dict[Run, "Scenario"](), None
        for group in groups(members, links, nats):
            loaded = self._loaded(group, asked or self.asked, variant or Variant.of(self.asked), ask)
            by_protocol = {each.protocol: each for each in group.members}
            for scenario in loaded.scenarios:
                candidate = by_protocol[scenario.protocol]
                nat = "" if group.nat is None else f"; NAT {group.nat.words}"
                link = scenario.link_name
                found[candidate.name, link, group.nat] = replace(scenario, name=f"{candidate.name}; {link}{nat}")
                client, server = (scenario.implementation[role] for role in ("client", "server"))
                self.programs[candidate.name] = client if client == server else f"{client}, {server}"
        assert loaded is not None, "there is a candidate"
        return replace(loaded, scenarios=tuple(found.values())), found

    def _loaded(self, group: Group, asked: Asked, variant: Variant, ask: AskLink) -> Experiment:
        from wirelab.claims.check import metric_and_claims
        from wirelab.experiment.experiment import resolve
        from wirelab.experiment.file.source import source_of_text
        from wirelab.experiment.programs.own_protocols import own_protocols
        from wirelab.runner.implementations import load
        from wirelab.schema import Role, registered

        folder = others()
        own = own_protocols(folder)
        entries = ((name, program.role(Role.CLIENT)) for name, program in load(folder).items())
        spoken = {
            protocol.name: name
            for name, entry in entries
            for protocol in own
            if entry is not None and protocol.name in entry.protocols
        }
        written = text(group, asked, variant, Named(spoken, self.links), virtual=self.virtual)
        source = source_of_text(written, "choose", folder)
        return resolve(source, registered().with_protocols(own), ask, metric_and_claims)

    def _campaign(
        self, name: str, loaded: Experiment, scenarios: Mapping[Run, Scenario], replicates: int
    ) -> dict[Run, OfChoice] | None:
        from wirelab.plan import make_plan
        from wirelab.runner.barriers import link_barrier, program_barrier
        from wirelab.runner.entries import needed_programs

        stop = loaded.stop.model_copy(update={"replicates": (replicates, replicates), "interval": None})
        plan = make_plan(
            replace(loaded, name=f"choose-{name}", stop=stop, claims=None, factors={}, choices={}, interpretations={})
        )
        programs = needed_programs(plan, loaded.source.folder)
        for planned in plan.scenarios:
            barrier = link_barrier(planned, plan) or program_barrier(planned, programs, plan.known)
            if barrier is not None:
                self.refused[planned.protocol] = f"{_begun(barrier.error, planned.link_name)}."
        keys = {run: planned.key for run, planned in zip(scenarios, plan.scenarios, strict=True)}
        plan = plan.without(frozenset(each.key for each in plan.scenarios if each.protocol in self.refused))
        if not plan.scenarios:
            what = f"{self.asked.link} carries none of these protocols: {next(iter(self.refused.values()))}"
            raise WirelabError(what, "--link", "another link, or other protocols")
        begins, self.lacking = name not in self.begun, ""
        again = NOT_ENDED | {EntryStatus.NOT_RUN} | (FAILURES if begins else frozenset())
        lacking = plan.trials if self.fresh and begins else _lacking(self.folder / name, plan, again)
        left_s = self.budget.left_s
        # What may stop between two replicates needs the time of one.
        least = min(lacking, len(plan.scenarios)) if name in PARTIAL else lacking
        starts = not lacking or 0 < left_s >= least * self.pace_s
        self.lacking_trials = lacking
        if not starts and (name not in PARTIAL or lacking == plan.trials):
            return None
        before = self.budget.left_s
        # What an earlier call has run of it counts all the same.
        found = self._measured(name, loaded, plan, self.budget if starts else SPENT)
        left = _lacking(self.folder / name, plan, NOT_ENDED)
        self.lacking, self.lacking_trials = f"{left:,} of {plan.trials:,} trials" if left else "", left
        if lacking > left:
            self.spent_s += before - self.budget.left_s
            self.trials += lacking - left
        if left:
            # What has no trial was not run.
            found = {key: each for key, each in found.items() if each.messages or each.failed_trials}
        if name in {TYPICAL, SETTINGS}:
            self.kept |= {run: (name, key) for run, key in keys.items() if key in found}
        return {run: found[key] for run, key in keys.items() if key in found}

    def _measured(self, name: str, loaded: Experiment, plan: Plan, budget: Budget) -> dict[str, OfChoice]:
        """By scenario's key, of the trials that the folder has and of those that start within the budget."""
        from wirelab.cli.progress import LiveProgress
        from wirelab.cli.terminate import terminated_as_interrupted
        from wirelab.metrics.dataset import measure
        from wirelab.runner.campaign import require_makeable
        from wirelab.runner.disk import faults_as_errors
        from wirelab.runner.lock import locked
        from wirelab.runner.start import Options, run_plan
        from wirelab.stats.dataset import Dataset

        folder = self.folder / name
        require_makeable(folder)
        self.console.print(f"{name}: {len(plan.scenarios)} scenarios, {plan.trials} trials", markup=False)
        begins = name not in self.begun
        self.begun.add(name)
        # The machine may be why trials of an earlier call failed.
        options = Options(
            jobs=self.jobs, fresh=self.fresh and begins, retry_failed=begins and budget is not SPENT,
            command=("wirelab", "choose"), beside=loaded.source.folder, budget=budget,
        )  # fmt: skip
        with terminated_as_interrupted() as check, LiveProgress(self.console, check) as progress:
            run_plan(plan, folder, options, None, progress)
        with faults_as_errors(folder), locked(folder):
            measure(folder)
        return measured(Dataset.read(folder), self.radios, self.asked.deadline_ns)

    def _vary_radio(self, name: str) -> None:
        """Apply other settings of the radio to a campaign's packets, of the choices that are not far behind."""
        from wirelab.stats.dataset import Dataset

        if len(self.network.radios) < 2:
            return
        radios = {link: self.network.variants(each) for link, each in self.equipments.items()}
        # With a deadline, what is far behind may be the only one that keeps it under another setting.
        near = self.evidence().near() if self.asked.deadline_ns is None else self.evidence().delivering()
        keys = {key: self.runs[run] for run, (campaign, key) in self.kept.items() if campaign == name and run in near}
        if keys:
            vary_radio(keys, Dataset.read(self.folder / name), radios)


def _lacking(campaign: Path, plan: Plan, again: Collection[EntryStatus]) -> int:
    """Trials that the campaign does not have, or that have come to one of these ends."""
    last = {entry.trial: entry.status for entry in scan_journal(campaign / JOURNAL).entries}
    had = {trial for trial, status in last.items() if status not in again}
    return sum(trial.trial not in had for block in plan.blocks for trial in block.trials)


def _begun(words: str, name: str) -> str:
    """With a capital, unless they begin with a name."""
    return words if words.startswith(name) else f"{words[0].upper()}{words[1:]}"


def others() -> Path:
    """The folder with the programs that speak what is not built in."""
    return Path(str(library.experiment_file("x"))).parents[1] / "choose"


def _profile(link: str) -> Profile:
    """The link's profile. Raises `WirelabError` if there is none."""
    own = 'a link of your own is a file, such as --link ./mine.toml with [link] rtt = "20 ms"'
    if library.is_profile_file(link):
        try:
            return library.profile_file(Path(link))
        except WirelabError as error:
            error.hint = error.hint or own
            raise
    if link not in library.profiles():
        hint = own if link[:1].isdigit() else did_you_mean(link, library.profiles(), launched("list links"))
        raise WirelabError(f"unknown link '{link}'", Where("--link"), hint)
    return library.profiles()[link]
