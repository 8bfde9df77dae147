"""How the graph is made and changed: backfill, new memories, deletions, merges by hand, curation."""
