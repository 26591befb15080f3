"""What the control plane takes of time and memory for campaigns that are larger than anybody runs in a test."""
