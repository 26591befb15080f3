"""Mutated files through every typed reader: each is read, or refused with one error of Wirelab's own.

`make nightly` has 100,000 of them; the seed is printed, and WIRELAB_SEED is another.
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.asked import ask
from tests.damaging import mutated
from tests.fit import samples
from tests.schema.test_damaged import READERS, TABLES, write_whole
from tests.test_toml import READERS as TOML_READERS
from wirelab.claims.check import metric_and_claims
from wirelab.errors import WirelabError
from wirelab.experiment.experiment import load_experiment
from wirelab.fit import observe_irtt, observe_ping
from wirelab.metrics.exchange_rows import EXCHANGE_TYPES, exchanges_of
from wirelab.metrics.tables import read_table, write_table
from wirelab.plan import make_plan
from wirelab.schema.campaign import read_journal
from wirelab_energy.trace import read_trace

SEED = int(os.environ.get("WIRELAB_SEED") or 1)
TOTAL = int(os.environ.get("WIRELAB_MUTATIONS") or 2000)
WEIGHTS = {
    **dict.fromkeys(("programs.toml", "catalogue.toml", "claims.toml", "quickstart.toml", "page.toml"), 4),
    "milosevic2021.toml": 1,
}
"""Those that take long get less than 16, which the others get."""
EXPERIMENTS = ("quickstart", "milosevic2021", "page")
LOST = np.array([index % 7 == 0 for index in range(60)])


def experiment(path: Path) -> None:
    make_plan(load_experiment(str(path), (), ask, check=metric_and_claims))


def rows(path: Path) -> None:
    exchanges_of(path.parents[3], path.parents[1].name)


def text_of(read: Callable[[str], object]) -> Callable[[Path], object]:
    return lambda path: read(path.read_bytes().decode(errors="replace"))


def files(folder: Path) -> Iterator[tuple[str, Path, Callable[[Path], object]]]:
    """Each kind of file: its name, a whole one, and what reads it."""
    write_whole(folder)
    for name, of_folder in READERS.items():
        yield name, folder / name, lambda path, read=of_folder: read(folder)
    yield "journal.jsonl", folder / "journal.jsonl", read_journal
    for name, types in TABLES.items():
        table = pl.read_parquet(folder / name)
        missing = {column: kind for column, kind in types.items() if column not in table.columns}
        table.with_columns(pl.lit(None, kind).alias(column) for column, kind in missing.items()).pipe(
            write_table, folder / name
        )
        yield name, folder / name, lambda path, types=types: read_table(path, types=types)
    exchanges = pl.DataFrame(
        {"index": range(20), "outcome": ["completed"] * 20, "start_ns": range(20), "end_ns": range(1, 21)}
    ).select(pl.col(name).cast(EXCHANGE_TYPES[name]) for name in ("index", "outcome", "start_ns", "end_ns"))
    for number, suffix in enumerate(("arrow", "jsonl")):
        path = folder / "trials" / f"t{number}" / "client" / f"exchanges.{suffix}"
        path.parent.mkdir(parents=True)
        exchanges.write_ipc(path) if suffix == "arrow" else exchanges.write_ndjson(path)
        yield path.name, path, rows
    for name, (shipped, read) in TOML_READERS.items():
        path = folder / f"of-{name}" / shipped.name
        path.parent.mkdir()
        path.write_bytes(shipped.read_bytes())
        yield f"{name}.toml", path, read
    for name in EXPERIMENTS:
        path = folder / "experiments" / f"{name}.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(resources.files("wirelab.data").joinpath(f"experiments/{name}.toml").read_bytes())
        claims = resources.files("wirelab.data").joinpath(f"experiments/{name}.claims.toml")
        if claims.is_file():
            (path.parent / f"{name}.claims.toml").write_bytes(claims.read_bytes())
        yield f"{name}.toml", path, experiment
    texts: dict[str, tuple[str, Callable[[Path], object]]] = {
        "ping.txt": (samples.iputils(list(samples.round_trips_ms(1, 60)), LOST), text_of(observe_ping)),
        "irtt.json": (
            json.dumps(samples.irtt([10**7] * 20, [11 * 10**6] * 20, ["false", "true_up"] * 10)), text_of(observe_irtt)
        ),
        "trace.csv": ("time (s),current (A)\n" + "".join(f"{t / 10},0.01\n" for t in range(50)), read_volts),
    }  # fmt: skip
    for name, (text, read) in texts.items():
        (folder / name).write_text(text)
        yield name, folder / name, read


def read_volts(path: Path) -> object:
    return read_trace(path, 3.7)


NAMES = [
    *READERS, "journal.jsonl", *TABLES, "exchanges.arrow", "exchanges.jsonl",
    *(f"{name}.toml" for name in (*TOML_READERS, *EXPERIMENTS)), "ping.txt", "irtt.json", "trace.csv",
]  # fmt: skip


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Callable[[Path], object]]]:
    return {name: (path, read) for name, path, read in files(tmp_path_factory.mktemp("mutated"))}


def share(name: str) -> int:
    """How many of all mutations are of this kind of file."""
    return math.ceil(TOTAL * WEIGHTS.get(name, 16) / sum(WEIGHTS.get(each, 16) for each in NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_a_mutated_file_is_read_or_refused(known: dict[str, tuple[Path, Callable[[Path], object]]], name: str) -> None:
    print(f"seed {SEED}, {share(name)} mutations of {name}")
    path, read = known[name]
    whole = path.read_bytes()
    read(path)
    chance = random.Random(f"{SEED} {name}")
    refused = 0
    for number in range(share(name)):
        content = mutated(whole, path.suffix, chance)
        path.write_bytes(content)
        try:
            read(path)
        except WirelabError as error:
            refused += 1
            assert str(error).strip(), number
        except BaseException as error:
            raise AssertionError(f"mutation {number}: {type(error).__name__}: {error}\n{content[:2000]!r}") from error
        finally:
            path.write_bytes(whole)
    assert refused, "nothing was damaged"
