"""A LangChain retriever over a knowledge base: `pip install 'hopgate[langchain]'`."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field

from hopgate.integrations import readable_hits
from hopgate.kb import KnowledgeBase
from hopgate.recall.hit import Hit


class HopgateRetriever(BaseRetriever):
    """Recall as a LangChain retriever; sensitive memories never come out of it.

    Parameters
    ----------
    kb : KnowledgeBase
        An open knowledge base; it stays the caller's to close.
    k : int
        How many documents.
    options : dict
        Further arguments of `kb.recall`: scope, as_of, legs, ….
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    kb: KnowledgeBase
    k: int = 10
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **changes: Any
    ) -> list[Document]:
        del run_manager
        hits = self.kb.recall(query, **{"k": self.k, **self.options, **changes})
        readable = readable_hits(self.kb, hits)
        return [Document(id=hit.external_id, page_content=text, metadata=_fields(hit)) for hit, text in readable]


def _fields(hit: Hit) -> dict[str, Any]:
    values = {name: value for name, value in hit.to_dict().items() if name != "content"}
    return values | {"title": hit.memory.title, "tags": list(hit.memory.tags)}
