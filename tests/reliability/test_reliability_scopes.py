"""No scope tells another anything: what a scope is answered is equal, bit for bit, with and without the others.

With `HOPGATE_SOAK` there are 2,000 worlds, or as many as `HOPGATE_SOAK_WORLDS` says.
"""

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

import hopgate
from hopgate import Memory
from hopgate.graph.inspect import Neighbourhood
from hopgate.kb import KnowledgeBase

WORLDS = int(os.environ.get("HOPGATE_SOAK_WORLDS") or (2000 if os.environ.get("HOPGATE_SOAK") else 1))
PEOPLE = ("Ada Byron", "Grace Hopper", "Mary Jackson", "Radia Perlman")
THINGS = ("immich", "paperless", "Atlas", "Zephyr", "cedar")
PLACES = ("Leeds", "Norwich", "Mill Street, Norwich")
START = datetime(2024, 1, 1, tzinfo=UTC)

# Sentences that the rules read facts, names in lower case, pronouns and places from; some end what others say.
SENTENCES = st.one_of(
    st.builds("{} lives in {}.".format, st.sampled_from(PEOPLE), st.sampled_from(PLACES)),
    st.builds("{} works at {}.".format, st.sampled_from(PEOPLE), st.sampled_from(THINGS)),
    st.builds("{} runs on {}.".format, st.sampled_from(THINGS), st.sampled_from(THINGS)),
    st.builds("Rebooted {} and {} again.".format, st.sampled_from(THINGS), st.sampled_from(THINGS)),
    st.builds("She moved to {}.".format, st.sampled_from(PLACES)),
    st.builds(
        "{} moved from {} to {}.".format, st.sampled_from(THINGS), st.sampled_from(THINGS), st.sampled_from(THINGS)
    ),
)
MEMORY = st.tuples(
    st.lists(SENTENCES, min_size=1, max_size=3).map(" ".join),
    st.sampled_from(["", *PLACES, *THINGS]),
    st.sampled_from([None, "t"]),
)
WORLD = st.lists(st.tuples(st.sampled_from("ab"), MEMORY), min_size=4, max_size=12)
QUERIES = ("where does Ada Byron live", "what runs on cedar", "Mill Street, Norwich", "Grace Hopper Atlas")
if "HOPGATE_SOAK" not in os.environ:
    QUERIES = QUERIES[::2]


def filled(kb: KnowledgeBase, memories: Sequence[Memory], embedder: str, at_once: int) -> None:
    """Some at once, the rest one by one, as a store grows; the first build reads what is there together."""
    first = Memory("z", "Nothing here.", scope="z", created_at=START)
    for group in ([first, *memories[:at_once]], *([memory] for memory in memories[at_once:])):
        kb.add(*group)
        kb.embed(embedder)
        kb.build()


def told(kb: KnowledgeBase) -> dict[str, Any]:
    """All that somebody in scope b can learn, by recall and by the pages of an explorer that is bound to it."""
    graph, answers = kb.graph, dict[str, Any]()
    for query in QUERIES:
        for as_of in (None, START + timedelta(days=3)):
            hits = kb.recall(query, scope="b", explain=True, k=20, as_of=as_of)
            answers[f"{query} {as_of}"] = [hit.to_dict() for hit in hits]
    whole = graph.neighbourhood(scope="b", limit=1000)
    answers["picture"] = picture(whole)
    answers["span"] = graph.span(scope="b")
    # With less room than there is, what of equal weight is let in must not depend on others either.
    answers["small picture"] = picture(graph.neighbourhood(scope="b", limit=4))
    for one in whole.concepts:
        answers[f"around {one.name}"] = picture(graph.neighbourhood(one.id, scope="b", limit=3))
        answers[f"history of {one.name}"] = [graph.history(one.name, scope="b", limit=room) for room in (500, 2)]
    for room in (200, 2):
        answers[f"{room} concepts"] = [
            (one.name, one.aliases, one.kind, one.memory_count) for one in graph.concepts(scope="b", limit=room)
        ]
        answers[f"{room} changes"] = graph.changes(START, START + timedelta(days=90), scope="b", limit=room)
        answers[f"{room} conflicts"] = graph.conflicts(scope="b", limit=room)
        answers[f"{room} edges"] = graph.edges(scope="b", limit=room)
    return answers


def picture(drawn: Neighbourhood) -> tuple[Any, ...]:
    """What a picture shows, whatever the ids."""
    name = {one.id: one.name for one in drawn.concepts}
    return (
        [(one.name, one.kind, one.memories, one.last) for one in drawn.concepts],
        sorted((*sorted((name[one.source], name[one.target])), one.relation, one.weight) for one in drawn.edges),
        drawn.left_out,
        drawn.edges_left_out,
    )


@pytest.mark.timeout(0 if WORLDS > 20 else 900)
# A world takes a second: what fails is shown as it is, and not made small.
@settings(
    max_examples=WORLDS,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize="HOPGATE_SOAK" not in os.environ,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(world=WORLD, share=st.floats(0, 1))
# Found by a soak: a first build that read both names in scope a kept apart what b's own memories bring together.
@example(
    world=[
        ("a", ("Rebooted Zephyr and cedar again.", "Mill Street, Norwich", None)),
        ("a", ("Ada Byron works at Zephyr.", "paperless", None)),
        ("a", ("Rebooted Atlas and Zephyr again. She moved to Mill Street, Norwich.", "Leeds", "t")),
        ("b", ("cedar moved from immich to paperless. cedar runs on immich.", "immich", None)),
        ("b", ("She moved to Mill Street, Norwich.", "Mill Street, Norwich", None)),
    ],
    share=0.35,
)
# Another: what "moved" merely allows made an edge in b, and none in the store, where a's statement took its place.
@example(
    world=[
        ("b", ("Grace Hopper lives in Leeds. Zephyr runs on cedar.", "Atlas", None)),
        ("b", ("Radia Perlman lives in Mill Street, Norwich.", "Atlas", "t")),
        ("b", ("Atlas moved from cedar to Atlas. Atlas moved from Atlas to immich.", "immich", "t")),
        ("a", ("Zephyr moved from Atlas to paperless.", "immich", "t")),
        ("b", ("Atlas moved from cedar to Atlas. Atlas moved from Atlas to immich.", "Zephyr", None)),
        ("a", ("Radia Perlman lives in Mill Street, Norwich.", "", "t")),
    ],
    share=0.1,
)
def test_a_scope_is_answered_alike_with_and_without_others(new_database, endpoint, world, share):
    made = [
        Memory(f"{scope}{n}", text, title=title, thread=thread, scope=scope, created_at=START + timedelta(days=n))
        for n, (scope, (text, title, thread)) in enumerate(world)
    ]
    first = int(share * len(made))
    own = [memory for memory in made if memory.scope == "b"]
    with new_database() as one, new_database() as two, hopgate.open(one) as alone, hopgate.open(two) as together:
        filled(alone, own, endpoint.spec, sum(memory.scope == "b" for memory in made[:first]))
        filled(together, made, endpoint.spec, first)
        answers = told(together)
        for question, answer in told(alone).items():
            assert answers[question] == answer, question


def test_shared_scopes_have_one_graph(kb, endpoint):
    # Alice's memory would join two of Bob's.
    kb.add(
        Memory("b1", "Ada Byron works at Atlas Labs.", scope="bob", created_at=START),
        Memory("b2", "It rained on Zephyr House.", scope="bob", created_at=START),
        Memory("a1", "Ada Byron lives in Zephyr House.", scope="alice", created_at=START),
    )
    kb.embed(endpoint.spec)
    kb.build()

    def walked() -> set[str]:
        hits = kb.recall("Ada Byron", scope="bob", legs=("graph", "lexical"), explain=True)
        assert {hit.external_id for hit in hits} <= {"b1", "b2"}
        return {hit.external_id for hit in hits if len(hit.path) > 1}

    assert walked() == {"b1"}
    kb.store_settings.set({"scopes": "shared"})
    assert kb.graph.concepts() == []  # until the next build, which makes it of all scopes
    kb.build()
    assert walked() == {"b1", "b2"}
    with pytest.raises(hopgate.HopgateError, match="walls or shared"):
        kb.store_settings.set({"scopes": "open"})
    with pytest.raises(hopgate.HopgateError, match="no setting 'scopes'"):
        kb.recall("Ada Byron", scopes="shared")
