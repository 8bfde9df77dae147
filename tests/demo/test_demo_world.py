"""The synthetic corpus is a whole: its facts, queries, qrels, triples, times and secrets agree."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from datetime import date, timedelta

import pytest

from hopgate.demo import corpus
from hopgate.demo.make_corpus import corpus as build
from hopgate.demo.world import FIRST_DAY, LAST_DAY

SEEDS = [7, 1, 2, 3]
STRATA = {"exact": 1, "paraphrase": 1, "temporal": 1, "two-hop": 2, "three-hop": 3, "chat": 1}
# Queries of a stratum in each split, at least: the threads are few.
LEAST = dict.fromkeys(STRATA, 20) | {"chat": 12}


def held(facts, as_of, known_at=None):
    return [fact for fact in facts if fact.holds(as_of, known_at)]


@pytest.fixture(params=SEEDS)
def world(request):
    return corpus(request.param)


def day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def histories(world):
    found = defaultdict(list)
    for fact in world.facts:
        if fact.relation in world.single_valued:
            found[fact.subject, fact.relation].append(fact)
    return found


def test_it_has_the_size_and_the_variety_of_a_small_real_store(world):
    memories = world.memories
    notes = [memory for memory in memories if memory.thread is None]
    assert 350 <= len(notes) <= 480
    assert [memory.external_id for memory in notes] == [f"m{n:04}" for n in range(1, len(notes) + 1)]
    assert len({memory.content for memory in memories}) > 0.97 * len(memories)
    assert {memory.scope for memory in memories} == {None, "home", "work"}
    assert len({memory.category for memory in memories}) > 30
    assert 0.1 < sum(bool(memory.expanded_keywords) for memory in memories) / len(memories) < 0.6
    assert 0.02 < sum(bool(memory.title) for memory in memories) / len(memories) < 0.3
    days = [memory.created_at.date() for memory in memories]
    assert days == sorted(days) and min(days) >= FIRST_DAY and max(days) <= LAST_DAY
    assert len({(at.year, at.month) for at in days}) == 24


def test_no_way_of_telling_dominates(world):
    openings = Counter(tuple(memory.text.split()[:2]) for memory in world.memories)
    assert openings.most_common(1)[0][1] < 0.05 * len(world.memories)


def test_every_stratum_is_in_both_splits_and_every_query_in_one(world):
    stratum = {query.id: query.metadata["stratum"] for query in world.queries}
    assert len(stratum) == len(world.queries)
    assert len({query.text for query in world.queries}) > 0.98 * len(world.queries)
    assert not world.qrels["dev"].keys() & world.qrels["test"].keys()
    assert world.qrels["dev"].keys() | world.qrels["test"].keys() == stratum.keys()
    for qrels in world.qrels.values():
        counts = Counter(stratum[key] for key in qrels)
        assert set(counts) == set(STRATA) and all(counts[name] >= least for name, least in LEAST.items())
    for query in world.queries:
        kind = query.metadata["stratum"]
        assert query.metadata["type"] == kind and query.metadata["hops"] == len(query.evidence) == STRATA[kind]


def test_qrels_are_the_evidence_and_no_sensitive_memory_is_asked_for(world):
    known = {memory.external_id: memory for memory in world.memories}
    qrels = world.qrels["dev"] | world.qrels["test"]
    for query in world.queries:
        assert qrels[query.id] == {key: 1 for hop in query.evidence for key in hop}
        assert not any(known[key].is_sensitive for key in qrels[query.id])


def test_memories_say_what_their_facts_say(world):
    text = {memory.external_id: memory.content.lower() for memory in world.memories}
    for fact in world.facts:
        for key in fact.evidence:
            assert fact.subject.lower() in text[key] and fact.object.lower() in text[key]
            assert not fact.dated or str(fact.valid_from.year) in text[key]
    for row in world.triples:
        names = [row["entity"]] if "entity" in row else [row["subject"], row["object"]]
        assert all(name.lower() in text[row["doc_id"]] for name in names)


def test_a_fact_is_told_first_when_it_is_told_and_some_are_told_again_later(world):
    at = {memory.external_id: memory.created_at.date() for memory in world.memories}
    for fact in world.facts:
        first, *again = (at[key] for key in fact.evidence)
        assert first == fact.recorded_at and all(later > first for later in again)
    assert sum(len(fact.evidence) > 1 for fact in world.facts) == 10


def test_triples_are_the_facts_as_told(world):
    told = {(f.subject, f.relation, f.object, key, f.valid_from) for f in world.facts for key in f.evidence}
    rows = [row for row in world.triples if "relation" in row]
    assert told == {(r["subject"], r["relation"], r["object"], r["doc_id"], day(r.get("valid_from"))) for r in rows}
    sensitive = {memory.external_id for memory in world.memories if memory.is_sensitive}
    assert not sensitive & {row["doc_id"] for row in world.triples}


def test_look_alikes_tell_no_fact(world):
    told = {key for fact in world.facts for key in fact.evidence}
    mentioning = {row["doc_id"] for row in world.triples if "entity" in row}
    turns = {memory.external_id for memory in world.memories if memory.thread}
    assert turns <= mentioning and not turns & told
    assert len(mentioning - told - turns) == 30


def test_turns_of_a_thread_follow_each_other_by_minutes(world):
    threads = defaultdict(list)
    for memory in world.memories:
        if memory.thread:
            threads[memory.scope, memory.thread].append(memory)
    turns = [turn for told in threads.values() for turn in told]
    assert len(threads) == 6 and sorted(turn.external_id for turn in turns) == [f"t{n:04}" for n in range(1, 49)]
    for told in threads.values():
        assert [turn.external_id for turn in told] == sorted(turn.external_id for turn in told)
        assert len({turn.text.partition(":")[0] for turn in told}) == 2
        for before, after in itertools.pairwise(told):
            assert timedelta(0) < after.created_at - before.created_at < timedelta(minutes=10)
    answered = {key for query in world.queries if query.metadata["stratum"] == "chat" for key in query.evidence[0]}
    assert len(answered) == 24 and answered <= {turn.external_id for turn in turns}


def test_a_history_has_no_gap_and_is_told_in_order(world):
    changing = [facts for facts in histories(world).values() if len(facts) > 1]
    assert len(changing) > 40
    assert any(len(facts) > 2 for facts in changing)
    late = 0
    for facts in histories(world).values():
        for old, new in itertools.pairwise(facts):
            assert old.valid_to == new.valid_from and old.end_recorded_at == new.recorded_at
            assert new.valid_from <= new.recorded_at and old.recorded_at < new.valid_from
            late += (new.recorded_at - new.valid_from).days > 7
        assert facts[-1].valid_to is None and facts[-1].end_recorded_at is None
    assert late > 10


def test_exactly_one_fact_holds_on_every_day_whatever_is_known(world):
    for facts in histories(world).values():
        first = max(facts[0].recorded_at, facts[0].valid_from or facts[0].recorded_at)
        for offset in range(0, (LAST_DAY - first).days, 9):
            as_of = first + timedelta(offset)
            assert len(held(facts, as_of)) == 1
            for known in (as_of, as_of + timedelta(30), LAST_DAY):
                assert len(held(facts, as_of, known)) == 1


def test_temporal_queries_are_answered_by_the_timeline(world):
    by_text = histories(world)
    asked = [query for query in world.queries if query.metadata["stratum"] == "temporal"]
    believed = 0
    for query in asked:
        as_of, known_at = day(query.metadata["as_of"]), day(query.metadata.get("known_at"))
        ((*keys,),) = query.evidence
        (facts,) = [facts for facts in by_text.values() if any(set(keys) == set(fact.evidence) for fact in facts)]
        (answer,) = held(facts, as_of, known_at)
        assert answer.object == query.metadata["answer"] and list(answer.evidence) == keys
        assert facts[0].subject in query.text
        if known_at:
            believed += 1
            assert held(facts, as_of)[0] != answer, "what was believed is not what was so"
    assert believed > 10
    answered = {key for query in asked for hop in query.evidence for key in hop}
    for facts in by_text.values():
        assert len(facts) == 1 or all(set(fact.evidence) <= answered for fact in facts)


def test_chains_are_asked_of_what_is_so_today(world):
    current = {key for fact in world.facts if fact.holds(LAST_DAY) for key in fact.evidence}
    for query in world.queries:
        if query.metadata["hops"] > 1:
            assert {key for hop in query.evidence for key in hop} <= current


def test_canaries_are_in_their_memory_and_nowhere_else(world):
    sensitive = {memory.external_id for memory in world.memories if memory.is_sensitive}
    assert world.canaries.keys() == sensitive and len(sensitive) >= 10
    words = [word for found in world.canaries.values() for word in found]
    assert len(set(words)) == len(words)
    everything = {memory.external_id: repr(memory) for memory in world.memories}
    for key, found in world.canaries.items():
        for word in found:
            assert [other for other, text in everything.items() if word in text] == [key]
            assert not any(word in query.text for query in world.queries)
            assert not any(word in repr(row) for row in world.triples)


def test_another_seed_is_another_world():
    assert corpus(1).memories != corpus(2).memories
    assert build.__wrapped__(7) == corpus()
