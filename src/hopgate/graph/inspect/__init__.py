"""The graph to look at: edges, figures and pictures."""
