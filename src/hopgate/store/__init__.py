"""PostgreSQL: open a store, migrate it, move rows in and out."""
