"""Options of the verbs that compute a radio's energy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from wirelab.cli.arguments import DurationType, QuantityType
from wirelab.errors import Where, WirelabError
from wirelab.launcher import launched
from wirelab.schema.plan import EnergyRecord
from wirelab.units import charge_mah, voltage_v

Command = TypeVar("Command", bound=Callable[..., Any])


VOLTAGE = QuantityType("voltage", voltage_v)
_OPTIONS = (
    click.option("--radio", metavar="NAME", help="A radio that `list radios` names, or a file of your own."),
    click.option("--device", metavar="NAME", help="The device around it, which sleeps between messages."),
    click.option("--interval", type=DurationType("min"), metavar="DURATION", help="Time from one message to the next."),
    click.option(
        "--battery",
        type=QuantityType("charge", charge_mah),
        metavar="CHARGE",
        help="Say how long a battery of this capacity lasts, such as '2400 mAh'; takes --interval and --voltage.",
    ),
    click.option("--voltage", type=VOLTAGE, metavar="VOLTAGE", help="Mean voltage of the battery, or of a trace."),
)


def radio_options(command: Command) -> Command:
    """The options `radio`, `device`, `interval`, `battery` and `voltage`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def energy_record(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    radio: str,
    sets: Iterable[str],
    device: str | None,
    interval_ns: int | None,
    battery_mah: float | None,
    voltage: float | None,
    measured: str | None = None,
) -> EnergyRecord:
    """What the options say; `measured` is the one, if any, that says that CPU time was measured on the device. Raises
    `WirelabError` for a battery or CPU time without what it needs, or a voltage of none.
    """
    if measured is not None and device is None:
        hint = f"--device raspberry-pi-3 ({launched('list devices')})"
        raise WirelabError("CPU time takes the power of a device, and none is named", measured, hint)
    if voltage is not None and battery_mah is None:
        raise WirelabError("no battery of this voltage", "--voltage", "--battery '2400 mAh'")
    if battery_mah is not None and (voltage is None or interval_ns is None):
        missing = "--voltage" if voltage is None else "--interval"
        hint = "--voltage '3.7 V'" if voltage is None else "--interval 15min"
        raise WirelabError(f"a battery's life needs {missing}", "--battery", hint)
    inputs: dict[str, str | int | float] = {}
    for text in sets:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise WirelabError(f"not INPUT=VALUE ({text})", Where("--set"), "such as --set inactivity=5s")
        inputs[name.strip()] = value.strip()
    return EnergyRecord(
        radio=radio, inputs=inputs, device=device, measured_on_device=measured is not None, interval_ns=interval_ns,
        battery_mah=battery_mah, battery_v=voltage,
    )  # fmt: skip
