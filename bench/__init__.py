"""Wirelab's link next to plain veth and other emulators, in one run on one machine. Figures, no verdict on the code."""
