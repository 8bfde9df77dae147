"""Work that one process is too slow for: backfills of millions, in this process or in several beside it."""
