"""What turns sensitive while a slow model is at work is not sent any more, and nothing of it is written or cached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from canary import CANARY, cached, in_files, in_tables
from model_server import ModelServer

import hopgate
from hopgate import Memory
from hopgate.embed.openai import OpenAIEmbedder
from hopgate.extract.model.openai import OpenAI
from hopgate.guard import SensitivityRules
from hopgate.http import RetryPolicy
from hopgate.integrations import readable_hits
from hopgate.kb import KnowledgeBase

QUICK = RetryPolicy(retries=2, backoff=0.001)
OPEN = [Memory(f"m{number}", f"Ada Byron keeps note {number} about Atlas.") for number in range(3)]
SECRET = Memory("s", f"Ada told {CANARY.title()} the code of Vault Nine.")


def once(act: Callable[[], object], status: int = 200) -> Callable[[str], int]:
    """Act on the first request that comes in, and answer it with a status."""
    acted: list[bool] = []

    def meanwhile(_: str) -> int:
        if acted:
            return 200
        acted.append(True)
        act()
        return status

    return meanwhile


def turn(kb: KnowledgeBase, way: str) -> Callable[[], object]:
    """Something that another process does to the secret memory."""

    def act() -> None:
        with hopgate.open(kb.store.dsn) as other:
            if way == "mark":
                other.mark_sensitive(["s"])
            elif way == "delete":
                other.delete(["s"])
            elif way == "change":
                other.add(Memory("s", "Nothing to see."))
            else:
                with other.store.transaction() as connection:
                    connection.execute("UPDATE memories SET tags = '{private}' WHERE external_id = 's'")

    return act


def nothing_left(kb: KnowledgeBase, cache: Path) -> None:
    assert in_tables(kb.store.dsn) == []
    assert in_files(cache) == []
    assert cached(cache, [SECRET.text, CANARY.title(), CANARY]) == []


@pytest.mark.parametrize("way", ["mark", "delete", "change", "rule"])
def test_a_slow_extractor_gets_nothing_of_what_turned_meanwhile(
    kb: KnowledgeBase, models: ModelServer, cache: Path, way: str
) -> None:
    kb.add_sensitivity(SensitivityRules(tags=("private",)))
    kb.add(*OPEN, SECRET)
    models.meanwhile = once(turn(kb, way))
    kb.build(OpenAI("m", models.url, retry=QUICK))
    assert len(models.bodies) >= 3
    assert CANARY not in "".join(models.bodies).lower()
    nothing_left(kb, cache)


@pytest.mark.parametrize(("together", "status"), [(1, 200), (1, 503), (4, 503)])
def test_what_turned_while_it_was_on_its_way_is_not_sent_again_or_kept(
    kb: KnowledgeBase, models: ModelServer, cache: Path, together: int, status: int
) -> None:
    kb.add(SECRET, *OPEN)
    models.meanwhile = once(turn(kb, "mark"), status)
    kb.build(OpenAI("m", models.url, retry=QUICK, together=together))
    assert sum(CANARY in body.lower() for body in models.bodies) == 1  # the one that was on its way
    assert kb.extraction_states() == {"complete": 3}
    nothing_left(kb, cache)


@pytest.mark.parametrize("status", [200, 503])
@pytest.mark.parametrize("way", ["mark", "change", "rule"])
def test_a_hosted_embedder_gets_nothing_of_what_turned_meanwhile(
    kb: KnowledgeBase, models: ModelServer, cache: Path, monkeypatch: pytest.MonkeyPatch, status: int, way: str
) -> None:
    kb.add_sensitivity(SensitivityRules(tags=("private",)))
    kb.add(*OPEN, SECRET)
    real = OpenAIEmbedder.__init__

    def small(self: OpenAIEmbedder, *given: Any, **options: Any) -> None:
        real(self, *given, **options, batch_size=1, retry=QUICK)

    monkeypatch.setattr(OpenAIEmbedder, "__init__", small)
    models.meanwhile = once(turn(kb, way), status)
    assert kb.embed(models.embedder) == (4 if way == "change" else 3)
    assert len(models.bodies) >= 3
    assert CANARY not in "".join(models.bodies).lower()
    nothing_left(kb, cache)


def test_names_of_a_first_build_are_not_embedded_after_their_memory_turned(
    kb: KnowledgeBase, models: ModelServer, cache: Path
) -> None:
    """All names are brought together at once, which a hosted embedder takes minutes over."""
    kb.add(*OPEN, SECRET)
    kb.embed(models.embedder)
    asked = len(models.bodies)
    models.meanwhile = once(turn(kb, "mark"), status=503)
    kb.build()
    sent = [body for body in models.bodies[asked:] if CANARY in body.lower()]
    assert len(sent) == 1  # the one that was on its way
    nothing_left(kb, cache)


def test_a_retriever_hands_on_nothing_that_a_rule_says_is_sensitive(kb: KnowledgeBase) -> None:
    """Another program writes into the table and knows no rules."""
    kb.add(Memory("s", f"The vault opens with {CANARY}."), Memory("t", "The vault is green."))
    kb.add(Memory("r", f"The vault has {CANARY} inside."))
    kb.mark_sensitive(["s"])
    kb.add_sensitivity(SensitivityRules(tags=("private",)))
    with kb.store.transaction() as connection:
        connection.execute("UPDATE memories SET tags = '{private}' WHERE external_id = 'r'")
    hits = kb.recall("vault", legs=("lexical",))
    assert {hit.external_id for hit in hits} == {"r", "s", "t"}
    assert [hit.external_id for hit, _ in readable_hits(kb, hits)] == ["t"]
