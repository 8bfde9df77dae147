"""Where memories go: one file a format that other programs read."""
