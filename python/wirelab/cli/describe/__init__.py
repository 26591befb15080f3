"""`wirelab describe [KIND] NAME`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wirelab.cli.describe.page import describe_page, page_forms
from wirelab.cli.text import columns, find, hanging, head, paragraph, section
from wirelab.errors import WirelabError, did_you_mean, offer
from wirelab.launcher import launched

if TYPE_CHECKING:
    from wirelab.experiment.experiment import Experiment
    from wirelab.schema import SettingDescription
    from wirelab.schema.link_answer import AskLink

LONG = 32
"""Characters of a value that are shown."""
BUILTIN_TITLE = "Wirelab's own endpoints, in every role of every protocol"


@click.command(short_help="Describe one thing that `list` names: settings, units, defaults, sources.")
@click.argument("kind", metavar="[KIND]", required=False)
@click.argument("name", required=False, metavar="NAME")
def command(kind: str | None, name: str | None) -> None:
    """Describe one thing that `wirelab list` names, with what the implementations.toml in this folder adds.

    KIND is experiment, link, protocol, workload, page, impairment, metric, radio, device or implementation; without it,
    the first of these that has NAME. Your own experiment or link is named by its file, a page by its folder or its
    document.
    """
    if kind is None:
        raise WirelabError("missing argument 'NAME'", hint=f"{launched('list')} names what there is")
    if name is None and kind not in KINDS:
        click.echo(_of_any_kind(kind))
        return
    if name is None:
        own = {"page": "|DIR", "experiment": "|FILE", "link": "|FILE"}.get(kind, "")
        raise WirelabError(
            f"which {kind}?", hint=f"{launched(f'describe {kind} NAME{own}')}; names: {launched(f'list {kind}s')}"
        )
    if kind not in KINDS:
        raise WirelabError(f"unknown kind '{kind}'", hint=did_you_mean(kind, KINDS))
    click.echo(KINDS[kind](name))


def _experiment(name: str) -> str:
    from wirelab.experiment.experiment import load_experiment
    from wirelab.experiment.grid.scenario import shorten
    from wirelab.experiment.library import experiment_names
    from wirelab.link_facts import asking
    from wirelab.plan import make_plan
    from wirelab.report.model import level_words, levels_words
    from wirelab.runner.entries import forecast_failures
    from wirelab.runner.minutes import time_words
    from wirelab.runner.progress import jobs_words
    from wirelab.runner.start import planned_jobs

    with asking() as ask:
        experiment = load_experiment(name, (), ask)
    least, most = experiment.stop.replicates
    facts = [("metric", experiment.metric), ("replicates", str(most) if least == most else f"{least} to {most}")]
    if experiment.doi:
        facts.append(("doi", experiment.doi))
    rows = [(path, levels_words(path, levels)) for path, levels in experiment.factors.items()]
    choices = [(path, levels_words(path, levels)) for path, levels in experiment.choices.items()]
    parts = [head(experiment.name, experiment.title), columns(facts), section("factors", rows)]
    how = "one at a time" if experiment.vary_choices == "one-at-a-time" else "every combination"
    parts += [section(f"choices, {how}", choices)] if choices else []
    interpretations = [
        (name, ", ".join(level_words(path, str(shorten(level))) for path, level in levels.items()) or "as the factors")
        for name, levels in experiment.interpretations.items()
    ]
    parts += [section("interpretations", interpretations)] if interpretations else []
    parts += [hanging("workloads", _workloads(experiment)), hanging("links", _links(experiment))]
    parts += [hanging("claims", claims)] if (claims := _claims(experiment)) else []
    whole = make_plan(experiment)
    plan = whole.without(forecast_failures(whole, experiment.source.folder).unsupported)
    jobs, rest = planned_jobs(plan), len(whole.scenarios) - len(plan.scenarios)
    unsupported = f" and {rest} unsupported" * (rest > 0)
    parts.append(
        f"{len(plan.scenarios)} scenarios{unsupported}, {jobs_words(jobs.number)}: {jobs.why}\n"
        f"{'' if least == most else 'up to '}{plan.trials:,} trials, {time_words(plan, jobs.number)}"
    )
    use = [("run it", launched(f"run {name}")), ("its scenarios and duration", launched(f"plan {name}"))]
    use += [("your own", launched(f"new mine.toml --from {name}"))] if name in experiment_names() else []
    return "\n\n".join([*parts, section("use it", use)])


def _workloads(experiment: Experiment) -> list[tuple[str, str]]:
    from wirelab.report.workload_words import workload_words

    only = next(iter(experiment.source.document.get("workloads", {})), "")
    named = ((str(s.points[0].get("workload", only)), workload_words(s.workload)) for s in experiment.scenarios)
    return _first_of_each(named)


def _links(experiment: Experiment) -> list[tuple[str, str]]:
    return _first_of_each(
        (each.link_name, "; ".join(f"{where} {what}" for where, what in each.facts[0].words))
        for each in experiment.scenarios
    )


def _first_of_each(named: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """One line for each name; a factor or a choice may change it further."""
    found: dict[str, list[str]] = {}
    for name, words in named:
        if words not in (known := found.setdefault(name, [])):
            known.append(words)
    return [
        (name, words[0] + (f" (and {len(words) - 1} more variants by the levels above)" if words[1:] else ""))
        for name, words in found.items()
    ]


def _claims(experiment: Experiment) -> list[tuple[str, str]]:
    from wirelab.claims.load import load

    return [] if experiment.claims is None else [(each.id, each.text) for each in load(experiment.claims).claims]


def _link(name: str) -> str:
    from wirelab.cli.describe.citations import Citations
    from wirelab.experiment.library import Profile, is_profile_file, profile_file, profiles
    from wirelab.experiment.link.single import CLEAN, single_link, unknown_link
    from wirelab.link_facts import asking

    own = is_profile_file(name)
    if own:
        profile = profile_file(Path(name))
    elif name == CLEAN:
        profile = Profile(CLEAN, "a link without effects", "", {}, {})
    elif name in profiles():
        profile = profiles()[name]
    else:
        raise unknown_link(name, [CLEAN, *profiles()], "a file of your own: describe link FILE.toml")
    citations = Citations(profile.sources)
    ranged = {path: " to ".join(ends) for path, ends in profile.ranges.items()}
    rows = [
        (path, f"{_value(value)} ({ranged[path]})" if path in ranged else _value(value), *citations[path])
        for path, value in profile.values()
    ]
    use = [] if own or name == CLEAN else [("in a run", launched(f"run quickstart --set link={name}"))]
    changed = f'[links] mine = {{ profile = "{name}" }}, with the keys that differ'
    if name == CLEAN:
        changed = launched(f"link {name} --set rtt=50ms --set loss=1% -- COMMAND")
    use += [("by itself", launched(f"link {name} -- COMMAND")), ("changed", changed)]
    parts = [head(profile.name, profile.title), *([paragraph(profile.about)] if profile.about else [])]
    with asking() as ask:
        words = ask(single_link(name, (), ask)).words
        parts += [hanging("effects on packets", [*words, ("netem", _netem(name, ask))])]
    parts += [section("values", rows)] if rows else []
    parts += [hanging("sources", citations.texts())] if profile.sources else []
    return "\n\n".join([*parts, hanging("use it", use)])


def _netem(name: str, ask: AskLink) -> str:
    from wirelab.experiment.link.single import single_link

    try:
        single_link(name, ["backend=netem"], ask)
    except WirelabError as error:
        return f"cannot run it: {error.what}"
    return "can run it: --backend netem"


def _protocol(name: str) -> str:
    from wirelab.experiment.library import BUILTIN, implementations
    from wirelab.experiment.programs.own_protocols import own_protocols
    from wirelab.schema import registered

    known = registered().with_protocols(own_protocols(Path.cwd()))
    protocol = find(name, {each.name: each for each in known.protocols}, "protocol")
    programs = [BUILTIN] * protocol.builtin + [
        f"{program} ({role})" for program, entry in implementations(Path.cwd()).items() for role in entry.roles_of(name)
    ]
    facts = [
        ("transport", protocol.transport),
        ("secure", "yes" if protocol.secure else "no"),
        ("workloads", ", ".join(protocol.workloads)),
        *([("libraries", ", ".join(protocol.libraries))] if protocol.libraries else []),
        ("implementations", ", ".join(programs) or "none"),
    ]
    parts = [
        head(protocol.name, protocol.title),
        *([paragraph(protocol.about)] if protocol.about else []),
        columns(facts),
    ]
    return "\n\n".join([*parts, *_settings(protocol.settings)])


def _settings(settings: Iterable[SettingDescription]) -> list[str]:
    from wirelab.experiment.programs.settings import describe_default, describe_values

    parts = []
    for each in settings:
        values = f"{each.name}: {describe_values(each)} (default {describe_default(each)})"
        parts.append(f"{values}\n{paragraph(each.about, indent='  ')}")
    return parts


def _workload(name: str) -> str:
    from wirelab.experiment.file.workload import ABOUT, KEYS, LOAD_TIMEOUT_NS, TIMEOUT_NS, WorkloadTable
    from wirelab.schema import registered
    from wirelab.units import format_duration

    about = find(name, ABOUT, "workload")
    fields = {field.alias or key: field for key, field in WorkloadTable.model_fields.items()}
    protocols = [protocol.name for protocol in registered().protocols if name in protocol.workloads]
    schema = WorkloadTable.model_json_schema(by_alias=True)["properties"]
    schema["timeout"]["default"] = format_duration(LOAD_TIMEOUT_NS if name == "page" else TIMEOUT_NS)
    keys = [(key, f"{fields[key].description} {_syntax(schema[key])}".rstrip()) for key in KEYS[name]]
    parts = [f"{name}\n\n{paragraph(about)}", hanging("keys", keys)]
    parts += [page_forms()] if name == "page" else []
    return "\n\n".join([*parts, hanging("protocols", [("", ", ".join(protocols))])])


def _syntax(key: Mapping[str, Any]) -> str:
    """Bounds, an example and the default of a key, by its schema."""
    bounds = [f"{key['minimum']:,} to {key['maximum']:,}"] if {"minimum", "maximum"} <= key.keys() else []
    examples = [f"such as {json.dumps(each)}" for each in key.get("examples", ())]
    default = [] if key.get("default") is None else [f"default {json.dumps(key['default'])}"]
    return f"[{', '.join([*bounds, *examples, *default])}]" if bounds or examples or default else ""


def _impairment(name: str) -> str:
    from wirelab.schema import registered

    known = registered()
    impairment = find(name, {each.kind: each for each in (*known.impairments, *known.shared)}, "impairment")
    return f"{impairment.kind}\n\n{paragraph(impairment.about)}"


def _metric(name: str) -> str:
    from wirelab.metrics.described import described
    from wirelab.report.numbers import COUNT, UNITS
    from wirelab.stats.units import UNITS as BASE_UNITS

    metric = find(name, {each.name: each for each in described()}, "metric")
    # As tables and reports show it.
    base, _ = BASE_UNITS.get(metric.unit, (metric.unit, 1.0))
    unit = UNITS.get(base, COUNT).symbol or metric.unit
    column = f"Column {metric.column} of {metric.of}s.parquet, in {metric.unit or '1'}."
    return f"{metric.name} [{unit or '1'}], of each {metric.of}\n\n{paragraph(metric.about)}\n\n{column}"


def _radio(name: str) -> str:
    from wirelab.cli.describe.energy import radio_text

    return radio_text(name)


def _device(name: str) -> str:
    from wirelab.cli.describe.energy import device_text

    return device_text(name)


def _implementation(name: str) -> str:
    from wirelab.experiment.library import BUILTIN, implementations
    from wirelab.experiment.programs.implementations import own_settings
    from wirelab.schema import registered

    if name == BUILTIN:
        libraries = [(protocol.name, ", ".join(protocol.libraries)) for protocol in registered().protocols]
        return "\n\n".join([head(BUILTIN, BUILTIN_TITLE), section("protocols", libraries)])
    program = find(name, {BUILTIN: None, **implementations(Path.cwd())}, "implementation")
    rows = [
        (role, f"{', '.join(entry.protocols)}: {', '.join(entry.workloads)}") for role, entry in program.roles if entry
    ]
    about = [paragraph(program.about)] if program.about else []
    own = own_settings({name: program}).get(name)
    varied = [] if own is None else _settings(own.settings)
    return "\n\n".join([head(name, program.title), *about, section("protocols", rows), *varied])


KINDS: dict[str, Callable[[str], str]] = {
    "experiment": _experiment,
    "link": _link,
    "protocol": _protocol,
    "workload": _workload,
    "page": describe_page,
    "impairment": _impairment,
    "metric": _metric,
    "radio": _radio,
    "device": _device,
    "implementation": _implementation,
}


def _of_any_kind(name: str) -> str:
    from wirelab.cli.list import KINDS as LISTS
    from wirelab.schema import registered

    known = {kind: [listed for listed, _ in LISTS[f"{kind}s"]()] for kind in KINDS}
    for kind, describe in KINDS.items():
        if name in known[kind]:
            links = [row for row in LISTS["links"]() if kind != "link" and name in row[0].split("-")]
            return "\n\n".join([describe(name), *([section("links", links)] if links else [])])
    path = Path(name)
    if path.is_dir() or path.suffix in {".html", ".htm"}:
        return describe_page(name)
    if path.suffix == ".toml":
        return _link(name) if _is_link(path) else _experiment(name)
    if having := [each.name for each in registered().protocols if each.setting(name) is not None]:
        what = f"'{name}' is a setting of {', '.join(having)}"
        raise WirelabError(what, hint=f"{launched(f'describe {having[0]}')} describes it")
    hint = offer(name, {each for names in known.values() for each in names})
    raise WirelabError(f"unknown name '{name}'", hint=hint or f"{launched('list')} shows all names")


def _is_link(path: Path) -> bool:
    """Whether a file is a link profile and not an experiment; invalid TOML is reported as an experiment."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return "link" in table and "factors" not in table


def _value(value: object) -> str:
    """A value as in a link file, truncated if it is long."""
    text = str(value)
    return text if len(text) <= LONG else f"{text[:LONG]}…"
