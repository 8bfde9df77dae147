"""The graph to look at: edges, figures, exports, and the shuffle that is an evaluation's control."""
