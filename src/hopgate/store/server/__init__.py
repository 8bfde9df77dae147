"""The embedded PostgreSQL: its programs, its process, its locks."""
