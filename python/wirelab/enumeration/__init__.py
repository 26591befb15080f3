"""Loss enumerated instead of sampled: runs of the virtual clock -> exact probabilities with bounds. Pure."""
