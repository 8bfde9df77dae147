"""Lexical recall over a SQLite file, read-only, without a server."""
