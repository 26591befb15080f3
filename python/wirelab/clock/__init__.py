"""Where a host runs: a process here (live), or a guest of a time-travelling kernel (virtual), and that kernel's recipe.

It knows requests and replies, and neither plans nor campaigns.
"""
