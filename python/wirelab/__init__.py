"""Which application protocol should my devices speak over my link? Measured, with intervals."""

__version__ = "0.1.0"
