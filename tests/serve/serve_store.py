"""The store that the tests of the server look at."""

from dataclasses import replace
from datetime import UTC, datetime

from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory

CANARY = "zyxcanaryqv"
# In the text, the title, the tags, the category and the thread of sensitive memories, in two scopes.
SECRET = ("secret-1", "notes/secret 2")


def _at(day: int) -> datetime:
    return datetime(2024, 5, day, tzinfo=UTC)


OLD = Memory("old", "The printer is in the attic.", scope="home", created_at=_at(1))
MEMORIES = (
    Memory("m1", "Ada Lovelace lives in London.", scope="home", created_at=_at(1)),
    Memory("m2", "Ada Lovelace works with Charles Babbage.", scope="home", created_at=_at(2)),
    Memory("m3", "Charles Babbage lives in Cambridge.", scope="work", created_at=_at(3)),
    Memory("m4", "The Gitea service runs on birch.", scope="work", tags=("homelab",), created_at=_at(4)),
    Memory("m5", "The Gitea service runs on rowan.", scope="work", tags=("homelab",), created_at=_at(8)),
    Memory("m6", "Bea Miller feeds the cat in London.", created_at=_at(6)),
    Memory("notes/a b.md#1", "Bea Miller owns the printer.", scope="home", created_at=_at(7)),
    OLD,
    *(
        Memory(
            key,
            f"The code of the vault is {CANARY}.",
            title=f"Vault {CANARY}",
            tags=(CANARY, "vault"),
            category=CANARY,
            thread=CANARY,
            is_sensitive=True,
            scope=scope,
            created_at=_at(5),
        )
        for key, scope in zip(SECRET, ("home", "work"), strict=True)
    ),
)


def fill(kb: KnowledgeBase) -> None:
    """Put the memories in, embed them and build the graph; one of them is superseded."""
    kb.add(*MEMORIES)
    kb.embed()
    kb.build()
    kb.add(Memory("new", "The printer is in the cellar.", scope="home", created_at=_at(9)))
    kb.add(replace(OLD, superseded_by="new", superseded_at=_at(9)))
    kb.upkeep.catch_up()
