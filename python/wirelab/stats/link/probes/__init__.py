"""The probes' results for each property of a link, next to its configuration."""
