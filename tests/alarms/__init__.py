"""False alarms and misses of `wirelab compare` in real time."""
