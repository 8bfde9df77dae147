"""What a note tells of something's part, of somebody else's or for a while ends nothing of the thing itself."""

from __future__ import annotations

from datetime import UTC, datetime

import hopgate
from hopgate.memory import Memory


def ended(kb: hopgate.KnowledgeBase, *stories: tuple[str, str]) -> list[str]:
    """The first notes of stories that ended with the second ones, or have come to be told of another name."""
    kb.add(
        *(
            Memory(f"{at}.{part}", text, scope=f"story{at}", created_at=datetime(2024, 3, 1 + part, tzinfo=UTC))
            for at, story in enumerate(stories)
            for part, text in enumerate(story)
        )
    )
    kb.build()
    lost = []
    for at, (first, _) in enumerate(stories):
        edges = kb.graph.memory(f"{at}.0").edges
        assert edges, f"nothing is read of {first!r}"
        if any(edge.valid_to for edge in edges):
            lost.append(first)
    return lost


def test_what_belongs_to_something_is_not_it(kb: hopgate.KnowledgeBase) -> None:
    assert not ended(
        kb,
        ("The passport is in the drawer.", "The passport photos are now in the kitchen."),
        ("The car is in the garage.", "The car keys are now in the kitchen."),
        ("The piano is in the hall.", "The piano stool is now in the attic."),
        ("The NAS is in the cellar.", "The NAS manual is now in the attic."),
        ("Jellyfin runs on otter.", "Set up the Jellyfin exporter on badger."),
        ("Jellyfin runs on otter.", "I now back up Jellyfin on badger."),
        ("Jellyfin runs on otter.", "Jellyfin streams nicely to badger now."),
        ("Gitea runs on birch.", "The Gitea mirror moved to rowan."),
        ("Gitea runs on birch.", "Gitea's CI runner is now on rowan."),
        ("Nextcloud läuft auf eiche.", "Ab heute läuft das Nextcloud-Backup auf buche."),
    )


def test_by_a_word_for_what_it_is_it_is_still_it(kb: hopgate.KnowledgeBase) -> None:
    firsts = ["The NAS is in the cellar.", "Gitea runs on birch.", "Postgres runs on otter."]
    seconds = [
        "The NAS box is now in the attic.",
        "The Gitea server moved to rowan.",
        "The Postgres database now runs on badger.",
    ]
    assert ended(kb, *zip(firsts, seconds, strict=True)) == firsts


def test_what_is_somebodys_is_not_somebody_elses(kb: hopgate.KnowledgeBase) -> None:
    assert not ended(
        kb,
        ("My passport is in the drawer.", "Mia's passport is now in the kitchen."),
        ("Noah's football training is on Mondays.", "Mia's football training moved to Wednesdays."),
    )
    [training] = [edge for edge in kb.graph.edges("Noah's football training") if edge.relation == "takes place"]
    assert (training.source, training.target) == ("Noah's football training", "monday")


def test_a_genitive_needs_no_apostrophe(kb: hopgate.KnowledgeBase) -> None:
    assert not ended(
        kb,
        ("Lena arbeitet bei Siemens.", "Lenas Mann arbeitet jetzt bei Bosch."),
        ("Lena wohnt in Bern.", "Lenas Bruder wohnt jetzt in Wien."),
    )


def test_what_starts_later_ends_nothing_before(kb: hopgate.KnowledgeBase) -> None:
    kb.add(
        Memory("a", "Lena works at Siemens.", created_at=datetime(2024, 3, 1, tzinfo=UTC)),
        Memory("b", "From September Lena works at Bosch.", created_at=datetime(2024, 3, 2, tzinfo=UTC)),
        Memory("c", "Our dentist is Dr. Aebi.", created_at=datetime(2024, 3, 1, tzinfo=UTC)),
        Memory("d", "From May our dentist is Dr. Lind.", created_at=datetime(2024, 3, 2, tzinfo=UTC)),
    )
    kb.build()
    [siemens], [aebi] = kb.graph.memory("a").edges, kb.graph.memory("c").edges
    assert siemens.valid_to == datetime(2024, 9, 1, tzinfo=UTC)
    assert aebi.valid_to == datetime(2024, 5, 1, tzinfo=UTC)
