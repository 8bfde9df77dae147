"""What is made of hits for a language model: a context with citations, and an answer that cites."""
