"""Clusters of concepts that come from the graph: weights, communities, their levels, their ids and their names."""
