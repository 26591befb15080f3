"""Experiment file to `Experiment`, by `experiment.load_experiment`. Pure: reads the file and what ships, never the
machine.
"""
