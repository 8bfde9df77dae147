"""Where memories come from: one file a source, each giving records as a corpus.jsonl would have them."""
