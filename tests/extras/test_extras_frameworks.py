"""The extras against the real packages: `make full` runs these in an environment of their own."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest
from langchain_tests.integration_tests import RetrieversIntegrationTests

import hopgate
from hopgate.exports.memories import write_parquet
from hopgate.integrations.langchain import HopgateRetriever
from hopgate.integrations.llama_index import HopgateRetriever as NodeRetriever
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.plugins import plugins

SECRET = "The harbour's code is 4711."


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with hopgate.open(tmp_path_factory.mktemp("store")) as kb:
        kb.add(*(Memory(f"m{i}", f"Note {i} about the harbour of Oslo.", tags=("sea",)) for i in range(12)))
        kb.add(Memory("s", SECRET, is_sensitive=True, created_at=datetime(2024, 5, 1, tzinfo=UTC)))
        yield kb


class TestLangchain(RetrieversIntegrationTests):
    """LangChain's own tests of a retriever."""

    @pytest.fixture(autouse=True)
    def _store(self, notes: KnowledgeBase) -> None:
        type(self).kb = notes

    @property
    def retriever_constructor(self) -> type[HopgateRetriever]:
        return HopgateRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, object]:
        return {"kb": type(self).kb, "options": {"legs": ("lexical",)}}

    @property
    def retriever_query_example(self) -> str:
        return "harbour of Oslo"

    def test_nothing_sensitive_comes_out(self):
        retriever = HopgateRetriever(kb=type(self).kb, k=50, options={"legs": ("lexical",)})
        found = retriever.invoke("harbour's code 4711")
        assert found and not any("4711" in document.page_content for document in found)
        assert found[0].metadata["tags"] == ["sea"]


def test_llama_index(notes):
    retriever = NodeRetriever(notes, k=4, legs=("lexical",))
    nodes = retriever.retrieve("harbour of Oslo")
    assert len(nodes) == 4 and nodes[0].score is not None and "harbour" in nodes[0].node.get_content()
    again = asyncio.run(retriever.aretrieve("harbour of Oslo"))
    assert [node.node.node_id for node in again] == [node.node.node_id for node in nodes]
    everything = NodeRetriever(notes, k=50, legs=("lexical",)).retrieve("harbour's code 4711")
    assert everything and not any("4711" in node.node.get_content() for node in everything)


def test_parquet(notes, tmp_path):
    assert write_parquet(notes.export(), tmp_path / "all.parquet") == 13
    rows = {row["_id"]: row for row in pq.read_table(tmp_path / "all.parquet").to_pylist()}
    assert rows["m1"]["tags"] == ["sea"] and rows["s"]["is_sensitive"] is True
    assert rows["s"]["created_at"] == datetime(2024, 5, 1, tzinfo=UTC)


def test_the_example_of_a_plugin_is_found_where_it_is_installed() -> None:
    assert [found.name for found in plugins("embedders") if found.package == "hopgate-letters"] == ["letters"]
