"""Legs, fusion, the proof that a leg can reach the top k, and the way of a query through them."""
