"""From seed concepts to memories: the matrix, the seeds, the walk, and the path that explains a hit."""
