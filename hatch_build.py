"""Builds the agent with cargo and puts it into the wheel as a script, so that an installed Wirelab needs no Rust."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

AGENT = "wirelab-agent"


class AgentBuildHook(BuildHookInterface[Any]):
    """Adds `wirelab-agent` to the wheel's scripts and gives the wheel the platform's tag."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 (hatchling names it)
        """Build the agent; `WIRELAB_AGENT` names one built elsewhere, and `WIRELAB_PLATFORM` where it runs."""
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{os.environ.get('WIRELAB_PLATFORM', platform)}"
        build_data["shared_scripts"][str(self._agent())] = AGENT

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
