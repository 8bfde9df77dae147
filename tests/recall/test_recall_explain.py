"""Why a memory is not a hit: what each leg has of it, and what left it out."""

from datetime import UTC, datetime

import pytest

from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory

MAY, JUNE = datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def asked(module_kb: KnowledgeBase) -> KnowledgeBase:
    module_kb.add(
        Memory("m1", "Ada Lovelace lives in London.", scope="home", created_at=MAY),
        Memory("m2", "Bea Miller feeds the cat in London.", scope="work", created_at=JUNE),
        Memory("m3", "The vault in London is locked.", is_sensitive=True, created_at=MAY),
        Memory("m4", "A kettle.", created_at=MAY),
        Memory("old", "Ada Lovelace lived in Paris.", created_at=MAY, superseded_by="m1", superseded_at=JUNE),
        Memory("out", "Nothing of the kind.", created_at=MAY),
    )
    module_kb.embed()
    module_kb.build()
    module_kb.add(Memory("new", "A boat on the Thames."))
    return module_kb


def test_a_hit_is_said_to_be_one_with_its_rank_in_every_leg(asked):
    hits = asked.recall("who lives in London", explain=True)
    for hit in hits:
        found = asked.explain("who lives in London", hit.external_id)
        assert found.present and found.rank == hit.rank and found.removed_by == ()
        listed = {name: part.rank for name, part in hit.legs.items()}
        seen = {name: sight.rank for name, sight in found.legs.items() if sight.rank is not None}
        assert seen.items() <= listed.items()
    assert found.to_dict()["_id"] == hits[-1].external_id


APRIL = datetime(2024, 4, 1, tzinfo=UTC)
SUPERSEDED = (
    "superseded: it is superseded by 'm1' since 2024-06-01, and such memories were not asked for "
    "(include_superseded, or --include-superseded)"
)


@pytest.mark.parametrize(
    ("memory", "options", "reasons"),
    [
        ("m1", {"scope": "work"}, ["scope: it is in 'home'"]),
        ("m1", {"exclude": ["m1"]}, ["exclude: "]),
        ("m1", {"where": {"tags": "work"}}, ["where: its fields are not what was asked for"]),
        ("m1", {"known_at": APRIL}, ["known_at: it is of 2024-05-01"]),
        ("m1", {"min_score": 1000.0}, ["min_score: its score"]),
        ("m2", {"k": 1}, ["k: it comes at rank 3, and 1 are returned"]),
        ("old", {}, [SUPERSEDED]),
        (
            "old",
            {"scope": ("work", "play"), "exclude": ["old", "m1"], "known_at": APRIL},
            ["scope: ", "exclude: ", "known_at: ", "superseded: "],
        ),
    ],
)
def test_what_removes_a_memory_is_named_and_its_place_without_that_given(asked, memory, options, reasons):
    found = asked.explain("who lives in London", memory, **options)
    assert not found.present and found.rank and found.legs["lexical"].rank
    for removed, reason in zip(found.removed_by, reasons, strict=True):
        assert removed.startswith(reason) and removed in found.sentence
    assert asked.explain("who lives in London", "old", include_superseded=True).present


def test_a_leg_says_why_it_does_not_have_a_memory(asked):
    sensitive = asked.explain("London", "m3")
    assert sensitive.present and sensitive.legs["lexical"].rank is not None
    assert "sensitive" in sensitive.legs["dense"].reason and "sensitive" in sensitive.legs["graph"].reason
    plain = asked.explain("London", "m4", legs=("lexical",))
    assert not plain.present and plain.rank is None
    assert plain.legs["lexical"].reason == "no word of the query is in it"
    assert "weight is 0" in plain.legs["graph"].reason and "no leg lists it" in plain.sentence
    waiting = asked.explain("a boat", "new")
    assert "waits for a vector" in waiting.legs["dense"].reason
    assert "it has no tokens" in waiting.legs["late"].reason
    assert "the graph does not have it" in waiting.legs["graph"].reason
    # Deeper than recall goes it is still found.
    last = asked.explain("who lives in London", "m4", depth=1, legs=("dense",))
    assert not last.present
    assert last.legs["dense"].rank is not None and "lists 1" in last.legs["dense"].reason
