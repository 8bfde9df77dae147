"""Long memories: what stands late in one is found, the hit says where, and nothing of it outlives its text."""

from typing import Any

import numpy as np
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from reliability.canary import cached

from hopgate import Memory
from hopgate.cli import application
from hopgate.kb import KnowledgeBase
from hopgate.memory import Cleared
from hopgate.passages import LONG_BYTES, PASSAGE_BYTES, is_long, passage_text, passages
from hopgate.recall.settings import RecallOptions

WEATHER = "Clouds came over the hill and went away again in the afternoon. "
FACT = "The spare key of the greenhouse hangs behind the blue kettle. "
# The fact is in word 900: the bundled model reads some 380 words.
LATE = WEATHER * 75 + FACT + WEATHER * 20
QUESTION = "where is the spare key of the greenhouse"


def count(kb: KnowledgeBase, sql: str = "SELECT count(*) FROM passages") -> Any:
    with kb.store.transaction() as connection:
        return next(connection.execute(sql), (0,))[0]


def test_a_fact_in_word_900_is_found_and_the_hit_says_which_passage(kb):
    others = [f"The {thing} of the shed is behind the door." for thing in ("rake", "spade", "lamp", "hose", "ladder")]
    kb.add(Memory("late", LATE), *(Memory(f"o{n}", text) for n, text in enumerate(others)))
    kb.embed("bge-small")
    assert kb.recall(QUESTION, legs=("dense",), k=6)[0].external_id == "late"
    kb.add(Memory("short", FACT))
    kb.embed()
    ways: list[RecallOptions] = [{}, {"rerank": True, "rerank_timeout": 60.0}]
    for options in ways:
        found = {hit.external_id: hit for hit in kb.recall(QUESTION, legs=("lexical", "dense"), **options)}
        passage = found["late"].passage
        assert passage is not None and FACT.strip() in passage.text
        assert LATE[passage.start : passage.end] == passage.text
        assert found["late"].to_dict()["passage"]["start"] == passage.start
        assert found["short"].passage is None and "passage" not in found["short"].to_dict()
    assert (found["late"].rerank_score or 0) > 0
    shown = CliRunner().invoke(
        application, ["recall", QUESTION, "--dsn", kb.store.dsn, "--explain"], env={"COLUMNS": "200"}
    )
    assert "greenhouse" in shown.output and "characters " in shown.output


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(st.lists(text, min_size=1, max_size=6), st.sampled_from([" ", ". ", "\n", "。", ""]), st.integers(1, 400))
def test_passages_are_small_and_leave_nothing_out(words, between, times):
    content = (between.join(words) + between) * times
    found = passages(content)
    assert bool(found) == is_long(content) == (len(content.encode()) > LONG_BYTES)
    covered = np.zeros(len(content), dtype=bool)
    for span in found:
        assert 0 <= span.start < span.end <= len(content)
        assert len(content[slice(*span)].encode()) <= PASSAGE_BYTES or not content.strip()
        covered[slice(*span)] = True
    if found:
        assert not "".join(np.array(list(content))[~covered]).strip()
        assert [span.start for span in found] == sorted({span.start for span in found})


def test_a_heading_goes_before_every_passage():
    content = Cleared("The greenhouse\n" + WEATHER * 60)
    first, second, *_ = passages(content)
    assert passage_text(content, first) == content[slice(*first)]
    assert passage_text(content, second) == "The greenhouse\n" + content[slice(*second)]


def test_only_long_memories_have_passages_and_what_becomes_of_one_becomes_of_them(kb, endpoint, cache):
    parts = [passage_text(Cleared(LATE), span) for span in passages(LATE)]
    kb.add(Memory("late", LATE), Memory("short", FACT))
    kb.embed(endpoint.spec)
    assert count(kb) == len(parts) == count(kb, "SELECT count(embedding) FROM passages")
    assert kb.pending_vectors() == 0 and cached(cache, parts) == parts
    kb.add(Memory("late", LATE + FACT))
    assert (count(kb), kb.pending_vectors()) == (0, 1)
    kb.embed()
    assert count(kb) == len(passages(LATE + FACT)) and kb.pending_vectors() == 0
    kb.mark_sensitive(["late"])
    assert count(kb) == kb.embed() == 0 and cached(cache, parts) == []
    assert kb.recall("spare key of the greenhouse", k=2)[0].passage is None
    kb.unmark_sensitive(["late"])
    assert kb.embed() == 1 and count(kb) == len(passages(LATE + FACT))
    kb.delete(["late"])
    assert count(kb) == 0
