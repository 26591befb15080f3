"""The records of `estimates.json`, from whichever module of their package."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest
from pydantic import TypeAdapter, ValidationError

from wirelab.schema import estimates

MODULES = [import_module(f"{estimates.__name__}.{found.name}") for found in pkgutil.iter_modules(estimates.__path__)]
RECORDS = [
    found
    for module in MODULES
    for found in vars(module).values()
    if getattr(found, "__module__", None) == module.__name__ and hasattr(found, "__required_keys__")
]


def test_the_package_exports_every_record_and_each_name_once() -> None:
    assert {record.__name__ for record in RECORDS} < set(estimates.__all__)
    assert len(estimates.__all__) == len(set(estimates.__all__))
    assert len(MODULES) > 1


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_a_record_refuses_unknown_keys(record: type) -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        TypeAdapter(record).validate_python({"no such key": 1})
