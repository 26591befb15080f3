"""Builds the agent with cargo and puts it into the wheel as a script, so that an installed Wirelab needs no Rust."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

AGENT = "wirelab-agent"


class AgentBuildHook(BuildHookInterface[Any]):
    """Adds `wirelab-agent` to the wheel's scripts and gives the wheel the platform's tag."""

    _temporary: TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the agent; `WIRELAB_AGENT` names one built elsewhere, and `WIRELAB_PLATFORM` where it runs."""
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{os.environ.get('WIRELAB_PLATFORM', platform)}"
        build_data["shared_scripts"][str(self._agent())] = AGENT
        # An editable one is a checkout, which knows its own commit.
        if version == "standard" and (commit := self._commit()) is not None:
            build_data["force_include"][str(commit)] = "wirelab/data/commit.txt"

    def _commit(self) -> Path | None:
        """A file with the commit that `wirelab --version` names; None outside a checkout."""
        named = ["git", "-C", self.root, "rev-parse", "--short=12", "HEAD"]
        try:
            done = subprocess.run(named, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        self._temporary = TemporaryDirectory()
        path = Path(self._temporary.name) / "commit.txt"
        path.write_text(done.stdout, encoding="ascii")
        return path

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 (hatchling names them)
        """The wheel has the file now."""
        if self._temporary is not None:
            self._temporary.cleanup()

    def _agent(self) -> Path:
        if built := os.environ.get("WIRELAB_AGENT"):
            return Path(built)
        if shutil.which("cargo") is None:
            raise SystemExit(
                "wirelab: cargo is not on PATH; install Rust with rustup (https://rustup.rs), "
                "or set WIRELAB_AGENT to a built agent"
            )
        root = Path(self.root)
        subprocess.run(["cargo", "build", "--release", "--locked", "--package", AGENT], cwd=root, check=True)
        target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
        return target / "release" / AGENT
