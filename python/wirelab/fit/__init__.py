"""Measurements of a real link to a link profile. Pure: text or rows in, a profile and what it cannot say out.

One module reads each kind of measurement (`ping`, `irtt`, `capture`) into `Observations`; `profile` fits them.
"""

from wirelab.fit.capture import observe_capture
from wirelab.fit.irtt import observe_irtt
from wirelab.fit.observations import MeasurementError, Observations, Source
from wirelab.fit.ping import observe_ping
from wirelab.fit.profile import FittedProfile, fit_profile
from wirelab.fit.text import profile_text

__all__ = [
    "FittedProfile",
    "MeasurementError",
    "Observations",
    "Source",
    "fit_profile",
    "observe_capture",
    "observe_irtt",
    "observe_ping",
    "profile_text",
]
