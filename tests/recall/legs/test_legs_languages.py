"""Other languages and scripts: stems, accents, parts of joined words, and characters where there are no spaces."""

from __future__ import annotations

import pytest

from hopgate import Memory
from hopgate.corpus import parse_memory, to_record
from hopgate.errors import HopgateError
from hopgate.kb import KnowledgeBase


def found(kb: KnowledgeBase, query: str, **options: str) -> list[str]:
    return [hit.external_id for hit in kb.recall(query, legs=("lexical",), **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize("ranker", ["bm25", "ts_rank"])
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("the port is 51820/udp", "51820"),
        ("the port is 51820", "51820/udp"),
        ("error E-4012 at boot", "4012"),
        ("it runs on db.example.org:5432", "5432"),
        ("see snake_case_name", "case"),
        ("her résumé was read", "resume"),
        ("her resume was read", "résumé"),
        ("a café in Kraków", "krakow cafe"),
        ("in der Hauptstraße", "hauptstrasse"),
        ("Hovedbygården på Ærø", "aero"),
        ("ISPARTA gülü", "ısparta"),
        ("ışık", "isik"),
        ("İzmir", "izmir"),
        ("Łódź", "lodz"),
        ("ｆｕｌｌ width", "full"),
        ("Ёлка стоит", "елка"),
        ("我喜欢喝绿茶", "绿茶"),
        ("我喜欢喝绿茶", "喝"),
        ("我喜欢喝绿茶", "喜欢咖啡"),
        ("東京タワーに登った", "タワー"),
        ("東京タワーに登った", "東京へ行く"),
        ("서울에서 친구를 만났다", "친구"),
        ("Tokyo 東京 の天気は晴れ", "weather 天気"),
    ],
)
def test_is_found(kb: KnowledgeBase, text: str, query: str, ranker: str) -> None:
    kb.add(Memory("it", text), Memory("other", "nothing of the kind 別物 其他"))
    assert found(kb, query, lexical_ranker=ranker)[:1] == ["it"]


def test_two_characters_are_not_found_by_one_of_them(kb: KnowledgeBase) -> None:
    kb.add(Memory("a", "绿色的树"), Memory("b", "红茶很好"))
    assert found(kb, "绿茶") == []


def test_one_query_of_several_scripts(kb: KnowledgeBase) -> None:
    kb.add(Memory("zh", "服务器在地下室"), Memory("de", "Der Drucker steht im Keller"), Memory("no", "else"))
    assert set(found(kb, "地下室 or Keller")) == {"zh", "de"}


def test_the_stores_language_and_a_memorys_own(kb: KnowledgeBase) -> None:
    kb.add(Memory("a", "Die Häuser am Hafen"), Memory("b", "The houses at the harbour", language="en"))
    assert found(kb, "Haus") == []
    assert kb.language() == "english"
    assert kb.language("de") == "german" == kb.language()
    assert found(kb, "Haus") == ["a"]
    assert found(kb, "house harbours") == ["b"]
    kb.add(Memory("c", "Das Häuschen und das Haus"), Memory("d", "les maisons", language="french"))
    assert set(found(kb, "Häuser")) == {"a", "c"}
    assert found(kb, "maison") == ["d"]
    memory = kb.get("b")
    assert memory and memory.language == "english"


def test_an_unknown_language_is_refused(kb: KnowledgeBase) -> None:
    with pytest.raises(HopgateError, match=r"no text search for 'klingon': there are .*english"):
        kb.add(Memory("a", "nuqneH", language="klingon"))
    with pytest.raises(HopgateError, match="no text search for 'klingon'"):
        kb.language("klingon")
    with pytest.raises(HopgateError, match="is no language"):
        Memory("a", "x", language="'; drop")
    assert len(kb) == 0


def test_a_language_comes_back_as_it_went_in(kb: KnowledgeBase) -> None:
    record = {"_id": "a", "text": "Häuser", "metadata": {"language": "de"}}
    kb.add(parse_memory(record), Memory("b", "x"))
    first, second = (to_record(memory) for memory in kb.export())
    assert first == record
    assert "language" not in str(second)


def test_a_text_of_the_largest_size_is_searched_in_any_script(kb: KnowledgeBase) -> None:
    characters = "".join(chr(0x4E00 + (n * 7919) % 20000) for n in range(85_000))
    kb.add(Memory("zh", characters), Memory("accents", "é" * 3 + " ".join(f"ä{n}" for n in range(25_000))))
    assert found(kb, characters[100:104]) == ["zh"]
    assert found(kb, "a24000") == ["accents"]
