"""One gate: its plan, its evidence, the comparisons, the verdict, and all of it on disk."""
