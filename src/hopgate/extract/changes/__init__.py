"""Whether a later note ends what an earlier one says: a small trained model, and who may be asked instead of it."""
