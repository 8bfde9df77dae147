"""Work that one process is too slow for: backfills of millions, in this process or on a Ray cluster."""
