"""Memories in parts by scope: a copy beside the table, kept up with it, and put in its place."""
