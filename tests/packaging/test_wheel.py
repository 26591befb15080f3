"""The wheel works in an empty environment, without Rust and without the checkout."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("wheel")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment's `bin` folder with nothing but the wheel and its dependencies in it."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([ROOT / "scripts" / "uv", "build", "--quiet", "--wheel", "--out-dir", folder], cwd=ROOT, check=True)
    (wheel,) = folder.glob("wirelab-*.whl")
    environment = folder / "environment"
    subprocess.run([ROOT / "scripts" / "uv", "venv", "--quiet", "--python", sys.executable, environment], check=True)
    subprocess.run(
        [ROOT / "scripts" / "uv", "pip", "install", "--quiet", "--python", environment / "bin" / "python", wheel],
        check=True,
    )
    return environment / "bin"


def run(installed: Path, folder: Path, *arguments: str) -> str:
    """What an installed Wirelab prints, with no Rust on PATH and none of the checkout's variables."""
    environment = {"PATH": f"{installed}:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(folder), "LANG": "C.UTF-8"}
    assert shutil.which("cargo", path=environment["PATH"]) is None or os.access("/usr/bin/cargo", os.X_OK)
    done = subprocess.run(
        [installed / "wirelab", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("platform", ["manylinux_2_28_x86_64", "manylinux_2_28_aarch64"])
def test_a_wheel_of_an_agent_built_elsewhere_has_the_tag_of_its_platform(tmp_path: Path, platform: str) -> None:
    agent = tmp_path / "agent"
    agent.write_bytes(b"built elsewhere")
    subprocess.run(
        [ROOT / "scripts" / "uv", "build", "--quiet", "--wheel", "--out-dir", tmp_path],
        cwd=ROOT,
        env={**os.environ, "WIRELAB_AGENT": str(agent), "WIRELAB_PLATFORM": platform},
        check=True,
    )
    [wheel] = tmp_path.glob("*.whl")
    assert wheel.name.endswith(f"-py3-none-{platform}.whl")
    with zipfile.ZipFile(wheel) as content:
        [name] = [name for name in content.namelist() if name.endswith("scripts/wirelab-agent")]
        assert content.read(name) == agent.read_bytes()
        [facts] = [name for name in content.namelist() if name.endswith("WHEEL")]
        assert f"Tag: py3-none-{platform}" in content.read(facts).decode()


def test_the_experiments_profiles_and_the_agent_are_inside(installed: Path, tmp_path: Path) -> None:
    listed = run(installed, tmp_path, "list")
    assert "quickstart" in listed
    assert "milosevic2021" in listed
    assert (installed / "wirelab-agent").is_file()


def test_a_shipped_experiment_can_be_checked_and_planned(installed: Path, tmp_path: Path) -> None:
    run(installed, tmp_path, "check", "milosevic2021")
    assert "18 scenarios" in run(installed, tmp_path, "plan", "milosevic2021")
