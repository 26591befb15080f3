"""An archive of a run: repeated elsewhere bit for bit, and valid as an RO-Crate."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

import pytest
from tests.interop.conftest import ROOT

from wirelab.clock.kernel import kernels_folder

if TYPE_CHECKING:
    from conftest import Bench

RUN = ("run", "quickstart", "--clock", "virtual", "--set", "stop.replicates=2", "--set", "workload.exchanges=3")
NOBODY = "65534"
MASKS = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-ERMS,-FSRM,-RDRAND", "OPENSSL_ia32cap": "~0x20000000"}
"""What programs find of the CPU, without wide registers and random numbers."""
PROFILES = ("ro-crate-1.1", "process-run-crate-0.5")
VALIDATOR = ("roc-validator==0.13.0", "rocrate==0.13.0")


def archived(bench: Bench) -> Path:
    code, out, words = bench.run(*RUN, "--out", "results/quick")
    assert code == 0, f"{out}{words}"
    code, out, words = bench.run("archive", "quick", "--licence", "CC-BY-4.0")
    assert code == 0, f"{out}{words}"
    return bench.folder / "quick.zip"


@pytest.mark.guest
def test_another_user_repeats_an_archive_elsewhere_on_a_cpu_with_fewer_features(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("another") / "place"
    elsewhere.mkdir()
    file = Path(shutil.copy2(archived(bench), elsewhere / "theirs.zip"))
    for name, value in MASKS.items():
        monkeypatch.setenv(name, value)
    as_nobody: tuple[str, ...] = ()
    if os.geteuid() == 0:
        # Temporary folders of pytest are its user's alone.
        temporary = Path(gettempdir())
        for folder in (bench.folder, *bench.folder.parents, elsewhere, *elsewhere.parents):
            if temporary in folder.parents:
                folder.chmod(0o755)
        bench.temporary.chmod(0o777)
        cache = bench.folder / "cache"
        shutil.copytree(kernels_folder(), cache / "wirelab" / kernels_folder().name)
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
        as_nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    code, out, words = bench.run("verify", str(file), "--again", within=as_nobody)
    assert code == 0, f"{out}{words}"
    assert "the same bytes in every record of 16 trials" in out


@pytest.mark.nightly
@pytest.mark.guest
def test_an_archive_is_a_valid_crate_of_a_process(bench: Bench) -> None:
    file = archived(bench)
    uv = shutil.which("uv") or str(next((Path.home() / ".cache" / "wirelab").glob("uv-*/bin/uv")))
    environment = {**os.environ, "VIRTUAL_ENV": str(bench.folder / "validator")}
    for words in (["venv", "--quiet", str(bench.folder / "validator")], ["pip", "install", "--quiet", *VALIDATOR]):
        subprocess.run([uv, *words], env=environment, check=True, timeout=120)
    for profile in PROFILES:
        command = [
            bench.folder / "validator" / "bin" / "python",
            ROOT / "tests/interop/crate_validator.py",
            file,
            profile,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, f"{done.stdout}{done.stderr[-2000:]}"
