"""`wirelab describe radio` and `wirelab describe device`."""

from __future__ import annotations

from collections.abc import Iterable

from wirelab.cli.describe.citations import Citations
from wirelab.cli.text import hanging, head, paragraph, section
from wirelab.launcher import launched
from wirelab_energy import Radio, load_device, load_radio
from wirelab_energy.constant import Cited
from wirelab_energy.proof import Proof, proofs
from wirelab_energy.published import quantity_words
from wirelab_energy.radio import BOUNDS
from wirelab_energy.range import Range

UNVALIDATED = "unvalidated: {}; every output says so"
NO_FIGURE = "no published figure was found that its constants were not set from"
MISSED = (
    "of the published figures below none holds that is of traffic and not computed from these constants, or one is "
    "missed by more than a factor of two"
)


def radio_text(name: str) -> str:
    """A radio with its states, inputs, constants and their sources, and what it makes of published figures."""
    radio = load_radio(name)
    held = proofs(radio)
    cited = radio.cited()
    citations = Citations({each.path: each.source for each in cited if each.source})
    inputs = [
        (each.name, each.written, *citations[f"inputs.{each.name}"], _what(each.about, each.words))
        for each in radio.inputs.values()
    ]
    values = [each for each in cited if not each.path.startswith("inputs.")]
    facts = [("machine", radio.machine.name), ("supply", radio.voltage.written)]
    facts += [("device", f"{radio.device}, which includes its sleep in the radio's own")] if radio.device else []
    facts += [("link", f"{radio.link}, with its timers")] if radio.link else []
    parts = [head(radio.name, radio.title), *_about(radio.about), paragraph(radio.machine.about)]
    parts += [] if radio.validated else [paragraph(UNVALIDATED.format(MISSED if held else NO_FIGURE))]
    parts += [hanging("what it is", facts), section("states, mean power with these inputs", _states(radio))]
    parts += [section("inputs", inputs)] if inputs else []
    parts += [section("constants", _rows(values, citations)), *_sources(citations)]
    parts += [_published(held)] if held else []
    use = [("for a capture", launched(f"energy capture.pcapng --radio {name} --client IP"))]
    return "\n\n".join([*parts, section("use it", use)])


def device_text(name: str) -> str:
    """A device with its powers and their sources."""
    device = load_device(name)
    citations = Citations({each.path: each.source for each in device.cited() if each.source})
    parts = [head(device.name, device.title), *_about(device.about)]
    parts += [] if device.validated else [UNVALIDATED.format(NO_FIGURE)]
    parts += [section("constants", _rows(device.cited(), citations)), *_sources(citations)]
    cpu = (
        "CPU time counts as energy only if it was measured on this device: a PC's says nothing of its joules. With "
        "`--cpu-time` a capture has it, with `measured-on-device` an experiment."
    )
    return "\n\n".join([*parts, paragraph(cpu)])


def _states(radio: Radio) -> list[tuple[str, str]]:
    states = {bound: radio.machine.states(radio.values(bound)) for bound in BOUNDS}
    rows = []
    for name, state in states["typical"].items():
        watts = Range.spanning(state.watts, *(states[bound][name].watts for bound in BOUNDS))
        rows.append((name, quantity_words(watts, "mean-power")))
    return rows


def _about(text: str) -> list[str]:
    return [paragraph(text)] if text else []


def _sources(citations: Citations) -> list[str]:
    return [hanging("sources", texts)] if (texts := citations.texts()) else []


def _what(about: str, words: Iterable[str]) -> str:
    return f"{about} ({', '.join(words)})" if words else about


def _rows(values: Iterable[Cited], citations: Citations) -> list[tuple[str, ...]]:
    return [(each.path, each.written, *citations[each.path]) for each in values]


def _published(held: list[Proof]) -> str:
    rows = []
    for proof in held:
        figure = proof.published
        verdict = f"{100 * (proof.ratio - 1):+.0f} %{'' if proof.holds else ', missed'}"
        note = f"; {figure.note}" if figure.note else ""
        words = f"{figure.what}: {figure.written}, model {quantity_words(proof.predicted, figure.quantity)}: {verdict}"
        rows.append(("", f"{words}. {figure.source}{note}"))
    return hanging("published figures, none of which its constants were set from", rows)
