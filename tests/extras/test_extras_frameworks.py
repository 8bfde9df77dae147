"""The extras against the real packages: `make full` runs these in an environment of their own."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from langchain_tests.integration_tests import RetrieversIntegrationTests
from langgraph.store.base import GetOp, Item, ListNamespacesOp, MatchCondition, Op, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory as LlamaMemory

import hopgate
from hopgate.exports.memories import write_parquet
from hopgate.integrations.langchain import HopgateRetriever
from hopgate.integrations.langgraph import HopgateStore
from hopgate.integrations.llama_index import HopgateMemory
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


NAMESPACES = st.lists(st.sampled_from(["a", "b/c", "d #é"]), min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["k1", "k/2", "k#3"])
VALUES = st.fixed_dictionaries(
    {"text": st.sampled_from(["the harbour of Oslo", "a red boat", ""]), "n": st.integers(0, 4)},
    optional={"user": st.fixed_dictionaries({"name": st.sampled_from(["Ada", "Bob"])})},
)
FILTERS = st.sampled_from([None, {"n": 2}, {"n": {"$gte": 2}}, {"text": {"$ne": "a boat"}}, {"user": {"name": "Ada"}}])
OPERATIONS = st.one_of(
    st.builds(PutOp, NAMESPACES, KEYS, st.one_of(st.none(), VALUES), st.none(), st.none()),
    st.builds(GetOp, NAMESPACES, KEYS),
    st.builds(SearchOp, st.one_of(st.just(()), NAMESPACES), FILTERS, st.just(100), st.just(0), st.none()),
)
ASKED_NAMESPACES = [
    ListNamespacesOp(conditions, depth, limit=5, offset=offset)
    for conditions in (None, (MatchCondition("prefix", ("a",)),), (MatchCondition("suffix", ("*", "a")),))
    for depth, offset in ((None, 0), (1, 0), (2, 1))
]


def plain(result: object) -> object:
    if isinstance(result, list):
        return sorted(map(plain, result), key=str)
    return (result.namespace, result.key, result.value) if isinstance(result, Item) else result


@settings(max_examples=30, deadline=None, phases=[Phase.generate])
@given(batches=st.lists(st.lists(OPERATIONS, max_size=6), max_size=6))
def test_a_langgraph_store_answers_as_the_one_in_memory(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[Op]]
) -> None:
    """The framework's own store is the oracle. 30 stores are made on one server."""
    oracle = InMemoryStore()
    with hopgate.open(tmp_path_factory.getbasetemp() / "langgraph") as kb:
        kb.delete([memory.external_id for memory in kb.export()])
        store = HopgateStore(kb)
        for batch in batches:
            assert [plain(result) for result in store.batch(batch)] == [plain(r) for r in oracle.batch(batch)]
        # The oracle keeps a namespace that it was only asked for.
        for empty in [namespace for namespace, items in oracle._data.items() if not items]:
            del oracle._data[empty]
        assert store.batch(ASKED_NAMESPACES) == oracle.batch(ASKED_NAMESPACES)


def test_a_langgraph_store_searches_by_meaning_and_keeps_secrets(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        store = HopgateStore(kb)
        store.put(("users", "ada"), "boat", {"text": "The boat lies in the harbour of Oslo."})
        store.put(("users", "bob"), "bread", {"text": "Bread needs flour."})
        found = store.search(("users",), query="where is the ship moored?", limit=1)
        assert [(item.namespace, item.key) for item in found] == [(("users", "ada"), "boat")]
        assert found[0].score and asyncio.run(store.aget(("users", "ada"), "boat")).value["text"].startswith("The boat")
        kb.mark_sensitive([memory.external_id for memory in kb.export()][:1])
        assert store.get(("users", "ada"), "boat") is None
        assert [item.key for item in store.search(("users",), query="boat harbour Oslo")] == ["bread"]


def test_a_llama_index_memory_remembers_what_left_the_short_term_and_gives_back_what_is_asked(tmp_path: Path) -> None:
    async def talk(block: HopgateMemory) -> str:
        memory = LlamaMemory.from_defaults(session_id="s1", token_limit=60, memory_blocks=[block])
        for text in ("The boat lies in the harbour of Oslo.", "Bread needs flour and salt.", "What about tea?"):
            await memory.aput(ChatMessage(role="user", content=text))
            await memory.aput(ChatMessage(role="assistant", content="I see, and I shall keep that in mind."))
        said = await memory.aget(input="Where is the ship moored?")
        return str(said[0].content)

    with hopgate.open(tmp_path) as kb:
        given = asyncio.run(talk(HopgateMemory(kb=kb, scope="ada")))
        assert "harbour of Oslo" in given
        assert {memory.thread for memory in kb.list(scope="ada")} == {"s1"}
