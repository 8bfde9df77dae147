"""hopgate in the shapes that other frameworks expect: one file a framework, each an extra."""
