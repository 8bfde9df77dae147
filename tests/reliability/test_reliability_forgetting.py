"""After a mark, a deletion or a changed text nothing of it is left: no row, no sample of the planner's, no file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from canary import CANARY, ITS_OWN, cached, in_files, in_tables
from model_server import ModelServer

from hopgate import Memory
from hopgate.extract.extraction import Extraction, ExtractorIdentity, Fact, Mention, Source, State
from hopgate.kb import KnowledgeBase

NAME = CANARY.title()
SECRET = f"{NAME} guards the door code of Vault Nine."
OPEN = "Ada Byron guards the wiki of Atlas."
# What is embedded beside the text: names, a relation and a fact.
MADE = [SECRET, NAME, f"guards {CANARY} since", f"{NAME} guards {CANARY} since Vault Nine"]


class Scripted:
    """Reads names and a relation that no rule would, so that each column has something to lose."""

    identity = ExtractorIdentity("scripted", "1")

    def extract(self, sources: list[Source]) -> list[Extraction]:
        return [self._one(source) for source in sources]

    def _one(self, source: Source) -> Extraction:
        if CANARY in source.text.lower():
            fact = Fact(NAME, f"guards {CANARY} since", "Vault Nine")
            return Extraction((Mention(NAME), Mention("Vault Nine")), (fact,), State.COMPLETE)
        return Extraction(
            (Mention("Ada Byron"), Mention("Atlas")), (Fact("Ada Byron", "guards", "Atlas"),), State.COMPLETE
        )


def made(kb: KnowledgeBase, models: ModelServer, cache: Path) -> None:
    """A store with all that can be made of a text, merged, canonicalised, walked and sampled."""
    kb.add(Memory("s", SECRET, tags=(CANARY,)), Memory("o", OPEN), Memory("p", OPEN.replace("wiki", "mail")))
    kb.embed(models.embedder)
    kb.build(Scripted())
    with kb.store.transaction() as connection:
        connection.execute("UPDATE relations SET canonical = %s WHERE raw = 'guards'", (f"guards {CANARY} since",))
        connection.execute(
            "UPDATE concept_edges SET relation = %s WHERE relation = 'guards'", (f"guards {CANARY} since",)
        )
    kb.graph.merge("Vault Nine", NAME)
    kb.recall("who guards what", graph=1.0)
    with kb.store.transaction() as connection:
        connection.execute("ANALYZE")
    assert {"journal.merged_name", "relations.raw", "relations.canonical", "facts.relation"} <= set(
        in_tables(kb.store.dsn)
    )
    assert not any(found.startswith("pg_stats") for found in in_tables(kb.store.dsn))
    assert set(cached(cache, MADE)) >= {SECRET, NAME}


def unchanged(kb: KnowledgeBase) -> None:
    """What the other memories support is there as before."""
    assert {(edge.source, edge.relation, edge.target) for edge in kb.graph.edges("Atlas")} == {
        ("Ada Byron", "guards", "Atlas")
    }
    assert len(kb.graph.edges("Atlas")[0].evidence) == 2


@pytest.mark.parametrize("way", ["mark", "delete", "change", "mark and change", "change then mark"])
def test_nothing_is_left(kb: KnowledgeBase, models: ModelServer, cache: Path, way: str) -> None:
    made(kb, models, cache)
    if way == "mark":
        kb.mark_sensitive(["s"])
    elif way == "delete":
        kb.delete(["s"])
    elif way == "change":
        kb.add(Memory("s", "Nothing to see."))
    elif way == "mark and change":
        kb.add(Memory("s", "Nothing to see.", is_sensitive=True))
    else:
        kb.add(Memory("s", SECRET + " Still."))
        kb.embed()
        kb.build(Scripted())
        kb.mark_sensitive(["s"])
    own = ITS_OWN if "mark" in way else ()
    assert in_tables(kb.store.dsn, but=own) == []
    assert in_files(cache) == []
    assert cached(cache, [*MADE, SECRET + " Still."]) == []
    unchanged(kb)
    kb.recall("who guards what", graph=1.0)
    assert in_files(cache) == []


def test_a_file_read_again_does_not_take_the_mark_away(
    kb: KnowledgeBase, models: ModelServer, cache: Path, tmp_path: Path
) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps({"_id": "s", "text": SECRET}) + "\n" + json.dumps({"_id": "o", "text": OPEN}) + "\n")
    kb.ingest(path)
    kb.mark_sensitive(["s"])
    written = kb.ingest(path)
    assert written.kept_sensitive == 1
    kb.add(Memory("s", SECRET + " Again."))
    kb.embed(models.embedder)
    kb.build(Scripted())
    found = kb.get("s")
    assert found is not None and found.is_sensitive
    assert CANARY not in "".join(models.bodies).lower()
    assert in_tables(kb.store.dsn) == []
    assert kb.unmark_sensitive(["s", "o"]) == 1
    assert kb.embed() == 1
