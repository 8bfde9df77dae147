"""Memories to mentions and typed facts: one file an extractor."""
