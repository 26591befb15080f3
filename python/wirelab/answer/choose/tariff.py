"""What a year's data cost: a price for each byte, in blocks that an operator rounds up to, and a fee. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.schema.choose import AskedTariff
from wirelab.units import UnitError, size_bytes

YEAR_S = 365.25 * 86_400
"""A Julian year."""
Each = Literal["message", "day", "month"]
_PER_YEAR = {"year": 1.0, "month": 12.0, "day": 365.25}
_SUMS = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]{3}|[^\s\d.A-Za-z/]+)?\s*/\s*(?:(\d+)\s*)?([A-Za-z]+)\s*")
KEYS = ("price", "rounding", "each", "fee")
Place = Callable[[str], Where | str]


@dataclass(frozen=True)
class Tariff:
    """`rounded_to_bytes`: the data of each message, day or month count in whole blocks of so many bytes."""

    currency: str
    per_byte: float
    rounded_to_bytes: int = 1
    each: Each = "month"
    fee_per_year: float = 0.0

    def year(self, message_bytes: float, every_s: float) -> float:
        """Cost of a year with a message of so many IP bytes each `every_s` seconds."""
        messages = YEAR_S / every_s
        periods = {"message": messages, "day": 365.25, "month": 12.0}[self.each]
        blocks = math.ceil(message_bytes * messages / periods / self.rounded_to_bytes - 1e-9)
        return self.fee_per_year + periods * blocks * self.rounded_to_bytes * self.per_byte

    def record(self) -> AskedTariff:
        """As `choose.json` has it."""
        return AskedTariff(
            currency=self.currency, per_byte=self.per_byte, rounded_to_bytes=self.rounded_to_bytes, each=self.each,
            fee_per_year=self.fee_per_year,
        )  # fmt: skip


def of_price(text: str, where: Where | str) -> Tariff:
    """`0.50 EUR/MB`: what each byte costs, without rounding."""
    amount, currency, of = _sum(text, where, "0.50 EUR/MB")
    try:
        size = size_bytes(f"1 {of}")
    except UnitError as error:
        raise WirelabError(f"'{text}': {error}", where, error.hint or "such as 0.50EUR/MB") from None
    return Tariff(currency, amount / size)


def of_table(table: Mapping[str, Any], at: Place) -> Tariff:
    """The tariff of a file with `price`, `rounding`, `each` and `fee`."""
    for key in table:
        if key not in KEYS:
            raise WirelabError(f"unknown key '{key}'", at(key), did_you_mean(key, KEYS))
    words = {key: str(value) for key, value in table.items()}
    if "price" not in words:
        raise WirelabError("has no price", at("price"), 'write: price = "0.50 EUR/MB"')
    plain = of_price(words["price"], at("price"))
    each = words.get("each", "month")
    if each not in get_args(Each):
        raise WirelabError(f"unknown period '{each}'", at("each"), did_you_mean(each, get_args(Each)))
    fee = 0.0
    if "fee" in words:
        amount, currency, per = _sum(words["fee"], at("fee"), "1.00 EUR/month")
        if currency != plain.currency:
            what = f"the fee is in {currency}, and the price in {plain.currency}"
            raise WirelabError(what, at("fee"), "write both in one currency")
        if per not in _PER_YEAR:
            raise WirelabError(f"unknown period '{per}'", at("fee"), did_you_mean(per, _PER_YEAR))
        fee = amount * _PER_YEAR[per]
    found: dict[str, Each] = {name: name for name in get_args(Each)}
    return Tariff(plain.currency, plain.per_byte, _rounding(words, at), found[each], fee)


def _rounding(words: Mapping[str, str], at: Place) -> int:
    if "rounding" not in words:
        return 1
    try:
        size = size_bytes(words["rounding"])
    except UnitError as error:
        raise WirelabError(f"'{words['rounding']}' {error}", at("rounding"), error.hint) from None
    if size == 0:
        raise WirelabError("must be more than 0 B", at("rounding"), 'such as rounding = "1 kB"')
    return size


def _sum(text: str, where: Where | str, example: str) -> tuple[float, str, str]:
    """An amount of money, its currency, and what it is for."""
    match = _SUMS.fullmatch(text)
    if match is None and text.replace(".", "", 1).isdigit():
        of = example.rpartition("/")[2]
        raise WirelabError(f"'{text}' has no currency and no '/{of}'", where, f"such as {text}EUR/{of}")
    if match is None:
        raise WirelabError(f"'{text}' is not a price", where, f"such as {example.replace(' ', '')}")
    amount, currency, count, of = match.groups()
    if currency is None:
        raise WirelabError(f"'{text}' has no currency", where, f"such as {amount}EUR/{of}")
    return float(amount) / int(count or 1), currency, of
