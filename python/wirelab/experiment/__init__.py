"""Experiment file to `Experiment`. Pure: reads the file and what ships, never the machine."""

from wirelab.experiment.experiment import Experiment, load_experiment
from wirelab.experiment.scenario import Scenario

__all__ = ["Experiment", "Scenario", "load_experiment"]
