"""Evaluation data: data sets, queries, judgements and runs, read and written."""
