"""Extraction by a language model, local or behind an endpoint: prompt, answer, repair."""
