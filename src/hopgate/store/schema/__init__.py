"""The database's schema: its version and its migrations."""
