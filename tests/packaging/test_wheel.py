"""Each wheel works in an empty environment, without Rust and without the checkout."""

import os
import re
import shlex
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
    """A virtual environment's `bin` folder with nothing but both wheels and their dependencies in it."""
    folder = tmp_path_factory.mktemp("wheel")
    build(folder, "--all-packages")
    return install(folder / "environment", *folder.glob("*.whl"))


@pytest.fixture(scope="module")
def energy_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with `wirelab-energy` and its dependencies alone in it."""
    folder = tmp_path_factory.mktemp("energy")
    build(folder, "--package", "wirelab-energy")
    return install(folder / "environment", *folder.glob("*.whl"))


def build(folder: Path, *which: str) -> None:
    command = [ROOT / "scripts" / "uv", "build", "--quiet", "--wheel", "--out-dir", folder, *which]
    subprocess.run(command, cwd=ROOT, check=True)


def install(environment: Path, *wheels: Path) -> Path:
    uv = ROOT / "scripts" / "uv"
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, environment], check=True)
    python = environment / "bin" / "python"
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, *wheels], check=True)
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


def alone(energy_alone: Path, folder: Path, program: str, *arguments: str) -> str:
    """What a program of that environment prints, away from the checkout."""
    done = subprocess.run(
        [energy_alone / program, *arguments], cwd=folder, env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_energy_installs_without_wirelab(energy_alone: Path, tmp_path: Path) -> None:
    code = "from importlib.util import find_spec; print(find_spec('wirelab'))"
    assert alone(energy_alone, tmp_path, "python", "-c", code) == "None\n"
    listed = alone(energy_alone, tmp_path, "python", "-c", "import wirelab_energy as e; print(len(e.radio_names()))")
    assert int(listed) == len(list((ROOT / "python/wirelab_energy/data/radios").glob("*.toml")))


def test_the_readme_of_energy_shows_what_is_printed(energy_alone: Path, tmp_path: Path) -> None:
    """Its Python, its command, and the trace that the command reads."""
    trace = "".join(f"{at / 10},{2.0 if 120 <= at < 140 else 0.8}\n" for at in range(200))
    (tmp_path / "power.csv").write_text(f"time (s),power (W)\n{trace}")
    blocks = re.findall(r"```(\w*)\n(.*?)```", (ROOT / "python/wirelab_energy/README.md").read_text(), re.DOTALL)
    [code] = [text for language, text in blocks if language == "python"]
    [session] = [text for language, text in blocks if language == "console"]
    shown = re.findall(r"# prints: (.*)", code)
    assert alone(energy_alone, tmp_path, "python", "-c", code).splitlines() == shown
    command, *lines = session.splitlines()
    program, *arguments = shlex.split(command.removeprefix("$ "))
    assert alone(energy_alone, tmp_path, program, *arguments).splitlines() == lines
