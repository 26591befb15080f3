"""Estimates to Verdicts on stated claims. Pure but for `judge.judge_campaign`, which reads a campaign and writes its
verdicts; `load` reads a file of claims.
"""
