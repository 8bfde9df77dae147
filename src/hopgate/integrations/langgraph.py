"""A LangGraph store over a knowledge base: long-term memory of agents, with recall as its search.

`pip install 'hopgate[langgraph]'`. A namespace is a scope, and an item a memory whose value is in `extra`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, unquote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from hopgate.integrations import readable
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory

Namespace = tuple[str, ...]
# Memories that are items: others may lie beside them.
ITEMS = {"extra.updated_at": {"gt": ""}}


class HopgateStore(BaseStore):
    """Items of LangGraph as memories; sensitive memories never come out of it.

    What is searched of an item are the texts of its value, or of the fields that `index` names. A search with a query
    is a recall: by words, by meaning and over the graph.

    Parameters
    ----------
    kb : KnowledgeBase
        An open knowledge base; it stays the caller's to close.
    **options
        Further arguments of `kb.recall` for searches: legs, rerank, ….
    """

    def __init__(self, kb: KnowledgeBase, **options: Any) -> None:
        self._kb = kb
        self._options = options

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer operations in their order; what is put is written after what is asked, the last of a key's."""
        results: list[Result] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        for op in ops:
            result: Result = None
            if isinstance(op, GetOp):
                memories = readable(self._kb, filter(None, [self._kb.get(_id(op.namespace, op.key))]))
                result = _item(memories[0]) if memories else None
            elif isinstance(op, SearchOp):
                result = self._search(op)
            elif isinstance(op, ListNamespacesOp):
                result = self._namespaces(op)
            elif isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
            results.append(result)
        going = (_id(*key) for key, op in puts.items() if op.value is None)
        if gone := [key for key in going if self._kb.get(key)]:
            self._kb.delete(gone)
        if new := [self._memory(op) for op in puts.values() if op.value is not None]:
            self._kb.add(*new)
            self._kb.upkeep.catch_up()
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer operations without holding up the caller's loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _memory(self, op: PutOp) -> Memory:
        now = datetime.now(UTC)
        known = self._kb.get(_id(op.namespace, op.key))
        value = op.value or {}
        fields = value if op.index is None else {name: _at(value, name) for name in op.index or ()}
        return Memory(
            _id(op.namespace, op.key),
            "\n".join(_texts(fields)) or op.key,
            scope=_path(op.namespace),
            created_at=known.created_at if known else now,
            extra={
                "value": value,
                # The namespaces that it is in, by which a search below one of them filters.
                "within": [_path(op.namespace[:depth]) for depth in range(1, len(op.namespace) + 1)],
                "updated_at": now.isoformat(),
            },
        )

    def _search(self, op: SearchOp) -> list[SearchItem]:
        below = {"extra.within": _path(op.namespace_prefix)} if op.namespace_prefix else ITEMS
        where = {"AND": [below, *_conditions("extra.value", op.filter or {})]}
        last = op.offset + op.limit
        if op.query:
            hits = self._kb.recall(op.query, k=last, where=where, **self._options)
            scores = {hit.external_id: hit.score for hit in hits}
            memories = readable(self._kb, (hit.memory for hit in hits))
        else:
            scores, memories = {}, readable(self._kb, self._kb.list(where=where, limit=last))
        return [_item(memory, scores.get(memory.external_id)) for memory in memories[op.offset :]]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        known = (_namespace(scope) for scope in self._kb.scopes(where=ITEMS) if scope)
        asked = {
            namespace[: op.max_depth]
            for namespace in known
            if all(_matches(condition, namespace) for condition in op.match_conditions or ())
        }
        return sorted(asked)[op.offset : op.offset + op.limit]


def _path(namespace: Namespace) -> str:
    """A namespace as a scope: its labels between slashes, those that they hold written as numbers."""
    return "/".join(quote(label, safe=" ") for label in namespace)


def _namespace(scope: str) -> Namespace:
    return tuple(unquote(label) for label in scope.split("/"))


def _id(namespace: Namespace, key: str) -> str:
    return f"{_path(namespace)}#{key}"


def _item(memory: Memory, score: float | None = None) -> SearchItem:
    assert memory.scope is not None and memory.created_at is not None
    return SearchItem(
        _namespace(memory.scope),
        memory.external_id.partition("#")[2],
        memory.extra["value"],
        memory.created_at,
        datetime.fromisoformat(memory.extra["updated_at"]),
        score,
    )


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value, however deep."""
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner)


def _at(value: Any, path: str) -> Any:
    """What a value holds at a path such as `user.name`; nothing where it has none."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _conditions(field: str, wanted: Any) -> Iterator[Mapping[str, Any]]:
    """LangGraph's filter as conditions on fields: operators begin with a $, and other mappings are fields of fields."""
    if not isinstance(wanted, Mapping) or any(str(name).startswith("$") for name in wanted):
        yield {field: wanted}
    else:
        for name, inner in wanted.items():
            yield from _conditions(f"{field}.{name}", inner)


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    """Whether a namespace begins or ends with a path, whose * stands for any label."""
    path = condition.path
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return len(part) == len(path) and all(label in ("*", own) for label, own in zip(path, part, strict=True))
