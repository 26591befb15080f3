"""How large pages may be. Checks nothing."""

from __future__ import annotations

MAX_RESOURCES = 1000
MAX_BYTES = 64 * 1024 * 1024
"""Of all bodies: they are held in memory."""
MOST_IMAGES = MAX_RESOURCES - 1
"""A document names them."""
LEAST_IMAGE_BYTES = 100
