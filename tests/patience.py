"""How long a test waits for what is certain to happen: a machine with many guests may stand still for a minute."""

PATIENCE = 300.0
"""In seconds; nothing takes that long when all is well, and what never happens fails all the same."""
