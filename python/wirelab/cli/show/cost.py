"""What losing each packet of an exchange costs, in its packet diagram."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from wirelab.errors import WirelabError, did_you_mean
from wirelab.launcher import launched
from wirelab.metrics.draws import packets_drawn
from wirelab.metrics.exchange_rows import exchanges_of
from wirelab.metrics.packet_diagram import packet_diagram
from wirelab.report.exact.words import more, price, radios
from wirelab.schema.exact import ENUMERATED, EXACT, ExactScenario, PacketPrice, read_exact

ABOUT = (
    "Behind each packet: the delay, the bytes and with a radio the energy that losing it alone adds. Bytes count until "
    "both ends are silent. Energy is compared over equal times."
)


def show_costs(folder: Path, protocol: str | None, scenario: str | None) -> None:
    """Print a diagram for each scenario that was enumerated, or for those that are named.

    Raises `WirelabError` for a folder without an enumeration, or a name that it does not have.
    """
    if (folder / ENUMERATED / EXACT).is_file():
        folder /= ENUMERATED
    if not (folder / EXACT).is_file():
        raise WirelabError(f"{folder} has no {EXACT}", hint=f"{launched('exact FILE')} makes one")
    console = Console(highlight=False, soft_wrap=True)
    record = read_exact(folder / EXACT)
    chosen_ones = [*_chosen(record["scenarios"], protocol, scenario)]
    console.print("\n".join((ABOUT, *radios(record))))
    for chosen in chosen_ones:
        packets = packets_drawn(folder, chosen["trial"])
        records = exchanges_of(folder, chosen["trial"])
        notes = {
            int(packet["sequence"]): _note(paid) for packet, paid in zip(packets, chosen["packets"], strict=False)
        }  # fmt: skip
        seed = f", seed {chosen['seed']}" * (chosen["seed"] > 1)
        console.print(f"\n{chosen['name']}{seed}  {chosen['client']} to {chosen['server']}, {chosen['runs']:,} runs")
        for line in packet_diagram(packets, records, records[0]["start_ns"], notes=notes):
            console.print(line)


def _chosen(scenarios: list[ExactScenario], protocol: str | None, scenario: str | None) -> Iterator[ExactScenario]:
    """Those of this protocol and name; else the first seed of each."""
    for what, named, key in (("protocol", protocol, "protocol"), ("scenario", scenario, "name")):
        known = sorted({str(each[key]) for each in scenarios})  # type: ignore[literal-required]
        if named is not None and named not in known:
            raise WirelabError(f"no {what} '{named}' was enumerated", hint=did_you_mean(named, known))
    for each in scenarios:
        if protocol in {None, each["protocol"]} and scenario in {None, each["name"]} and each["seed"] == 1:
            yield each


def _note(packet: PacketPrice) -> tuple[str, str]:
    words = price(packet)
    is_dear = words not in {"not run", "nothing"}
    return f"{words}{more(packet)}", "bold red" if is_dear else "dim"
