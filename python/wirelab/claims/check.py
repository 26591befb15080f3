"""Whether the metric, the radio and the claims that an experiment file names are there, and fit together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.launcher import launched
from wirelab.opened import open_file

if TYPE_CHECKING:
    from wirelab.claims.model import ClaimsFile
    from wirelab.experiment.file.model import ExperimentFile
    from wirelab.experiment.file.source import Source
    from wirelab.schema.expectation import Expectation

PAGE = "workload.page"
_EXAMPLES = {"s": "800 ms", "B": "2 kB", "bit/s": "1 Mbit/s", "J": "5 mJ", "": "3"}
"""A bound in each unit of an estimate."""


def metric_and_claims(source: Source, file: ExperimentFile) -> Iterator[WirelabError]:
    """Everything that is wrong with them, in the file's order."""
    from wirelab.experiment.file.expect import expectations
    from wirelab.metrics.described import exchange_metrics

    names = exchange_metrics()
    if file.metric not in names:
        what = f'unknown metric ("{file.metric}")'
        yield WirelabError(what, source.where(("metric",)), did_you_mean(file.metric, names, launched("list metrics")))
    yield from _energy(source, file)
    for key, each in expectations(source, file)[0].items():
        if (wrong := of_another_unit(each)) is not None:
            yield WirelabError(wrong.what, source.where(("expect", key)), wrong.hint)
    if file.claims is not None and _can_be_opened(claims := source.folder / file.claims):
        from wirelab.claims.load import load as load_claims
        from wirelab.experiment.file.source import source_of_text

        as_written = source_of_text(source.text, source.name, source.folder, source.shown)
        try:
            known = load_claims(claims, to_run=True, of=as_written)
        except WirelabError as error:
            yield error
            return
        for path, values in source.sets.items():
            another = path.startswith(f"{PAGE}.") or (path == PAGE and not _are_levels(known.file, values))
            if another and path not in known.file.grid:
                what = f"the claims of {known.file.paper} are about its own pages, and are not judged on another"
                other = launched("run page --site DIR")
                yield WirelabError(what, Where("--set", key=path), f"another page, without claims: {other}")


def of_another_unit(found: Expectation) -> WirelabError | None:
    """What is wrong with an expectation's metric, or with the unit of its bound; None if nothing is."""
    from wirelab.metrics.described import described
    from wirelab.stats.units import UNITS

    if found.metric is None:
        fits, example = found.unit == "share", "99 %"
    else:
        units = {each.name: each.unit for each in described() if each.of == "exchange" or each.used}
        if found.metric not in units:
            hint = did_you_mean(found.metric, units, launched("list metrics"))
            return WirelabError(f'unknown metric ("{found.metric}")', hint=hint)
        unit, _ = UNITS.get(units[found.metric], ("", 1.0))
        fits, example = found.unit == unit, _EXAMPLES[unit]
    if fits:
        return None
    of = found.statistic if found.metric is None else found.metric
    return WirelabError(f"{found.written} is no amount of {of}", hint=f"such as {example}")


def _are_levels(file: ClaimsFile, pages: Sequence[object]) -> bool:
    """Whether the claims name these pages as levels of a choice."""
    from wirelab.claims.part import as_compared

    levels = {as_compared(level) for choice in file.choice if choice.path == PAGE for level in choice.levels}
    return all(isinstance(page, str) and as_compared(page) in levels for page in pages)


def _can_be_opened(claims: Path) -> bool:
    """If it cannot, the experiment's own check says why."""
    try:
        open_file(claims, None).close()
    except WirelabError:
        return False
    return True


def _energy(source: Source, file: ExperimentFile) -> Iterator[WirelabError]:
    """Whether there is such a radio with such inputs, and such a device; and a radio for a metric that needs one."""
    from wirelab.metrics.described import energies
    from wirelab.metrics.energy_names import MESSAGE, every_bound

    if file.energy is None:
        if file.metric in energies():
            what = f'no radio for the metric ("{file.metric}")'
            yield WirelabError(
                what, source.where(("metric",)), f'add: [energy] radio = "NAME" ({launched("list radios")})'
            )
        return
    from wirelab.metrics.energy_settings import equipment
    from wirelab.schema.plan import LinkRadio

    if file.metric in every_bound(MESSAGE) and not file.energy.measured_on_device:
        what = f'no CPU time of a device for the metric ("{file.metric}")'
        yield WirelabError(what, source.where(("metric",)), "on the device itself: [energy] measured-on-device = true")
    record, files = file.energy.record(), file.energy.files(source.folder)
    chosen: dict[tuple[str, ...], LinkRadio] = {("radios", link): each for link, each in record.radios.items()}
    if record.radio is not None:
        chosen[()] = LinkRadio(radio=record.radio, inputs=record.inputs, device=record.device)
    for path, each in chosen.items():
        for key, later in (("radio", {"inputs": {}, "device": None}), ("inputs", {"device": None}), ("device", {})):
            try:
                equipment(each.model_copy(update=later), files, measured_on_device=False)
            except WirelabError as error:
                yield WirelabError(error.what, _place_of_energy(source, (*path, key), error.where), error.hint)
                break


def _place_of_energy(source: Source, key: tuple[str, ...], where: Where | str | None) -> Where | str:
    """Where a key of the energy's table was written, unless what is wrong stands in another file."""
    if isinstance(where, Where) and where.source != "--set":
        return where
    name = where.key if isinstance(where, Where) else None
    return source.where(("energy", *key) if name is None else ("energy", *key, name))
