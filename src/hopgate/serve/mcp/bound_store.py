"""A store within its bounds: what an assistant may ask of it, and nothing beyond the scopes it was started with."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from hopgate.errors import HopgateError, TakenError, UnknownMemoryError
from hopgate.graph.names import normalise
from hopgate.memory import Memory
from hopgate.serve.linking_one import caught_up
from hopgate.serve.mcp.mcp_settings import McpSettings
from hopgate.serve.mcp.results import (
    ChangesResult,
    ExplainResult,
    HitItem,
    MemoryItem,
    RecallResult,
    RelationItem,
    RelationsResult,
    RememberResult,
)
from hopgate.serve.rule_reader import RuleReader
from hopgate.sources.source import digest

if TYPE_CHECKING:
    from hopgate.graph.inspect.edges import Edge
    from hopgate.kb import KnowledgeBase
    from hopgate.recall.hit import Hit
    from hopgate.recall.settings import RecallOptions

# How often recall is asked again without the sensitive memories that it found.
ROUNDS = 3


class BoundStore:
    """What tools and resources read and write; a memory that may not be seen is not there.

    Parameters
    ----------
    kb : KnowledgeBase
        The store; who opened it closes it.
    settings : McpSettings
        The bounds.
    """

    def __init__(self, kb: KnowledgeBase, settings: McpSettings) -> None:
        self._kb = kb
        self._rules = RuleReader(kb)
        self.settings = settings

    def scopes(self, asked: str | None = None) -> list[str] | None:
        """Give the scopes to look into: one that was asked for, within those that are bound; None for all."""
        bound = self.settings.scopes
        if asked is None:
            return None if bound is None else list(bound)
        if bound is not None and asked not in bound:
            raise HopgateError(f"this server is bound to other scopes than {asked[:80]!r}: leave scope out")
        return [asked]

    def memory(self, external_id: str) -> Memory:
        """Give a memory that may be seen; of every other one it is said that it is not there."""
        found = self._kb.get(external_id)
        if found is None or not self._visible(found):
            raise self._missing(external_id)
        return found

    def named(self, external_id: str | None) -> str | None:
        """Give a memory's id where it may be known that it is there."""
        found = None if external_id is None else self._kb.get(external_id)
        return external_id if found is not None and self._visible(found) else None

    def recall(
        self, query: str, k: int, *, scope: str | None, as_of: datetime | None, known_at: datetime | None,
        cluster: int | None,
    ) -> RecallResult:  # fmt: skip
        """Recall within the bounds; sensitive memories leave their places to others."""
        options: dict[str, Any] = {
            "scope": self.scopes(scope),
            "as_of": as_of,
            "known_at": known_at,
            "cluster": cluster,
        }
        changes = cast("RecallOptions", {"k": self._most(k)})
        hidden: list[str] = []
        hits: list[Hit] = []
        for _ in range(ROUNDS):
            hits = self._kb.recall(query, explain=True, exclude=hidden, **options, **changes)
            barred = [hit.external_id for hit in hits if not self._visible(hit.memory)]
            if not barred:
                break
            hidden += barred
        return RecallResult(hits=[self._hit(hit) for hit in hits if self._visible(hit.memory)])

    def explain(self, query: str, external_id: str, *, scope: str | None) -> ExplainResult:
        """Say where a memory is among a question's hits, or why it is not there."""
        memory = self.memory(external_id)
        found = self._kb.explain(query, memory.external_id, scope=self.scopes(scope))
        legs = {
            name: sight.reason if sight.rank is None else f"rank {sight.rank}: {sight.reason}"
            for name, sight in found.legs.items()
        }
        return ExplainResult(
            id=found.external_id, present=found.present, rank=found.rank, sentence=found.sentence, legs=legs
        )

    def remember(
        self, text: str, *, title: str, tags: Sequence[str], scope: str | None, created_at: datetime | None,
        sensitive: bool,
    ) -> RememberResult:  # fmt: skip
        """Store a text under an id that follows from it, embed it and link it."""
        if len(text) + len(title) > self.settings.max_text:
            raise HopgateError(f"a text to remember has at most {self.settings.max_text:,} characters: remember less")
        where = self.scopes(scope)
        own = where[0] if where else None
        key = f"mcp#{digest(own, title, text)}"
        before = self._kb.get(key)
        if sensitive or (before is not None and not self._visible(before)):
            # Of a sensitive text not even a digest is shown, and it is not told whether there is one already.
            key = f"mcp#{secrets.token_hex(8)}"
        new = Memory(key, text, title=title, tags=tuple(tags), scope=own, created_at=created_at, is_sensitive=sensitive)
        try:
            written = self._kb.add(new, within=self.settings.scopes)
        except TakenError:
            # Another scope has it: who is bound does not learn of it.
            new = replace(new, external_id=(key := f"mcp#{secrets.token_hex(8)}"))
            written = self._kb.add(new, within=self.settings.scopes)
        done = caught_up(self._kb, key, written, bound=self.settings.scopes is not None)
        return RememberResult(id=key, new=bool(written.added), scope=own, linked=done.linked > 0)

    def forget(self, external_id: str) -> None:
        """Delete a memory that may be seen."""
        try:
            self._kb.delete([self.memory(external_id).external_id], within=self.settings.scopes)
        except UnknownMemoryError:
            raise self._missing(external_id) from None

    def relations(
        self, concept: str, limit: int, *, scope: str | None, as_of: datetime | None, known_at: datetime | None
    ) -> RelationsResult:
        """Give a concept's relations as its scopes state them."""
        most = self._most(limit)
        found = self._kb.graph.edges(concept, scope=self.scopes(scope), as_of=as_of, known_at=known_at, limit=most + 1)
        return RelationsResult(
            concept=concept, relations=[_relation(edge) for edge in found[:most]], more=len(found) > most
        )

    def changes(self, since: datetime, until: datetime | None, limit: int, *, scope: str | None) -> ChangesResult:
        """Give the memories of a time, and the relations that were not known before it or are not after it."""
        then, most, scopes = until or datetime.now(UTC), self._most(limit), self.scopes(scope)
        if since >= then:
            raise HopgateError("since must be before until: turn them round")
        sensitive = self.settings.allow_sensitive
        found = self._kb.written(since, then, scope=scopes, sensitive=sensitive, limit=most + 1)
        new = [memory for memory in found if self._visible(memory)]
        before, after = (
            {_key(edge): edge for edge in self._kb.graph.edges(scope=scopes, known_at=moment) if edge.evidence}
            for moment in (since, then)
        )
        began = [edge for key, edge in after.items() if key not in before]
        ended = [edge for key, edge in before.items() if key not in after]
        return ChangesResult(
            since=since,
            until=then,
            memories=[self.item(memory) for memory in new[:most]],
            began=[_relation(edge) for edge in began[:most]],
            ended=[_relation(edge) for edge in ended[:most]],
            more=max(len(found), len(began), len(ended)) > most,
        )

    def concepts(self, limit: int) -> list[dict[str, Any]]:
        """The concepts that most memories talk about."""
        found = self._kb.graph.concepts(scope=self.scopes(), limit=limit)
        return [{"name": one.name, "kind": one.kind, "memories": one.memory_count} for one in found]

    def concept(self, name: str) -> dict[str, Any]:
        """A concept with its names and its relations, as the bound scopes have it."""
        relations = self.relations(name, self.settings.max_hits, scope=None, as_of=None, known_at=None)
        normal = normalise(name)
        found = next(
            one
            for one in self._kb.graph.concepts(scope=self.scopes(), search=None, limit=1_000_000)
            if normal in {normalise(alias) for alias in (one.name, *one.aliases)}
        )
        return {
            "name": found.name,
            "aliases": list(found.aliases),
            "kind": found.kind,
            "memories": found.memory_count,
            "relations": [relation.model_dump(mode="json") for relation in relations.relations],
        }

    def item(self, memory: Memory, text: str | None = None) -> MemoryItem:
        """A memory as an answer holds it: cut where it is long."""
        shown = memory.content if text is None else text
        cut = shown[: self.settings.max_shown]
        return MemoryItem(
            id=memory.external_id,
            content=cut,
            cut=len(cut) < len(memory.content),
            scope=memory.scope,
            created_at=memory.created_at,
        )

    def _hit(self, hit: Hit) -> HitItem:
        item = self.item(hit.memory, None if hit.passage is None else hit.passage.text)
        legs = ", ".join(f"{name} {part.rank}" for name, part in hit.legs.items())
        path = " → ".join(hit.path)
        why = "; ".join(filter(None, (f"found by {legs}" if legs else "", path)))
        return HitItem(**item.model_dump(), rank=hit.rank, score=round(hit.score, 6), why=why)

    def _visible(self, memory: Memory) -> bool:
        bound = self.settings.scopes
        if bound is not None and memory.scope not in bound:
            return False
        return self.settings.allow_sensitive or not self._rules.is_sensitive(memory)

    def _missing(self, external_id: str) -> HopgateError:
        return HopgateError(f"there is no memory {external_id[:80]!r}: recall gives ids")

    def _most(self, count: int) -> int:
        return max(1, min(count, self.settings.max_hits))


def _key(edge: Edge) -> tuple[Any, ...]:
    return edge.source, edge.relation, edge.target, edge.valid_from, edge.valid_to


def _relation(edge: Edge) -> RelationItem:
    return RelationItem(
        source=edge.source,
        relation=edge.relation,
        target=edge.target,
        valid_from=edge.valid_from,
        valid_to=edge.valid_to,
        known_since=edge.recorded_at,
        evidence=list(edge.evidence),
    )
