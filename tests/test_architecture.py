"""The one straight line, held: which crate and which package may know which."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "wirelab"
ENERGY = ROOT / "python" / "wirelab_energy"

CRATE_EDGES = {
    "wirelab-agent": {"wirelab-net", "wirelab-capture", "wirelab-stacks", "wirelab-schema"},
    # The loop writes the packet log and the captures that `wirelab-capture` reads: each format stands in one place.
    "wirelab-net": {"wirelab-link", "wirelab-capture"},
    # Its rows are types of the border, and a log's header names its link.
    "wirelab-capture": {"wirelab-link", "wirelab-schema"},
    # Not the agent: what it measures of a link goes through the agent's program.
    "wirelab-bench": {"wirelab-net", "wirelab-capture", "wirelab-schema"},
    # Whatever reads bytes of others, wherever it is.
    "wirelab-fuzz": {"wirelab-agent", "wirelab-net", "wirelab-capture", "wirelab-stacks", "wirelab-schema"},
    "wirelab-stacks": {"wirelab-schema"},
    "wirelab-link": set(),
    # Links are described where they are built: each impairment has its description in its own file.
    "wirelab-schema": {"wirelab-link"},
}

# Endpoints that ship as scripts: programs by themselves, which the runner starts and which nothing imports.
SCRIPTS = PACKAGE / "data" / "clients"
TEMPLATES = PACKAGE / "data" / "templates" / "protocol"

# Leaves that everybody may use: errors, units, users' TOML, the agent's place, how Wirelab was called, the limits of a
# process, the name of the statistic that ranks, and the border's types.
LEAVES = {"errors", "units", "toml", "opened", "agent", "launcher", "schema", "synonyms", "statistic", "limits"}
PACKAGE_EDGES = {
    "cli": {
        "archive",
        "report",
        "replicate",
        "claims",
        "stats",
        "metrics",
        "clock",
        "runner",
        "plan",
        "enumeration",
        "answer",
        "experiment",
        "site",
        "fit",
        "lessons",
        "link_facts",
        "wirelab_energy",
    },
    "api": {"metrics", "report"},
    "archive": {"clock"},
    "lessons": set(),
    "report": {"replicate", "claims", "lessons", "stats", "metrics", "site"},
    "replicate": {"claims", "experiment", "stats"},
    "claims": {"stats", "metrics", "experiment"},
    "stats": {"metrics"},
    "fit": {"stats"},
    "metrics": {"site", "wirelab_energy"},
    "site": set(),
    "link_facts": set(),
    "clock": set(),
    "runner": {"clock", "plan", "enumeration", "experiment", "site"},
    # What is sampled of an enumeration has an interval.
    "enumeration": {"plan", "experiment", "stats"},
    "answer": {"experiment", "metrics", "stats", "wirelab_energy"},
    "plan": {"experiment"},
    "experiment": {"site"},
    "schema": set(),
    # What they have in common with the distribution below stands there, once.
    "errors": {"wirelab_energy"},
    "synonyms": {"wirelab_energy"},
    "units": {"wirelab_energy"},
    "opened": {"wirelab_energy"},
    "toml": {"wirelab_energy"},
    "agent": set(),
    "launcher": set(),
    "data": set(),
    "__init__": {"api"},
    "__main__": {"cli"},
}  # fmt: skip


def test_architecture_md_lists_these_dependencies_and_every_room() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    edges = {room: to for room, to in (CRATE_EDGES | PACKAGE_EDGES).items() if to and not room.startswith("__")}
    short = (f"{room} -> {', '.join(sorted(to))}".replace("wirelab-", "") for room, to in edges.items())
    listed = [line for line in page.splitlines() if re.fullmatch(r"[a-z_]+ -> [a-z_, ]+", line)]
    assert listed == list(short)
    rooms = [path.name for path in (*PACKAGE.iterdir(), *(ROOT / "crates").iterdir()) if path.is_dir()]
    absent = [room for room in rooms if room != "__pycache__" and f"\n  {room}/ " not in page]
    assert not absent, absent


def test_crates_have_only_the_listed_dependencies() -> None:
    metadata = json.loads(
        subprocess.run(
            ["cargo", "metadata", "--no-deps", "--format-version", "1", "--locked"],
            cwd=ROOT, check=True, capture_output=True,
        ).stdout
    )  # fmt: skip
    for package in metadata["packages"]:
        ours = {d["name"] for d in package["dependencies"] if d["name"].startswith("wirelab-") and d["kind"] is None}
        assert ours <= CRATE_EDGES[package["name"]], f"{package['name']} must not depend on {ours}"


def test_packages_have_only_the_listed_dependencies() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        room = _room(path)
        for imported, line in _our_imports(path):
            allowed = imported in LEAVES or imported == room or imported in PACKAGE_EDGES[room]
            assert allowed, f"{path.relative_to(ROOT)}:{line}: {room} must not import {imported}"


def test_wirelab_energy_imports_nothing_of_wirelab_and_only_what_it_depends_on() -> None:
    project = tomllib.loads((ENERGY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = {re.split(r"[^\w-]", requirement)[0] for requirement in project["dependencies"]}
    assert "wirelab" not in needs
    for path in sorted(ENERGY.rglob("*.py")):
        for name, line in _names_imported(path):
            root = name.split(".")[0]
            known = root in {"wirelab_energy", "__future__", *needs} or root in sys.stdlib_module_names
            assert known, f"{path.relative_to(ROOT)}:{line}: wirelab_energy must not import {name}"


def test_every_module_says_in_its_first_line_what_it_is() -> None:
    rust = [
        path for folder in ("crates", "fuzz") for path in (ROOT / folder).rglob("*.rs") if "target" not in path.parts
    ]
    silent = [path for path in rust if not path.read_text(encoding="utf-8").startswith("//!")]
    python = [path for path in _modules() if path.stat().st_size and "templates" not in path.parts]
    silent += [path for path in python if ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) is None]
    assert not silent, [str(path.relative_to(ROOT)) for path in sorted(silent)]


def test_only_the_cli_prints_or_exits() -> None:
    for path in sorted(_modules()):
        if _room(path) in {"cli", "__main__"} or _is_program(path) or path == PACKAGE / "experiment" / "schema.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"print", "sys.exit", "exit", "click.echo"}:
                raise AssertionError(f"{path.relative_to(ROOT)}:{node.lineno}: only the CLI prints or exits")


def test_only_the_agent_prints_or_exits() -> None:
    _assert_absent(r"\b(e?print(ln)?!|process::exit|std::env::args)", {"wirelab-agent"})


def test_only_wirelab_net_has_unsafe() -> None:
    _assert_absent(r"\bunsafe\b(?!_code)", {"wirelab-net"})


def test_wirelab_capture_forbids_unsafe_code() -> None:
    assert "#![forbid(unsafe_code)]" in (ROOT / "crates/wirelab-capture/src/lib.rs").read_text()


def test_no_clock_is_read_outside_its_owners() -> None:
    clocks = r"\b(std::time::Instant::now|SystemTime::now|clock_gettime)"
    _assert_absent(clocks, {"wirelab-net", "wirelab-agent"}, {"clock.rs"})


def test_no_clock_is_read_outside_the_runner_and_the_place_where_hosts_run() -> None:
    clocks = re.compile(r"(^import time$|^from time import|\b(datetime|date)\.(now|utcnow|today)\()", re.MULTILINE)
    modules = [path for path in _modules() if not _is_program(path)]
    assert {_room(path) for path in modules if clocks.search(path.read_text())} == {"clock", "runner"}


def test_shipped_scripts_run_without_wirelab() -> None:
    data = sorted((PACKAGE / "data").rglob("*.py"))
    assert [path for path in data if not _is_program(path)] == [PACKAGE / "data" / "__init__.py"]
    for path in filter(_is_program, data):
        imported = [(name, line) for name, line in _our_imports(path)]
        assert not imported, f"{path.relative_to(ROOT)}: imports wirelab.{imported[0][0]}"
    for path in sorted(PACKAGE.rglob("*.py")):
        for name, line in _names_imported(path):
            assert not name.startswith("wirelab.data."), f"{path.relative_to(ROOT)}:{line}: imports a script"


def test_no_unseeded_generator_is_used() -> None:
    _assert_absent(r"\b(thread_rng|StdRng|from_os_rng|from_entropy|rand::random)", set())


# Files that may name protocols, with the reason.
NAMING_PROTOCOLS = {
    "python/wirelab/report/palette.py": "colours that readers know; a protocol without one has a colour by its name",
    "python/wirelab/experiment/file/topology.py": "the default of a key, which has to be some protocol",
}


def test_only_a_protocols_own_file_and_the_registry_name_it() -> None:
    described = json.loads((ROOT / "schema" / "protocols.json").read_text(encoding="utf-8"))["protocols"]
    protocols = {protocol["name"] for protocol in described}
    assert len(protocols) > 10
    found = {}
    for path in sorted(_modules()):
        if _room(path) != "data":
            constants = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
            found[path] = [(node.value, node.lineno) for node in constants if node.value in protocols]
    literal = re.compile(r'"([a-z0-9+-]+)"')
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        if path.relative_to(ROOT).parts[1] != "wirelab-stacks" and path.name != "tests.rs":
            lines = [
                line.split("//")[0] for line in path.read_text().split("#[cfg(test)]\nmod tests {")[0].splitlines()
            ]
            named = ((name, number) for number, line in enumerate(lines, 1) for name in literal.findall(line))
            found[path] = [(name, number) for name, number in named if name in protocols]
    places = {str(path.relative_to(ROOT)): names for path, names in found.items() if names}
    odd = set(places) ^ set(NAMING_PROTOCOLS)
    assert not odd, {place: places.get(place, "names none any longer") for place in odd}


EVERYDAY = {"loss", "rate", "delay", "outage", "reorder", "duplicate", "corrupt", "schedule", "radio", "nat"}
"""Kinds whose names are also names of keys, causes and measures."""

# Files that may name kinds of impairments and media, with the reason.
NAMING_KINDS = {
    "python/wirelab/experiment/link/table.py": "their keys in an experiment file",
    "python/wirelab/experiment/link/layers.py": "keys of rates and of files",
    "python/wirelab/experiment/link/chain.py": "keys of rates",
    "python/wirelab/experiment/link/shared.py": "tables of media",
    "python/wirelab/fit/loss.py": "the model that is fitted",
    "python/wirelab/fit/profile.py": "the key that is written",
    "python/wirelab/fit/words.py": "the model that is fitted",
    "python/wirelab_energy/machine/ieee802154.py": "a radio of the same name",
    "python/wirelab_energy/machine/wifi.py": "a radio of the same name",
}


def test_only_the_keys_of_a_link_name_kinds_of_impairments_and_media() -> None:
    described = json.loads((ROOT / "schema" / "protocols.json").read_text(encoding="utf-8"))
    kinds = {each["kind"] for each in (*described["impairments"], *described["shared"])} - EVERYDAY
    assert len(kinds) > 8
    places = {}
    for path in sorted(_modules()):
        if _room(path) not in {"data", "schema"}:
            constants = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
            if named := [(node.value, node.lineno) for node in constants if node.value in kinds]:
                places[str(path.relative_to(ROOT))] = named
    odd = set(places) ^ set(NAMING_KINDS)
    assert not odd, {place: places.get(place, "names none any longer") for place in odd}


def _modules() -> Iterator[Path]:
    """Of both distributions."""
    yield from (*PACKAGE.rglob("*.py"), *ENERGY.rglob("*.py"))


def _room(path: Path) -> str:
    if path.is_relative_to(ENERGY):
        return "__main__" if path.name == "__main__.py" else "wirelab_energy"
    parts = path.relative_to(PACKAGE).parts
    return parts[0].removesuffix(".py")


def _is_program(path: Path) -> bool:
    return path.parent in {SCRIPTS, TEMPLATES}


def _our_imports(path: Path) -> Iterator[tuple[str, int]]:
    for name, line in _names_imported(path):
        if name.split(".")[0] == ENERGY.name:
            yield ENERGY.name, line
        elif name.startswith("wirelab."):
            room = name.split(".")[1]
            if (PACKAGE / room).is_dir() or (PACKAGE / f"{room}.py").is_file():
                yield room, line


def _names_imported(path: Path) -> Iterator[tuple[str, int]]:
    package = path.relative_to(PACKAGE.parent).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) + "." if node.level else ""
            module = (base + (node.module or "")).strip(".")
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "wirelab" else [module]
        else:
            continue
        yield from ((name, node.lineno) for name in names)


def _assert_absent(pattern: str, crates: set[str], files: frozenset[str] | set[str] = frozenset()) -> None:
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        if path.relative_to(ROOT).parts[1] in crates or path.name in files:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("//")[0]
            if line.strip() == "#[cfg(test)]" or "mod tests {" in line:
                break
            assert not re.search(pattern, code), f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
