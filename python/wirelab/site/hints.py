"""What a server that is told of a page's resources by hand is told: a hint, a media type, a place."""

from __future__ import annotations

from pathlib import PurePosixPath

from wirelab.site.manifest import Kind, Resource, Site

_AS = {Kind.STYLESHEET: "style", Kind.SCRIPT: "script", Kind.IMAGE: "image", Kind.FONT: "font"}


def preload_link(resource: Resource) -> str:
    """The value of a Link field (RFC 8288) that hints at a resource. A font is fetched as of another origin, always; a
    hint that does not say so has it fetched twice.
    """
    use = _AS.get(resource.kind, "fetch")
    crossorigin = "; crossorigin" if use in {"font", "fetch"} else ""
    return f"<{resource.path}>; rel=preload; as={use}{crossorigin}"


def resource_texts(site: Site) -> tuple[dict[str, str], ...]:
    """The placeholders of each resource, the document first (`docs/contract.md`)."""
    return tuple(
        {
            "path": resource.path,
            "file": resource.file,
            "link": preload_link(resource),
            "media_type": resource.media_type,
            "extension": PurePosixPath(resource.file).suffix.removeprefix("."),
        }
        for resource in site.resources
    )
