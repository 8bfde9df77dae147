"""The synthetic corpus is a whole: its facts, queries, qrels, triples, times and secrets agree."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from datetime import date, timedelta

import pytest

from hopgate.demo import Corpus, corpus
from hopgate.demo.world import FIRST_DAY, LAST_DAY, WorldFact

STRATA = {"exact": 1, "paraphrase": 1, "temporal": 1, "two-hop": 2, "three-hop": 3, "chat": 1}
# Queries of a stratum in each split, at least: the threads are few.
LEAST = dict.fromkeys(STRATA, 20) | {"chat": 12}


@pytest.fixture(params=[7, 1, 2])
def world(request: pytest.FixtureRequest) -> Corpus:
    return corpus(request.param)


def held(facts: list[WorldFact], as_of: date, known_at: date | None = None) -> list[WorldFact]:
    return [fact for fact in facts if fact.holds(as_of, known_at)]


def day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def histories(world: Corpus) -> list[list[WorldFact]]:
    found: dict[tuple[str, str], list[WorldFact]] = defaultdict(list)
    for fact in world.facts:
        if fact.relation in world.single_valued:
            found[fact.subject, fact.relation].append(fact)
    return list(found.values())


def test_it_has_the_size_and_the_variety_of_a_small_real_store(world: Corpus) -> None:
    memories = world.memories
    notes = [memory for memory in memories if memory.thread is None]
    assert 350 <= len(notes) <= 480
    assert [memory.external_id for memory in notes] == [f"m{n:04}" for n in range(1, len(notes) + 1)]
    assert len({memory.content for memory in memories}) > 0.97 * len(memories)
    assert {memory.scope for memory in memories} == {None, "home", "work"}
    assert len({memory.category for memory in memories}) > 30
    days = [memory.created_at.date() for memory in memories if memory.created_at]
    assert days == sorted(days) and min(days) >= FIRST_DAY and max(days) <= LAST_DAY
    assert len({(at.year, at.month) for at in days}) == 24
    openings = Counter(tuple(memory.text.split()[:2]) for memory in memories)
    assert openings.most_common(1)[0][1] < 0.05 * len(memories)
    assert corpus.__wrapped__(7) == corpus() and corpus(1).memories != corpus(2).memories


def test_every_stratum_is_in_both_splits_and_qrels_are_the_evidence(world: Corpus) -> None:
    stratum = {query.id: query.metadata["stratum"] for query in world.queries}
    sensitive = {memory.external_id for memory in world.memories if memory.is_sensitive}
    assert len(stratum) == len(world.queries)
    assert not world.qrels["dev"].keys() & world.qrels["test"].keys()
    qrels = world.qrels["dev"] | world.qrels["test"]
    assert qrels.keys() == stratum.keys()
    for split in world.qrels.values():
        counts = Counter(stratum[key] for key in split)
        assert set(counts) == set(STRATA) and all(counts[name] >= least for name, least in LEAST.items())
    for query in world.queries:
        kind = query.metadata["stratum"]
        assert query.metadata["type"] == kind and query.metadata["hops"] == len(query.evidence) == STRATA[kind]
        assert qrels[query.id] == {key: 1 for hop in query.evidence for key in hop}
        assert not sensitive & qrels[query.id].keys()


def test_memories_and_triples_say_what_the_facts_say(world: Corpus) -> None:
    text = {memory.external_id: memory.content.lower() for memory in world.memories}
    at = {memory.external_id: memory.created_at.date() for memory in world.memories if memory.created_at}
    for fact in world.facts:
        first, *again = (at[key] for key in fact.evidence)
        assert first == fact.recorded_at and all(later > first for later in again)
        for key in fact.evidence:
            assert fact.subject.lower() in text[key] and fact.object.lower() in text[key]
            assert not fact.dated or str(fact.valid_from and fact.valid_from.year) in text[key]
    assert sum(len(fact.evidence) > 1 for fact in world.facts) == 10
    for row in world.triples:
        names = [row["entity"]] if "entity" in row else [row["subject"], row["object"]]
        assert all(name.lower() in text[row["doc_id"]] for name in names)
    told = {(f.subject, f.relation, f.object, key, f.valid_from) for f in world.facts for key in f.evidence}
    rows = [row for row in world.triples if "relation" in row]
    assert told == {(r["subject"], r["relation"], r["object"], r["doc_id"], day(r.get("valid_from"))) for r in rows}


def test_look_alikes_and_turns_tell_no_fact(world: Corpus) -> None:
    told = {key for fact in world.facts for key in fact.evidence}
    mentioning = {row["doc_id"] for row in world.triples if "entity" in row}
    threads = defaultdict(list)
    for memory in world.memories:
        if memory.thread:
            threads[memory.scope, memory.thread].append(memory)
    turns = {turn.external_id for thread in threads.values() for turn in thread}
    assert turns <= mentioning and not turns & told and len(mentioning - told - turns) == 30
    assert len(threads) == 6 and sorted(turns) == [f"t{n:04}" for n in range(1, 49)]
    for thread in threads.values():
        assert len({turn.text.partition(":")[0] for turn in thread}) == 2
        for before, after in itertools.pairwise(thread):
            assert before.created_at and after.created_at
            assert timedelta(0) < after.created_at - before.created_at < timedelta(minutes=10)


def test_a_history_has_no_gap_and_exactly_one_fact_of_it_holds_whatever_is_known(world: Corpus) -> None:
    changing = [facts for facts in histories(world) if len(facts) > 1]
    assert len(changing) > 40 and any(len(facts) > 2 for facts in changing)
    late = 0
    for facts in histories(world):
        for old, new in itertools.pairwise(facts):
            assert new.valid_from and old.valid_to == new.valid_from and old.end_recorded_at == new.recorded_at
            assert new.valid_from <= new.recorded_at and old.recorded_at < new.valid_from
            late += (new.recorded_at - new.valid_from).days > 7
        assert facts[-1].valid_to is None and facts[-1].end_recorded_at is None
        first = max(facts[0].recorded_at, facts[0].valid_from or facts[0].recorded_at)
        for offset in range(0, (LAST_DAY - first).days, 9):
            as_of = first + timedelta(offset)
            for known in (None, as_of, as_of + timedelta(30), LAST_DAY):
                assert len(held(facts, as_of, known)) == 1
    assert late > 10


def test_temporal_queries_are_answered_by_the_timeline(world: Corpus) -> None:
    asked = [query for query in world.queries if query.metadata["stratum"] == "temporal"]
    believed = 0
    for query in asked:
        as_of, known_at = date.fromisoformat(query.metadata["as_of"]), day(query.metadata.get("known_at"))
        ((*keys,),) = query.evidence
        (facts,) = [facts for facts in histories(world) if any(set(keys) == set(fact.evidence) for fact in facts)]
        (answer,) = held(facts, as_of, known_at)
        assert answer.object == query.metadata["answer"] and list(answer.evidence) == keys
        assert facts[0].subject in query.text
        if known_at:
            believed += 1
            assert held(facts, as_of)[0] != answer, "what was believed is not what was so"
    assert believed > 10
    answered = {key for query in asked for hop in query.evidence for key in hop}
    assert all(len(facts) == 1 or all(set(fact.evidence) <= answered for fact in facts) for facts in histories(world))
    current = {key for fact in world.facts if fact.holds(LAST_DAY) for key in fact.evidence}
    chained = [query for query in world.queries if query.metadata["hops"] > 1]
    assert all(key in current for query in chained for hop in query.evidence for key in hop)


def test_canaries_are_in_their_memory_and_nowhere_else(world: Corpus) -> None:
    sensitive = {memory.external_id for memory in world.memories if memory.is_sensitive}
    assert world.canaries.keys() == sensitive and len(sensitive) >= 10
    words = [word for found in world.canaries.values() for word in found]
    assert len(set(words)) == len(words)
    everything = {memory.external_id: repr(memory) for memory in world.memories}
    elsewhere = repr([*world.queries, *world.triples])
    for key, (word,) in world.canaries.items():
        assert [other for other, text in everything.items() if word in text] == [key] and word not in elsewhere
