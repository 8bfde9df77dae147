"""Several memories a call, kinds and relations of one's own, and a server that answers well, badly or in pieces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Source, State, sources
from hopgate.extract.model.openai import OpenAI
from hopgate.extract.model.several import read_several
from hopgate.extract.model.type_table import read_type_table
from hopgate.extract.runner import Run
from hopgate.extract.spec import TOGETHER, extractor_from
from hopgate.http import RetryPolicy
from hopgate.memory import Cleared, Memory

QUICK = RetryPolicy(timeout=5, total=20, retries=1, backoff=0.01, longest_wait=1.0)
TYPES = """
[kinds.ship]
description = "a vessel with a name"
examples = ["MS Fram"]

[relations."moored at"]
description = "where a ship lies"
single_valued = true
"""


def memories(*cases: str) -> list[Source]:
    texts = [f"Ada owns the NAS since March 2024. case:{case}" for case in cases]
    return list(sources([Memory(f"m{number}", text) for number, text in enumerate(texts)]))


def extractor(chat_server: Any, **settings: Any) -> OpenAI:
    return OpenAI("tiny", chat_server.url, retry=QUICK, together=16, **settings)


def test_one_call_for_many_with_their_ids(chat_server: Any) -> None:
    found = extractor(chat_server).extract(memories(*["good"] * 12))
    assert len(chat_server.requests) == 1 and chat_server.asked["several"] == 12
    assert all(one.state is State.COMPLETE and one.facts[0].object == "NAS" for one in found)
    assert sum(one.tokens for one in found) == 120


def test_what_the_answer_lacks_is_asked_by_itself(chat_server: Any) -> None:
    good, thought, twice, empty = extractor(chat_server).extract(memories("good", "thought", "good twice", "nothing"))
    assert [one.state for one in (good, thought, twice)] == [State.COMPLETE] * 3 and empty.state is State.EMPTY
    assert chat_server.asked["thought"] == 1 and chat_server.asked["good"] == 1 and chat_server.asked["nothing"] == 0


def test_an_entry_is_grounded_in_its_own_memory(chat_server: Any) -> None:
    rows = [*memories("good"), *sources([Memory("x", "Bea feeds the cat. case:good")])]
    mine, other = extractor(chat_server).extract(rows)
    assert mine.facts and not other.facts and dict(other.dropped)["ungrounded fact"] == 1


def test_an_answer_that_breaks_off_keeps_what_is_whole(chat_server: Any) -> None:
    found = extractor(chat_server).extract(memories("good breaks off", "good", "good"))
    assert all(one.state is State.COMPLETE for one in found) and chat_server.asked["good"] == 1


def test_brackets_that_are_pythons_alone_are_no_answer() -> None:
    two = [Source("a", Cleared("Ada owns the NAS.")), Source("b", Cleared("It hums."))]
    for answer in (
        '{"memories"Infinity: [{"mentions": [{"name"}], "id": "1"}]}',
        "[{'id': '1', 'mentions': {'Ada'}}]",
        "[{'id': '1', 'mentions': b'Ada'}]",
    ):
        assert [one and one.mentions for one in read_several(answer, two)] in ([None, None], [(), None]), answer
    (kept, _) = read_several("[{'id': '1', 'mentions': ({'name': 'Ada'},), 'facts': []}]", two)
    assert kept is not None and [mention.name for mention in kept.mentions] == ["Ada"]


def test_too_large_a_call_is_taken_apart_and_a_broken_server_is_not(chat_server: Any) -> None:
    found = extractor(chat_server).extract(memories("good too large", "good"))
    assert all(one.state is State.COMPLETE for one in found) and chat_server.asked["good"] == 2
    found = extractor(chat_server).extract(memories("good out of order", "good"))
    assert [one.reason for one in found] == ["the server answered 500"] * 2 and chat_server.asked["good"] == 2


def test_an_answer_in_pieces(chat_server: Any) -> None:
    assert all(one.facts for one in extractor(chat_server).extract(memories("good in pieces", "good")))


class Rows:
    def __init__(self) -> None:
        self.rows: dict[str | int, Any] = {}

    def done(self, memory_ids: Any, identity: Any) -> set[str | int]:
        return set()

    def write(self, batch: Any, identity: Any) -> None:
        self.rows.update({one.source.memory_id: one.extraction for one in batch})


def test_a_run_sends_them_together_and_shows_the_first(chat_server: Any) -> None:
    sink, shown = Rows(), list[int]()
    progress = Run(batch=64, concurrency=2).over(
        memories(*["good"] * 40), extractor(chat_server), sink, total=40, show=lambda one: shown.append(one.memories)
    )
    assert progress.memories == len(sink.rows) == 40 and progress.failed == 0 and progress.tokens == 3 * 120
    assert len(chat_server.requests) == 3 and shown[0] == 0 and shown[-1] == 40


def test_an_endpoint_gets_ten_to_twenty_five_by_default() -> None:
    made = extractor_from("openai", model="m", url="http://localhost:1/v1")
    assert isinstance(made, OpenAI) and made.together == TOGETHER and 10 <= TOGETHER <= 25
    assert made.base_url == "http://localhost:1/v1"


def test_kinds_and_relations_of_ones_own(chat_server: Any, tmp_path: Path) -> None:
    (tmp_path / "types.toml").write_text(TYPES)
    table = read_type_table(tmp_path / "types.toml")
    assert table.single_valued == ("moored at",)
    asking = extractor(chat_server, types=table)
    asking.extract(memories("good", "good"))
    asking.extract(memories("good"))
    for request in chat_server.requests:
        told = request["messages"][0]["content"]
        assert "'ship' (a vessel with a name), such as MS Fram" in told and "'moored at' (where a ship lies)" in told
    assert asking.identity.hash != extractor(chat_server).identity.hash


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[kind.ship]", "did you mean 'kinds'"),
        ("[kinds.ship]\ndescripton = 'x'", "did you mean 'description'"),
        ("[relations.owns]\nsingle_valued = 'yes'", "true or false"),
        ("[kinds]\nship = 1", "a table is expected"),
        ("[kinds.x]\nexamples = 'y'", "list of strings"),
        ("", "neither kinds nor relations"),
        ("[", "not TOML"),
    ],
)
def test_a_table_of_types_that_is_none_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "types.toml").write_text(text)
    with pytest.raises(HopgateError, match=reason):
        read_type_table(tmp_path / "types.toml")
    with pytest.raises(HopgateError, match="asks no model"):
        extractor_from("phrases", types=tmp_path / "types.toml")
