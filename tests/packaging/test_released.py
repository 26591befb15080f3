"""The wheels of a release: built for two machines, each with the tag that auditwheel accepts, and working there."""

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from tests.packaging.test_wheel import ROOT, install, run

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("wheel")]
OTHER = "aarch64"
LIBRARIES = Path("/usr/aarch64-linux-gnu")
"""Where Debian's libc6-arm64-cross has the C library of the other machine."""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By machine, and by `any` that of `wirelab-energy`. `scripts/wheels` fails if auditwheel refuses a tag."""
    folder = tmp_path_factory.mktemp("wheels")
    subprocess.run([ROOT / "scripts" / "wheels", "--out", folder], cwd=ROOT, check=True)
    names = {"x86_64": "wirelab-*_x86_64.whl", OTHER: "wirelab-*_aarch64.whl", "any": "wirelab_energy-*-any.whl"}
    return {machine: next(folder.glob(name)) for machine, name in names.items()}


def test_quickstart_runs_in_an_empty_environment_without_rust(wheels: dict[str, Path], tmp_path: Path) -> None:
    assert "manylinux_2_28_x86_64" in wheels["x86_64"].name
    installed = install(tmp_path / "environment", wheels["x86_64"], wheels["any"])
    out = run(installed, tmp_path, "run", "quickstart", "--budget", "20s", "--out", "first")
    assert "Report" in out
    assert (tmp_path / "first" / "report.html").stat().st_size > 0


def test_the_agent_of_the_other_machine_starts_and_knows_its_protocols(wheels: dict[str, Path], tmp_path: Path) -> None:
    """Under emulation of its processor. The virtual clock is for x86-64 only."""
    assert "manylinux_2_28_aarch64" in wheels[OTHER].name
    emulator = shutil.which("qemu-aarch64")
    if emulator is None or not LIBRARIES.is_dir():
        if os.environ.get("WIRELAB_REQUIRE_ALL"):
            pytest.fail("needs qemu-user and libc6-arm64-cross")
        pytest.skip("needs qemu-user and libc6-arm64-cross")
    with zipfile.ZipFile(wheels[OTHER]) as content:
        [name] = [name for name in content.namelist() if name.endswith("scripts/wirelab-agent")]
        agent = Path(content.extract(name, tmp_path))
    agent.chmod(0o755)

    def said(*arguments: str) -> str:
        command = [emulator, "-L", LIBRARIES, agent, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout

    version = (ROOT / "Cargo.toml").read_text().split('version = "')[1].split('"')[0]
    assert version in said("--version")
    assert '"coap"' in said("describe")
