"""The machine's effects on endpoints: waiting for a CPU, and limits on CPU time."""
