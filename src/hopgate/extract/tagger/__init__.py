"""What a small trained model sees in a short note: which words are a thing, its value now, and what it was before."""
