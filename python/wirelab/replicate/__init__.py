"""Several campaigns of one paper to one record: `replication.json`. Judges nothing anew."""
