"""What the machine did to endpoints: waiting for a CPU, and limits on CPU time."""
