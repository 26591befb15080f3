"""A measured trace of current or power: read, and integrated above idle (h2window2017's method)."""

from wirelab_energy.trace.file import read_trace
from wirelab_energy.trace.idle import Idle, find_idle, idle_between
from wirelab_energy.trace.trace import Trace
from wirelab_energy.trace.work import Work, work

__all__ = ["Idle", "Trace", "Work", "find_idle", "idle_between", "read_trace", "work"]
