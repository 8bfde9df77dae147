"""Names as they are compared, and found in texts."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hopgate.graph.names import concepts_in, name_words, normalise


@settings(max_examples=400, deadline=None)
@given(st.text(min_size=1))
@example("a the x")
@example("ǰ's")
@example("0.a.0")
def test_normalising_is_done_once(name):
    once = normalise(name)
    assert normalise(once) == once


WORDS = st.sampled_from(["mill", "street", "norwich", "canal", "north", "lock", "keeper", "barge"])
MADE_UP = st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=12)
TEXT = st.lists(WORDS, max_size=20).map(" ".join)


@settings(deadline=None)
@given(MADE_UP, TEXT)
def test_what_is_found_is_there_and_never_overlaps(names, text):
    tokens, end = name_words(text), 0
    for concept in concepts_in(text, [(normalise(name), number) for number, name in enumerate(names)]):
        name = name_words(names[concept])
        start = next(at for at in range(end, len(tokens)) if tokens[at : at + len(name)] == name)
        end = start + len(name)
