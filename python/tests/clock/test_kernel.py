"""The kernel's recipe, with programs that play compilers, and which of the built kernels is used."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from wirelab.clock import kernel, sources
from wirelab.clock.kernel import PROGRAMS, VARIABLE, Kernel, build, find_kernel, kernels_folder, recipe, require_kernel
from wirelab.errors import RunError, WirelabError

KCONFIG = "config HZ\n\tint\n\tdefault 100\n"
TREE = {
    "Makefile": "VERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 12\n",
    "scripts/kconfig/merge_config.sh": "#!/bin/sh\n",
    "arch/um/Kconfig": KCONFIG,
    "arch/um/include/asm/delay.h": "",
    "arch/um/kernel/Makefile": "obj-y += load_file.o\n",
    "arch/um/kernel/time.c": """
#include <linux/time-internal.h>
{
	time_travel_time = ns;
}
	.max_delta_ns = 0xffffffff,
	.max_delta_ticks = 0xffffffff,
		if (!irqs_disabled() && !time_travel_ext_waiting)
			time_travel_update_time_rel(TIMER_MULTIPLIER);
		return time_travel_time / TIMER_MULTIPLIER;
""",
    "arch/um/kernel/skas/syscall.c": """
#include <asm/unistd.h>

	syscall = UPT_SYSCALL_NR(r);

		PT_REGS_SET_SYSCALL_RETURN(regs, ret);
			um_udelay(1);
""",
    "drivers/char/random.c": """
void add_device_randomness(const void *buf, size_t len)
{

void add_interrupt_randomness(int irq)
{
""",
    "arch/x86/um/vdso/vma.c": """
#include <asm/page.h>

	mmap_write_unlock(mm);

	return IS_ERR(vma) ? PTR_ERR(vma) : 0;
""",
    "arch/x86/um/vdso/um_vdso.c": """
#include <asm/unistd.h>

int __vdso_clock_gettime(clockid_t clock, struct __kernel_timespec *ts)
{
	long ret;

int __vdso_gettimeofday(struct __kernel_old_timeval *tv, struct timezone *tz)
{
	long ret;
""",
}
"""A source tree as far as the recipe looks at it."""
MAKE = """#!/bin/sh
[ ! -e "$PLAYED/broken" ] || { echo "a.c:1: error: no such thing"; exit 2; }
echo "$2" >>"$PLAYED/made"
case $2 in
    allnoconfig) cp "$PLAYED/config" .config ;;
    -j*) echo "  CC a.o"; echo kernel >linux ;;
esac
"""
STRIP = '#!/bin/sh\ncp "$3" "$2"\n'


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that play the compilers, on an x86-64 machine with an empty cache."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in PROGRAMS:
        program = folder / name
        program.write_text({"make": MAKE, "strip": STRIP}.get(name, "#!/bin/sh\n"))
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(kernel, "_environment", lambda: {"PATH": os.environ["PATH"], "PLAYED": str(folder)})
    config = Path(kernel.__file__).parents[1] / "data" / "kernel" / "config"
    (folder / "config").write_text(config.read_text())
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The tree, in a folder."""
    folder = tmp_path / "linux"
    for name, text in TREE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    script = folder / "scripts" / "kconfig" / "merge_config.sh"
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return folder


def _built(tree: Path) -> Kernel:
    return build(tree, lambda *_: None, 1)


def _store(origin: str, age: int) -> Path:
    """A kernel as a build leaves it."""
    place = kernels_folder() / recipe(origin)
    place.mkdir(parents=True)
    (place / "linux").write_text("kernel")
    facts = {"version": "1", "recipe": place.name, "hertz": 250, "compiler": "gcc", "sha256": "0", "origin": origin}
    (place / "kernel.json").write_text(json.dumps(facts))
    os.utime(place / "kernel.json", (1000 - age, 1000 - age))
    return place


def test_a_tree_is_edited_configured_compiled_and_found(played: Path, tree: Path) -> None:
    built = _built(tree)
    assert (built.version, built.hertz, built.path.read_text()) == ("7.2.12", 250, "kernel\n")
    assert find_kernel() == built
    assert (played / "made").read_text().split() == ["allnoconfig", "olddefconfig", "-j1"]
    assert (tree / "arch/um/Kconfig").read_text() == KCONFIG, "it is the user's own"
    assert list(kernels_folder().glob("*.build")) == []


def test_a_build_that_was_interrupted_while_it_configured_configures_again(
    played: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(kernel, "_make", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            _built(tree)
    [work] = kernels_folder().glob("*.build")
    assert "default 250" in (work / "source/arch/um/Kconfig").read_text()
    source = work / "source/arch"
    assert (source / "um/kernel/time.c").read_text().count("0x7fffffffffffffff") == 2
    assert "irqs_disabled" not in (source / "um/kernel/time.c").read_text()
    assert "\n\tum_looks_pass(syscall);\n" in (source / "um/kernel/skas/syscall.c").read_text()
    assert "um_looks_map" in (source / "x86/um/vdso/vma.c").read_text()
    assert (source / "x86/um/vdso/um_vdso.c").read_text().count("um_look(") == 2
    assert all((source / "um" / name).is_file() for name in ("kernel/looks.c", "include/asm/looks.h"))
    (work / "configured").unlink()
    _built(tree)
    assert (played / "made").read_text().split() == ["allnoconfig", "olddefconfig"] * 2 + ["-j1"]


def test_a_source_that_lacks_an_option_is_refused_each_time(played: Path, tree: Path) -> None:
    (played / "config").write_text("CONFIG_64BIT=y\n")
    for _ in range(2):
        with pytest.raises(RunError, match="this source does not take CONFIG_"):
            _built(tree)


def test_a_source_that_is_not_as_known_is_refused(played: Path, tree: Path) -> None:
    assert played.is_dir()
    (tree / "arch/um/kernel/time.c").write_text("static int nothing;\n")
    with pytest.raises(RunError, match=r"arch/um/kernel/time\.c is not as the recipe knows it"):
        _built(tree)


def test_a_compiler_that_fails_is_reported_with_its_words(played: Path, tree: Path) -> None:
    (played / "broken").touch()
    with pytest.raises(RunError, match=r"make failed; in .*build\.log:\na\.c:1: error: no such thing"):
        _built(tree)


def test_a_second_build_of_the_same_does_not_join(played: Path, tree: Path) -> None:
    (played / "broken").touch()
    with pytest.raises(RunError):
        _built(tree)
    [work] = kernels_folder().glob("*.build")
    with (work / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(RunError, match="another process builds in"):
            _built(tree)


def test_missing_programs_and_other_processors_are_refused(
    played: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(played))
    (played / "flex").unlink()
    with pytest.raises(RunError, match="not installed: flex\n"):
        _built(tree)
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(RunError, match="runs on x86-64 only, and this is aarch64"):
        _built(tree)


def test_the_preferred_kernel_is_used_else_the_newest_of_this_recipe(played: Path) -> None:
    assert played.is_dir()
    with pytest.raises(WirelabError, match="needs its kernel, which is not built yet"):
        require_kernel()
    older, newer = _store("tree /a", age=2), _store("tree /b", age=1)
    (older.parent / "another-recipe").mkdir()
    (older.parent / "another-recipe" / "linux").touch()
    (older.parent / "another-recipe" / "kernel.json").write_text((newer / "kernel.json").read_text())
    assert require_kernel().path == newer / "linux"
    preferred = _store(sources.accepted()[-1].sha256, age=3)
    assert require_kernel().path == preferred / "linux"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": "1"}'])
def test_a_damaged_record_of_a_build_is_no_kernel(played: Path, text: str) -> None:
    assert played.is_dir()
    place = _store("tree /a", age=1)
    (place / "kernel.json").write_text(text)
    assert find_kernel() is None


def test_a_kernel_may_be_named(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert played.is_dir()
    place = _store("tree /a", age=1)
    _store(sources.accepted()[0].sha256, age=0)
    monkeypatch.setenv(VARIABLE, str(place))
    found = find_kernel()
    assert found is not None
    assert replace(found, path=place) == replace(found, path=place, origin="tree /a")
    monkeypatch.setenv(VARIABLE, str(place / "nothing"))
    with pytest.raises(RunError, match=VARIABLE):
        find_kernel()
