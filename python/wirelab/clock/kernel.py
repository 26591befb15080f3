"""The kernel of the virtual clock: a Linux that runs as a program (User-Mode Linux), built by recipe, without root."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from wirelab.clock import sources
from wirelab.clock.sources import Say, Source
from wirelab.errors import RunError, WirelabError
from wirelab.launcher import launched
from wirelab.schema.replaced import replace_file

HERTZ = 250
"""Ticks of its timers in a second, as in Debian's own kernels: retransmission timers are rounded to them."""
PROGRAMS = ("gcc", "make", "flex", "bison", "m4", "bc", "patch", "strip")
VARIABLE = "WIRELAB_KERNEL"
_FIXED = {
    "KBUILD_BUILD_TIMESTAMP": "2026-01-01 00:00:00 UTC",
    "KBUILD_BUILD_USER": "wirelab",
    "KBUILD_BUILD_HOST": "wirelab",
    "KBUILD_BUILD_VERSION": "1",
}
"""What the kernel says of its build, which is mixed into its random numbers."""
_ADDED = {"looks.c": "arch/um/kernel", "looks.h": "arch/um/include/asm"}
"""Files of the recipe, and where they are in the source tree."""
_RECIPE = ("config", "edits.toml", "seed.patch", *_ADDED)
_FACTS = "kernel.json"
_RESERVE_BYTES = 4 << 30
_ERROR_LINES = 12
_FILES = 2300
"""About so many are compiled."""

Tell = Callable[[float, str, float], None]
"""Gets the share that is done, words, and the seconds since the start."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that was built."""

    path: Path
    version: str
    """Of its source."""
    recipe: str
    """Digest of source, configuration and patches. Results of another recipe are other results."""
    hertz: int
    compiler: str
    sha256: str
    """Of the program, which another compiler makes differently."""
    origin: str
    """Digest of the source's package, or the folder of its tree."""


def find_kernel() -> Kernel | None:
    """The kernel that `WIRELAB_KERNEL` names, or the one built from the most preferred source, or the newest built."""
    if named := os.environ.get(VARIABLE):
        found = _read(Path(named))
        if found is None:
            raise RunError(f"{VARIABLE} is '{named}', a folder without a kernel of `clock build`")
        return found
    for source in sources.accepted():
        if (found := _read(_place(recipe(source.sha256)))) is not None:
            return found
    facts = sorted(kernels_folder().glob(f"*/{_FACTS}"), key=lambda path: path.stat().st_mtime)
    built = filter(None, (_read(path.parent) for path in reversed(facts)))
    # One of another configuration or patch is from before an update.
    return next((each for each in built if each.path.parent == _place(recipe(each.origin))), None)


def require_kernel() -> Kernel:
    """The kernel; an error with the command that builds it."""
    found = find_kernel()
    if found is None:
        raise WirelabError(
            "the virtual clock needs its kernel, which is not built yet",
            hint=f"{launched('clock build')} downloads 160 MB and takes about 8 minutes on 2 idle CPUs, once",
        )
    return found


def build(source: Source | Path, tell: Tell, jobs: int) -> Kernel:
    """Build from a source of a distribution, or from a source tree of the user's. A build that was interrupted goes on.

    Raises `RunError` with the programs that are missing, or with the end of what the compiler says.
    """
    began = time.monotonic()

    def say(text: str, share: float = 0.0) -> None:
        tell(share, text, time.monotonic() - began)

    if (processor := platform.machine()) != "x86_64":
        raise RunError(f"the virtual clock's kernel runs on x86-64 only, and this is {processor}")
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        raise RunError(
            f"not installed: {', '.join(missing)}",
            hint="Debian and Ubuntu: apt install gcc make flex bison m4 bc patch binutils",
        )
    origin = source.sha256 if isinstance(source, Source) else f"tree {source.resolve()}"
    identity = recipe(origin)
    place = _place(identity)
    if isinstance(source, Source) and (done := _read(place)) is not None:
        return done
    work = place.with_name(f"{place.name}.build")
    work.mkdir(parents=True, exist_ok=True)
    _require_room(work)
    with _alone(work):
        tree = _prepared(source, work, say)
        _configure(tree, say)
        _make(tree, work / "build.log", jobs, say)
    place.mkdir(exist_ok=True)
    program = place / "linux"
    _run(["strip", "-o", str(program), str(tree / "linux")], tree, work / "build.log")
    version = source.version if isinstance(source, Source) else _version(tree)
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    # A tree may have been changed: what was made of it tells.
    made = identity if isinstance(source, Source) else recipe(f"program {digest}")
    built = Kernel(program, version, made, HERTZ, _compiler(), digest, origin)
    facts = {key: value for key, value in asdict(built).items() if key != "path"}
    replace_file(place / _FACTS, json.dumps(facts, indent=1) + "\n")
    shutil.rmtree(work)
    if isinstance(source, Source):
        (kernels_folder() / source.file).unlink(missing_ok=True)
    return built


def recipe(origin: str) -> str:
    """Digest of a source and of everything that is done to it."""
    digest = hashlib.sha256(origin.encode())
    for name in _RECIPE:
        digest.update(_folder().joinpath(name).read_bytes())
    digest.update(json.dumps([HERTZ, _FIXED]).encode())
    return digest.hexdigest()[:16]


def recipe_files() -> dict[str, bytes]:
    """All that a recipe consists of, by name: configuration, patches, accepted sources, ticks and what a build says of
    itself.
    """
    found = {name: _folder().joinpath(name).read_bytes() for name in (*_RECIPE, "sources.toml")}
    return {**found, "build.json": json.dumps({"hertz": HERTZ, **_FIXED}, indent=1).encode()}


def known_recipes() -> set[str]:
    """The digests of this version's recipe, one for each source that it accepts."""
    return {recipe(source.sha256) for source in sources.accepted()}


def kernels_folder() -> Path:
    """Where kernels are kept: the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "wirelab" / "kernels"


def _place(identity: str) -> Path:
    return kernels_folder() / identity


def _read(place: Path) -> Kernel | None:
    """The kernel in this folder, if a build there came to its end and this version made it."""
    program = place / "linux"
    try:
        found = Kernel(path=program, **json.loads((place / _FACTS).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return found if program.is_file() else None


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Raises `RunError` if another process builds there."""
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"another process builds in {folder}", hint="wait until it is over") from None
        yield


def _require_room(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _RESERVE_BYTES:
        raise RunError(
            f"{folder} has {free / 1e9:.1f} GB left, and a build needs {_RESERVE_BYTES / 1e9:.1f} GB until it is over",
            hint="set XDG_CACHE_HOME to a folder with more room",
        )


def _prepared(source: Source | Path, work: Path, say: Say) -> Path:
    """The patched source tree."""
    tree, done = work / "source", work / "prepared"
    if done.exists():
        return tree
    shutil.rmtree(tree, ignore_errors=True)
    aside = work / "unpacked"
    shutil.rmtree(aside, ignore_errors=True)
    if isinstance(source, Source):
        package = sources.fetch(source, kernels_folder(), say)
        unpacked = sources.unpack(package, source.tree, aside, say)
    else:
        unpacked = sources.copy_tree(source, aside, say)
    _patch(unpacked, work / "build.log")
    unpacked.rename(tree)
    shutil.rmtree(aside, ignore_errors=True)
    done.touch()
    return tree


def _folder() -> Traversable:
    """Of the recipe's files."""
    return resources.files("wirelab.data").joinpath("kernel")


def _patch(tree: Path, log: Path) -> None:
    with resources.as_file(_folder().joinpath("seed.patch")) as file:
        _run(["patch", "--strip=1", "--forward", "--input", str(file.resolve())], tree, log)
    for name, place in _ADDED.items():
        (tree / place / name).write_bytes(_folder().joinpath(name).read_bytes())
    for edit in tomllib.loads(_folder().joinpath("edits.toml").read_text(encoding="utf-8"))["edit"]:
        file = tree / edit["file"]
        text, found = re.subn(edit["find"], edit["replace"], file.read_text(encoding="utf-8"))
        if not found:
            raise RunError(f"{file} is not as the recipe knows it: it has no {edit['find']}")
        file.write_text(text, encoding="utf-8")


def _configure(tree: Path, say: Say) -> None:
    done = tree.parent / "configured"
    if done.exists():
        return
    say("configuring")
    log = tree.parent / "build.log"
    config = _folder().joinpath("config").read_text(encoding="utf-8")
    fragment = tree.parent / "config"
    fragment.write_text(config, encoding="utf-8")
    # Nothing else: what is not compiled costs no minutes, and differs between no versions.
    _run(["make", "ARCH=um", "allnoconfig"], tree, log)
    _run(["scripts/kconfig/merge_config.sh", "-m", ".config", str(fragment)], tree, log)
    _run(["make", "ARCH=um", "olddefconfig"], tree, log)
    wanted = set(re.findall(r"(?m)^(CONFIG_\w+=(?!n$).*)$", config))
    if absent := sorted(wanted - set((tree / ".config").read_text(encoding="utf-8").splitlines())):
        raise RunError(f"this source does not take {', '.join(absent)}")
    done.touch()


def _make(tree: Path, log: Path, jobs: int, say: Callable[[str, float], None]) -> None:
    """Compile. What make says goes into the log; its lines are counted."""
    files = 0
    command = ["make", "ARCH=um", f"-j{jobs}", "linux"]
    with (
        log.open("a", encoding="utf-8") as file,
        subprocess.Popen(
            command, cwd=tree, env=_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
        ) as process,
    ):  # fmt: skip
        assert process.stdout is not None
        try:
            for line in process.stdout:
                file.write(line)
                files += line.startswith(("  CC ", "  AS ", "  AR "))
                say(f"compiling, {files} files", min(files / _FILES, 1.0))
        finally:
            if process.poll() is None:
                process.terminate()
    if process.returncode:
        raise _failed("make", log)


def _run(command: list[str], tree: Path, log: Path) -> None:
    with log.open("a", encoding="utf-8") as file:
        done = subprocess.run(
            command, cwd=tree, env=_environment(), stdin=subprocess.DEVNULL, stdout=file, stderr=file, check=False
        )
    if done.returncode:
        raise _failed(command[0], log)


def _failed(program: str, log: Path) -> RunError:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    # Other compilers have gone on after the one that failed.
    wrong = next((number for number, line in enumerate(lines) if "error:" in line), len(lines) - _ERROR_LINES)
    said = lines[max(wrong, 0) :][:_ERROR_LINES]
    return RunError("\n".join([f"{program} failed; in {log}:", *said]))


def _environment() -> Mapping[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", **_FIXED}


def _version(tree: Path) -> str:
    text = (tree / "Makefile").read_text(encoding="utf-8")
    parts = (re.search(rf"(?m)^{name} = ?(.*)$", text) for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))
    return ".".join(part[1] for part in parts if part is not None and part[1])


def _compiler() -> str:
    said = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=False).stdout
    return said.partition("\n")[0]
