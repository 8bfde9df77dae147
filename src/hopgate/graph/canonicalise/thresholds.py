"""How alike names must be in a store: the same for a backfill and for a name that comes later."""

# A wrong merge costs a walk more than a missed one: on dev, 0.5 / 0.65 / 0.8 give the graph leg recall@5 of
# .778 / .794 / .800 on musique, and 0.5 / 0.8 both .954 on 2wiki. (The canonicaliser's own default, 0.5, is best on
# the labelled sets, where nearly every name has a namesake.)
MERGE = 0.8
# Between this and MERGE a person or a model decides; below, names are different things.
ASK = 0.5
