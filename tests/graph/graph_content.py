"""What a graph says, without the ids that say nothing: two graphs with the same content are the same graph."""

import json
from typing import Any

from hopgate.extract.extraction import Extraction, ExtractorIdentity, Fact, Mention, State, found
from hopgate.kb import KnowledgeBase


class Scripted:
    """An extractor that says what it was told to say, by memory."""

    def __init__(self, said: dict[str, Extraction], version: str = "1") -> None:
        self.said = said
        self.identity = ExtractorIdentity("scripted", version, by_id=True)

    def extract(self, sources):
        return [self.said.get(str(source.memory_id), Extraction(state=State.EMPTY, reason="")) for source in sources]


def of_triples(rows: list[dict[str, Any]]) -> Scripted:
    mentions: dict[str, list[Mention]] = {}
    facts: dict[str, list[Fact]] = {}
    for row in rows:
        key = row["doc_id"]
        if "entity" in row:
            mentions.setdefault(key, []).append(Mention(row["entity"], row.get("type") or ""))
            continue
        for end in ("subject", "object"):
            mentions.setdefault(key, []).append(Mention(row[end], row.get(f"{end}_type") or ""))
        facts.setdefault(key, []).append(
            Fact(row["subject"], row["relation"], row["object"], row.get("valid_from"), row.get("valid_to"))
        )
    return Scripted({key: found(named, facts.get(key, ())) for key, named in mentions.items()})


QUERIES = {
    "concepts": "SELECT canonical_name, aliases, kind, memory_count FROM concepts",
    "names": "SELECT n.normal_name, n.name, n.kind, n.uses, c.canonical_name FROM concept_names n "
    "JOIN concepts c ON c.id = n.concept_id",
    "memory_concepts": "SELECT m.external_id, c.canonical_name, x.relation, x.weight FROM memory_concepts x "
    "JOIN memories m ON m.id = x.memory_id JOIN concepts c ON c.id = x.concept_id",
    "edges": "SELECT s.canonical_name, e.relation, d.canonical_name, e.weight, e.valid_from::text, e.valid_to::text, "
    "e.recorded_at::text, e.retired_at::text, (SELECT array_agg(m.external_id ORDER BY m.external_id) "
    "FROM memories m WHERE m.id = ANY(e.evidence_memory_ids)) FROM concept_edges e "
    "JOIN concepts s ON s.id = e.src_id JOIN concepts d ON d.id = e.dst_id",
}


def share_scopes(kb: KnowledgeBase) -> None:
    """Let all scopes have one graph, as in a store of one person's memories: those of the demo are."""
    kb.store_settings.set({"scopes": "shared"})


def content(kb: KnowledgeBase) -> dict[str, list[str]]:
    with kb.store.transaction() as connection:
        return {
            table: sorted(json.dumps(row, default=str) for row in connection.execute(sql).fetchall())
            for table, sql in QUERIES.items()
        }


def version(kb: KnowledgeBase) -> int:
    with kb.store.transaction() as connection:
        return connection.execute("SELECT version FROM graph_state").fetchone()[0]
