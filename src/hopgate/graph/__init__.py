"""Facts to concepts and edges, and walks over them."""
