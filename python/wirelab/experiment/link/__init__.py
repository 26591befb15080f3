"""A link as written, and the `LinkSpec` it means.

Layers are merged (`layers`), read as one table (`table`) and made to a chain of stages for each direction (`chain`).
"""

from wirelab.experiment.link.chain import default_queues, link_spec
from wirelab.experiment.link.layers import (
    MERGED,
    WAYS,
    LinkConflictError,
    check_conflicts,
    merge,
    without_parts,
)
from wirelab.experiment.link.table import LinkTable

__all__ = [
    "MERGED",
    "WAYS",
    "LinkConflictError",
    "LinkTable",
    "check_conflicts",
    "default_queues",
    "link_spec",
    "merge",
    "without_parts",
]
