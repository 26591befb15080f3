"""A page with its bodies, and the folder from which any server serves it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import RunError, Where
from wirelab.site.manifest import Site


@dataclass(frozen=True)
class Page:
    """A manifest and the body of each of its resources, in their order."""

    site: Site
    bodies: tuple[bytes, ...]

    def write(self, folder: Path) -> None:
        """Write every resource's file below the folder: these and no other files are the page's."""
        for resource, body in zip(self.site.resources, self.bodies, strict=True):
            file = folder / resource.file
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(body)
            except OSError as error:
                raise RunError(
                    f"cannot be written: {error.strerror}", Where(str(file)), "name another folder"
                ) from None
