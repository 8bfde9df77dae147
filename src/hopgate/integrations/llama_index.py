"""A LlamaIndex retriever and a memory over a knowledge base: `pip install 'hopgate[llama-index]'`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from hopgate.answers.context import DEFAULT_TOKENS
from hopgate.integrations import readable_hits
from hopgate.kb import KnowledgeBase
from hopgate.recall.hit import Hit


class HopgateRetriever(BaseRetriever):
    """Recall as a LlamaIndex retriever; sensitive memories never come out of it.

    Parameters
    ----------
    kb : KnowledgeBase
        An open knowledge base; it stays the caller's to close.
    k : int
        How many nodes.
    **options
        Further arguments of `kb.recall`: scope, as_of, legs, ….
    """

    def __init__(self, kb: KnowledgeBase, *, k: int = 10, **options: Any) -> None:
        self._kb = kb
        self._options = {"k": k, **options}
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self._kb, self._kb.recall(query_bundle.query_str, **self._options))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = await self._kb.arecall(query_bundle.query_str, **self._options)
        return await asyncio.to_thread(_nodes, self._kb, hits)


class HopgateMemory(BaseMemoryBlock[str]):
    """What left an agent's short-term memory is remembered, and what the last message is about comes back, cited.

    Give it to LlamaIndex's `Memory` as one of its `memory_blocks`.

    Parameters
    ----------
    kb : KnowledgeBase
        An open knowledge base; it stays the caller's to close.
    scope : str, optional
        Whose memory it is.
    tokens : int
        How long what comes back may be.
    """

    name: str = "hopgate"
    kb: KnowledgeBase
    scope: str | None = None
    tokens: int = DEFAULT_TOKENS

    async def _aget(self, messages: Sequence[ChatMessage] | None = None, **_: Any) -> str:
        asked = [message.content for message in messages or () if message.content]
        if not asked:
            return ""
        context = await asyncio.to_thread(self.kb.context, asked[-1], tokens=self.tokens, scope=self.scope)
        return str(context)

    async def _aput(self, messages: Sequence[ChatMessage]) -> None:
        turns = [{"role": message.role.value, "content": message.content} for message in messages if message.content]
        if turns:
            thread = messages[0].additional_kwargs.get("session_id")
            await asyncio.to_thread(self.kb.remember, turns, scope=self.scope, thread=thread)


def _nodes(kb: KnowledgeBase, hits: list[Hit]) -> list[NodeWithScore]:
    """What a model may read: sensitive memories are left out."""
    nodes = []
    for hit, text in readable_hits(kb, hits):
        fields = {"rank": hit.rank, "title": hit.memory.title, "tags": list(hit.memory.tags), "scope": hit.memory.scope}
        nodes.append(NodeWithScore(node=TextNode(id_=hit.external_id, text=text, metadata=fields), score=hit.score))
    return nodes
