"""The grid that factors span, and each of its points resolved to a scenario."""
