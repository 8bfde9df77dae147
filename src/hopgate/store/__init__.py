"""PostgreSQL: open a store, move rows in and out."""
