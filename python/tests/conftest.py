"""How long an example takes decides no test: Hypothesis's own limit is in wall-clock time.

Where everything is required, as in CI, each run draws the same examples; elsewhere it draws new ones.
"""

import os

from hypothesis import settings

settings.register_profile("random", deadline=None)
settings.register_profile("fixed", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=1000)
usual = "fixed" if os.environ.get("WIRELAB_REQUIRE_ALL") else "random"
settings.load_profile(os.environ.get("WIRELAB_EXAMPLES") or usual)
