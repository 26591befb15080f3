"""The units of estimates by those of columns. Converts nothing by itself."""

from __future__ import annotations

UNITS = {"ns": ("s", 1e-9), "bps": ("bit/s", 1.0), "bytes": ("B", 1.0), "j": ("J", 1.0)}
"""Unit and factor from a column to an estimate; others keep theirs."""
