"""What `choose` was asked, as sentences."""

from __future__ import annotations

from wirelab.report.choose.amounts import money, seconds
from wirelab.report.numbers import plain
from wirelab.schema.choose import Chosen
from wirelab.units import format_size

SECURITY = {"psk": "PSK", "server-certificate": "server certificate", "mutual": "mutual certificates", "none": "none"}


def question(record: Chosen) -> list[str]:
    """What was asked, as sentences."""
    asked = record["question"]
    reply = f"its answer has {format_size(asked['reply_bytes'])}" if asked["reply_bytes"] else "it needs no answer"
    said = [f"A message of {format_size(asked['send_bytes'])} goes up every {seconds(asked['every_s'])}; {reply}."]
    if asked["contact_s"] < asked["every_s"]:
        said.append(f"The device makes contact every {seconds(asked['contact_s'])}, so that a command can arrive.")
    said.append(f"Delivery: {asked['delivery'].replace('-', ' ')}.")
    said.append(f"Security: {'of every kind' if asked['auth'] is None else SECURITY[asked['auth']]}.")
    said.append(f"Link: {asked['link']}, {asked['link_words']}.")
    if asked["radio"] is not None:
        said.append(f"Radio: {asked['radio']}.")
    if asked["battery_mah"] is not None and asked["battery_v"] is not None:
        said.append(f"Battery: {plain(asked['battery_mah'], 0)} mAh at {asked['battery_v']:g} V.")
    if asked["base_current_a"] is not None:
        said.append(f"The rest of the device draws {asked['base_current_a'] * 1e6:,.4g} uA.")
    if asked["deadline_s"] is not None:
        said.append(f"An acknowledgement must be there within {seconds(asked['deadline_s'])}.")
    return [*said, *tariff(record)]


def tariff(record: Chosen) -> list[str]:
    """What data cost; nothing without a tariff."""
    if (asked := record["question"]["tariff"]) is None:
        return []
    said = f"Tariff: {money(asked['per_byte'] * 1e6, asked['currency'])} a MB"
    if asked["rounded_to_bytes"] > 1:
        said += f"; the data of each {asked['each']} are rounded up to {format_size(asked['rounded_to_bytes'])}"
    if asked["fee_per_year"]:
        said += f"; a fee of {money(asked['fee_per_year'], asked['currency'])} a year"
    return [f"{said}."]
