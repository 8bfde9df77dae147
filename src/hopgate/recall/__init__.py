"""Legs, fusion, and the proof that a leg can be heard."""
