"""`python -m wirelab` is `wirelab`."""

from wirelab.cli import main

main(prog_name="wirelab")
