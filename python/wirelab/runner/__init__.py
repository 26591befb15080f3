"""Trials to a campaign directory: every process, time-out and clean-up of a run.

Knows no statistics and no protocol.
"""
