"""What probes of a link show of each of its properties, next to what was configured."""
