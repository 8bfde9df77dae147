"""The graph's rows: names, concepts, facts, edges, vectors, and the version of it all."""
