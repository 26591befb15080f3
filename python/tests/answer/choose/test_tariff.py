"""What a year's data cost."""

from __future__ import annotations

import pytest

from wirelab.answer.choose.tariff import Tariff, of_price, of_table
from wirelab.errors import Where, WirelabError

YEAR_S = 365.25 * 86_400


def at(key: str) -> Where:
    return Where("tariff.toml", key=key)


@pytest.mark.parametrize(
    ("text", "currency", "per_byte"),
    [("0.50EUR/MB", "EUR", 5e-7), ("0.5 EUR / MB", "EUR", 5e-7), ("2 USD/GB", "USD", 2e-9), ("1€/kB", "€", 1e-3)],
)
def test_a_price_is_an_amount_a_currency_and_a_size(text: str, currency: str, per_byte: float) -> None:
    found = of_price(text, "--price")
    assert (found.currency, found.rounded_to_bytes, found.fee_per_year) == (currency, 1, 0.0)
    assert found.per_byte == pytest.approx(per_byte)


@pytest.mark.parametrize(
    ("text", "words"),
    [("0.50/MB", "has no currency"), ("much", "is not a price"), ("1EUR/XB", "unknown unit"), ("1EUR", "is not a")],
)
def test_a_price_without_what_it_needs_is_refused(text: str, words: str) -> None:
    with pytest.raises(WirelabError, match=words) as caught:
        of_price(text, "--price")
    assert caught.value.where == "--price"
    assert caught.value.hint is not None


def test_a_year_of_small_messages_costs_more_where_each_is_rounded_up() -> None:
    exact = Tariff("EUR", 1e-6)
    assert exact.year(100, 3600) == pytest.approx(100 * YEAR_S / 3600 * 1e-6)
    assert Tariff("EUR", 1e-6, 1000, "message").year(100, 3600) == pytest.approx(10 * exact.year(100, 3600))
    of_days = Tariff("EUR", 1e-6, 1000, "day").year(100, 3600)
    assert of_days == pytest.approx(365.25 * 3000 * 1e-6)


def test_a_fee_is_paid_whatever_is_sent() -> None:
    table = {"price": "1 EUR/MB", "rounding": "1 kB", "each": "day", "fee": "1.50 EUR/month"}
    found = of_table(table, at)
    assert (found.each, found.rounded_to_bytes, found.fee_per_year) == ("day", 1000, 18.0)
    assert found.year(0, 3600) == pytest.approx(18.0)


@pytest.mark.parametrize(
    ("table", "key", "words"),
    [
        ({"rounding": "1 kB"}, "price", "has no price"),
        ({"price": "1 EUR/MB", "rounds": "1 kB"}, "rounds", "unknown key"),
        ({"price": "1 EUR/MB", "each": "week"}, "each", "unknown period"),
        ({"price": "1 EUR/MB", "rounding": "0 B"}, "rounding", "more than 0"),
        ({"price": "1 EUR/MB", "rounding": "a lot"}, "rounding", "is not a size"),
        ({"price": "1 EUR/MB", "fee": "1 USD/month"}, "fee", "in one currency|is in USD"),
        ({"price": "1 EUR/MB", "fee": "1 EUR/week"}, "fee", "unknown period"),
    ],
)
def test_a_file_that_is_wrong_is_refused_at_its_key(table: dict[str, str], key: str, words: str) -> None:
    with pytest.raises(WirelabError, match=words) as caught:
        of_table(table, at)
    assert caught.value.where == at(key)
