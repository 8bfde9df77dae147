"""Normal forms of names, the index of names, and links between names, memories and titles."""
