"""Which application protocol should my devices speak over my link? Measured, with intervals."""
