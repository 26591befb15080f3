"""The campaign's own certificates, made once for each key type and never trusted by anything else."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from wirelab.clock.host import Host
from wirelab.plan import stable_hash
from wirelab.runner.endpoints import SERVER_NAME
from wirelab.schema import Certificates, ClientCertificate

FOLDER = "certificates"


def make_certificates(campaign: Path, kinds: Iterable[str], host: Host, seed: int) -> dict[str, Certificates]:
    """PEM files by key type; those of an earlier run of the campaign are used again. Under the virtual clock they are
    the same in every campaign of this seed.
    """
    made = {}
    for kind in sorted(set(kinds)):
        folder = campaign / FOLDER / kind
        files = Certificates(
            authority=folder / "authority.pem",
            chain=folder / "chain.pem",
            key=folder / "key.pem",
            client=ClientCertificate(chain=folder / "client-chain.pem", key=folder / "client-key.pem"),
        )
        if not all(path.exists() for path in _paths(files)):
            # The agent overwrites nothing, and a killed run may have left some of the files.
            shutil.rmtree(folder, ignore_errors=True)
            own_seed = stable_hash(seed, "certificates", kind)
            host.ask_agent(["certificates", "--key", kind, "--name", SERVER_NAME, "--out", str(folder)], own_seed)
        made[kind] = files
    return made


def _paths(files: Certificates) -> list[Path]:
    client = files.client
    return [files.authority, files.chain, files.key, *([client.chain, client.key] if client is not None else [])]
