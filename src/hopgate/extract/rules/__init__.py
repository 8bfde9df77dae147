"""The extractor that needs no model: tokens, candidates, patterns, relations."""
