"""The OpenAI-compatible extractor against a real server that misbehaves in every way we know."""

import pickle
from typing import Any

import pytest
from extraction_caches import DictCache, Rows

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, Extractor, Source, State, sources
from hopgate.extract.model.openai import OpenAI
from hopgate.extract.runner import Run
from hopgate.extract.spec import extractor_from
from hopgate.http import RetryPolicy
from hopgate.memory import Memory

QUICK = RetryPolicy(timeout=5, total=20, retries=2, backoff=0.01, longest_wait=1.0)


def memories(*cases: str) -> list[Source]:
    return list(
        sources(
            Memory(f"{at}-{case}", f"Ada owns the NAS since March 2024. case:{case}") for at, case in enumerate(cases)
        )
    )


def ask(chat_server: Any, *cases: str, **settings: Any) -> list[Extraction]:
    extractor = OpenAI("tiny", chat_server.url, **{"retry": QUICK, "together": 100, **settings})
    assert isinstance(extractor, Extractor)
    return extractor.extract(memories(*cases))


def test_a_good_answer_becomes_mentions_and_dated_facts(chat_server):
    used = OpenAI("tiny", chat_server.url)
    [extraction] = used.extract(memories("good"))
    assert [(mention.name, mention.kind) for mention in extraction.mentions] == [("Ada", "person"), ("NAS", "device")]
    [fact] = extraction.facts
    assert (fact.subject, fact.relation, fact.object, fact.valid_from) == ("Ada", "owns", "NAS", "2024-03")
    assert (extraction.prompt_tokens, extraction.answer_tokens) == (100, 20)
    assert pickle.loads(pickle.dumps(used)) == used, "also one that was asked goes to other processes"
    [request] = chat_server.requests
    assert request["response_format"]["type"] == "json_schema" and request["temperature"] == request["seed"] == 0
    # A model is told the relations of the rules, so that its facts end each other.
    assert "'runs on'" in request["messages"][0]["content"]


MISBEHAVIOUR: dict[str, tuple[State, str, int, tuple[str, int] | None]] = {
    "good": (State.COMPLETE, "", 1, None),
    "blank": (State.FAILED, "blank", 0, None),
    "nothing": (State.EMPTY, "found nothing", 0, None),
    "prose": (State.FAILED, "no JSON", 0, None),
    "cut": (State.TRUNCATED, "cut off", 0, None),
    "schema": (State.FAILED, "schema", 0, None),
    "repeats": (State.COMPLETE, "", 1, ("repeated fact", 499)),
    "thought": (State.COMPLETE, "", 1, None),
    "only-thought": (State.TRUNCATED, "thinking", 0, None),
    "no-subject": (State.COMPLETE, "", 1, ("fact without a subject, relation or object", 1)),
    "long-relation": (State.COMPLETE, "", 1, ("over-long fact", 1)),
    "ungrounded": (State.EMPTY, "could be kept", 0, ("ungrounded fact", 1)),
    "bad-bytes": (State.COMPLETE, "", 0, ("fact without a subject, relation or object", 1)),
    "error": (State.FAILED, "answered 500", 0, None),
    "not-json": (State.FAILED, "did not answer in JSON", 0, None),
    "no-choice": (State.FAILED, "no choice", 0, None),
    "once": (State.COMPLETE, "", 1, None),
    "busy": (State.COMPLETE, "", 1, None),
    "stall": (State.FAILED, "the server did not answer within 1 s", 0, None),
}


def test_a_run_tells_every_misbehaviour_apart_stops_for_none_and_counts_it(chat_server):
    sink, cache, rows = Rows(), DictCache(), memories(*MISBEHAVIOUR)
    extractor = OpenAI("tiny", chat_server.url, retry=RetryPolicy(timeout=1, total=15, retries=1, backoff=0.01))
    shown: list[int] = []
    progress = Run(batch=8, concurrency=4).over(
        rows, extractor, sink, cache=cache, total=len(rows), show=lambda progress: shown.append(progress.memories)
    )
    for source, (case, (state, reason, facts, dropped)) in zip(rows, MISBEHAVIOUR.items(), strict=True):
        extraction = sink.rows[source.memory_id]
        assert extraction.state is state and reason in extraction.reason, case
        assert len(extraction.facts) == facts
        assert dropped is None or dropped in extraction.dropped
    first, second = chat_server.waits
    assert second - first >= 0.2, "Retry-After is obeyed"
    assert (progress.memories, progress.failed, progress.truncated, progress.empty) == (len(rows), 7, 2, 2)
    assert progress.stopped == "" and progress.dropped["repeated fact"] == 499
    assert progress.tokens == sum(extraction.tokens for extraction in sink.rows.values())
    assert shown == sorted(shown) and shown[-1] == len(rows)
    # A second run asks again about what was not done, and about nothing else; another sink is served from the cache.
    again = Run(concurrency=4).over(rows, extractor, sink, cache=cache)
    assert (again.skipped, again.memories) == (len(rows) - 9, 9)
    assert chat_server.asked["nothing"] == 1, "an empty result is done"
    fresh = Run(concurrency=4).over(memories("good", "nothing"), extractor, Rows(), cache=cache)
    assert fresh.cache_hits == 2 and fresh.tokens == 0


def test_a_server_that_is_not_there_ends_the_run_at_once_and_fails_no_memory():
    extractor = OpenAI("tiny", "http://127.0.0.1:9/v1", retry=RetryPolicy(backoff=0.01))
    sink = Rows()
    progress = Run(concurrency=2).over(memories(*["good"] * 200), extractor, sink)
    assert sink.rows == {} and progress.memories == 0
    assert "http://127.0.0.1:9/v1 cannot be reached" in progress.stopped and "is the server running" in progress.stopped


@pytest.mark.parametrize(("formats", "asked"), [({"json_object", "none"}, "json_object"), ({"none"}, "none")])
def test_without_json_schema_plain_json_is_asked_for(chat_server, formats, asked):
    chat_server.formats = formats
    first, second = ask(chat_server, "good", "thought", together=1)
    assert first.state is second.state is State.COMPLETE
    used = [request.get("response_format", {"type": "none"})["type"] for request in chat_server.requests]
    assert used[-2:] == [asked, asked] and used.count("json_schema") == 1


def test_a_refused_key_stops_with_one_sentence_that_does_not_hold_it(chat_server):
    with pytest.raises(HopgateError, match="give a key") as refusal:
        ask(chat_server, "key", api_key="sk-secret")
    assert "sk-secret" not in str(refusal.value) + repr(OpenAI("tiny", api_key="sk-secret"))
    assert OpenAI("m", api_key="a").identity.hash == OpenAI("m", api_key="b").identity.hash
    for other in (OpenAI("n"), OpenAI("m", max_tokens=5), OpenAI("m", window=5), OpenAI("m", together=5)):
        assert OpenAI("m").identity.hash != other.identity.hash


def test_the_spending_cap_ends_a_run_that_another_run_finishes(chat_server):
    many, sink = memories(*["good"] * 20), Rows()
    extractor = OpenAI("tiny", chat_server.url, retry=QUICK)
    progress = Run(max_tokens=600, batch=8).over(many, extractor, sink)
    assert progress.tokens == 600 and progress.memories == len(sink.rows) == 5
    assert "600 tokens" in progress.stopped
    rest = Run().over(many, extractor, sink)
    assert (rest.skipped, rest.memories, rest.stopped) == (5, 15, "")


def test_a_hundred_short_memories_go_into_a_call_and_long_ones_as_they_fit(chat_server):
    made = extractor_from("openai", model="m", url=chat_server.url)
    assert isinstance(made, OpenAI) and made.together == 100 and made.base_url == chat_server.url
    sink = Rows()
    progress = Run(batch=64).over(memories(*["good"] * 250), made, sink)
    assert len(chat_server.requests) == 3 and chat_server.asked["several"] == 250
    assert progress.memories == len(sink.rows) == 250 and progress.failed == 0 and progress.tokens == 3 * 120
    made.extract(list(sources(Memory(f"m{at}", f"Ada owns the NAS. {'and so on ' * 300}") for at in range(16))))
    assert len(chat_server.requests) == 3 + 3


@pytest.mark.parametrize(
    ("cases", "most", "calls"),
    [
        (("good", "thought", "good twice", "nothing"), 1000, 4),
        (("good breaks off", "good", "good"), 1000, 2),
        (("good in pieces", "good"), 1000, 1),
        (("good too large", "good"), 1000, 3),
        (("good",) * 40, 10, 7),
    ],
)
def test_what_an_answer_lacks_is_asked_again_with_less(chat_server, cases, most, calls):
    chat_server.most = most
    extractions = ask(chat_server, *cases)
    assert [extraction.state for extraction in extractions] == [
        State.EMPTY if case == "nothing" else State.COMPLETE for case in cases
    ]
    assert len(chat_server.requests) == calls
    assert sum(extraction.tokens for extraction in extractions) % 120 == 0


def test_a_broken_server_is_not_asked_again_with_less(chat_server):
    extractions = ask(chat_server, "good out of order", "good")
    assert [extraction.reason for extraction in extractions] == ["the server answered 500"] * 2
    assert chat_server.asked["good"] == 0


def test_an_entry_is_grounded_in_its_own_memory_and_in_who_says_i(chat_server):
    told = Memory("m3", "I own the NAS. case:good", source={"owner": "Ada"})
    rows = sources([Memory("m1", "Ada owns the NAS. case:good"), Memory("m2", "Bea feeds the cat. case:good"), told])
    mine, other, by_owner = OpenAI("tiny", chat_server.url, retry=QUICK, together=3).extract(list(rows))
    assert mine.facts and not other.facts and dict(other.dropped)["ungrounded fact"] == 1
    assert by_owner.facts[0].subject == "Ada"
    assert '"says_I": "Ada"' in chat_server.requests[0]["messages"][-1]["content"]
