"""How long an example takes decides no test: Hypothesis's own limit is in wall-clock time."""

from hypothesis import settings

settings.register_profile("wirelab", deadline=None)
settings.load_profile("wirelab")
