"""A campaign as one file that others check and, under the virtual clock, repeat bit for bit."""
