"""The OpenAI-compatible extractor against a real server that misbehaves in every way we know."""

from __future__ import annotations

from typing import Any

import pytest
from extraction_caches import DictCache

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, Source, State, sources
from hopgate.extract.extractor import Extractor
from hopgate.extract.model.openai import OpenAI
from hopgate.extract.runner import Run
from hopgate.http import RetryPolicy
from hopgate.memory import Memory

QUICK = RetryPolicy(timeout=5, total=20, retries=2, backoff=0.01, longest_wait=1.0)


def source(case: str) -> Source:
    [made] = sources([Memory(case, f"Ada owns the NAS since March 2024. case:{case}")])
    return made


def ask(chat_server: Any, case: str, **settings: Any) -> Extraction:
    extractor = OpenAI("tiny", chat_server.url, retry=QUICK, **settings)
    assert isinstance(extractor, Extractor)
    return extractor.extract([source(case)])[0]


def test_a_good_answer_becomes_mentions_and_dated_facts(chat_server: Any) -> None:
    extraction = ask(chat_server, "good")
    assert extraction.state is State.COMPLETE
    assert [(mention.name, mention.kind) for mention in extraction.mentions] == [("Ada", "person"), ("NAS", "device")]
    [fact] = extraction.facts
    assert (fact.subject, fact.relation, fact.object, fact.valid_from) == ("Ada", "owns", "NAS", "2024-03")
    assert (extraction.prompt_tokens, extraction.answer_tokens) == (100, 20)
    request = chat_server.requests[0]
    assert request["response_format"]["type"] == "json_schema"
    assert request["temperature"] == 0 and request["seed"] == 0


@pytest.mark.parametrize(
    ("case", "state", "reason", "facts", "dropped"),
    [
        ("blank", State.FAILED, "blank", 0, None),
        ("nothing", State.EMPTY, "found nothing", 0, None),
        ("prose", State.FAILED, "no JSON", 0, None),
        ("cut", State.TRUNCATED, "cut off", 0, None),
        ("schema", State.FAILED, "schema", 0, None),
        ("repeats", State.COMPLETE, "", 1, ("repeated fact", 499)),
        ("thought", State.COMPLETE, "", 1, None),
        ("only-thought", State.TRUNCATED, "thinking", 0, None),
        ("no-subject", State.COMPLETE, "", 1, ("fact without a subject, relation or object", 1)),
        ("long-relation", State.COMPLETE, "", 1, ("over-long fact", 1)),
        ("ungrounded", State.EMPTY, "could be kept", 0, ("ungrounded fact", 1)),
        ("bad-bytes", State.COMPLETE, "", 0, ("fact without a subject, relation or object", 1)),
        ("error", State.FAILED, "answered 500", 0, None),
        ("not-json", State.FAILED, "did not answer in JSON", 0, None),
        ("no-choice", State.FAILED, "no choice", 0, None),
        ("once", State.COMPLETE, "", 1, None),
        ("busy", State.COMPLETE, "", 1, None),
    ],
)
def test_every_misbehaviour_is_told_apart(
    chat_server: Any, case: str, state: State, reason: str, facts: int, dropped: tuple[str, int] | None
) -> None:
    extraction = ask(chat_server, case)
    assert extraction.state is state
    assert reason in extraction.reason
    assert len(extraction.facts) == facts
    if dropped:
        why, times = dropped
        assert dict(extraction.dropped)[why] == times


def test_a_stalled_reply_is_given_up_and_said_so(chat_server: Any) -> None:
    extraction = OpenAI("tiny", chat_server.url, retry=RetryPolicy(timeout=0.1, retries=1, backoff=0.01)).extract(
        [source("stall")]
    )[0]
    assert extraction.state is State.FAILED
    assert extraction.reason == "the server did not answer within 0.1 s"
    assert chat_server.asked["stall"] == 2


def test_retry_after_is_obeyed(chat_server: Any) -> None:
    ask(chat_server, "busy")
    first, second = chat_server.waits
    assert second - first >= 0.2


def test_a_server_that_is_not_there_ends_the_run_at_once_and_fails_no_memory() -> None:
    extractor = OpenAI("tiny", "http://127.0.0.1:9/v1", retry=RetryPolicy(backoff=0.01))
    sink = Collected()
    progress = Run(concurrency=2).over([source(f"m{number}") for number in range(200)], extractor, sink)
    assert sink.rows == {} and progress.memories == 0
    assert "http://127.0.0.1:9/v1 cannot be reached" in progress.stopped and "is the server running" in progress.stopped


@pytest.mark.parametrize(("formats", "asked"), [({"json_object", "none"}, "json_object"), ({"none"}, "none")])
def test_without_json_schema_plain_json_is_asked_for(chat_server: Any, formats: set[str], asked: str) -> None:
    chat_server.formats = formats
    extractor = OpenAI("tiny", chat_server.url, retry=QUICK)
    first, second = extractor.extract([source("good"), source("thought")])
    assert first.state is second.state is State.COMPLETE
    used = [request.get("response_format", {"type": "none"})["type"] for request in chat_server.requests]
    assert used[-2:] == [asked, asked]
    assert used.count("json_schema") == 1


def test_a_refused_key_stops_with_one_sentence_that_does_not_hold_it(chat_server: Any) -> None:
    with pytest.raises(HopgateError, match="give a key") as refusal:
        ask(chat_server, "key", api_key="sk-secret")
    assert "sk-secret" not in str(refusal.value)
    assert "sk-secret" not in repr(OpenAI("tiny", api_key="sk-secret"))


def test_a_length_stop_is_retried_with_less_and_all_tokens_are_counted(chat_server: Any) -> None:
    filler = "and so on " * 12
    [long] = sources([Memory("long", f"Ada owns the NAS case:long {filler}. The NAS of Ada case:long hums {filler}.")])
    extraction = OpenAI("tiny", chat_server.url, retry=QUICK).extract([long])[0]
    assert extraction.state is State.COMPLETE
    assert len(extraction.facts) == 1
    assert chat_server.asked["long"] == 3
    assert extraction.tokens == 3 * 120


class Collected:
    """A sink in a list."""

    def __init__(self) -> None:
        self.rows: dict[str | int, Extraction] = {}

    def done(self, memory_ids: Any, identity: Any) -> set[str | int]:
        return {one for one in memory_ids if one in self.rows and self.rows[one].state.done}

    def write(self, batch: Any, identity: Any) -> None:
        self.rows.update({one.source.memory_id: one.extraction for one in batch})


CASES = [
    *("good", "blank", "nothing", "prose", "cut", "schema", "repeats", "thought", "only-thought", "no-subject"),
    *("long-relation", "ungrounded", "bad-bytes", "error", "not-json", "no-choice", "once", "busy", "stall"),
]


def test_a_run_over_all_of_it_stops_for_nothing_and_counts_everything(chat_server: Any) -> None:
    sink, cache = Collected(), DictCache()
    extractor = OpenAI("tiny", chat_server.url, retry=RetryPolicy(timeout=3, total=15, retries=1, backoff=0.01))
    shown: list[int] = []
    progress = Run(batch=8, concurrency=4).over(
        [source(case) for case in CASES],
        extractor,
        sink,
        cache=cache,
        total=len(CASES),
        show=lambda progress: shown.append(progress.memories),
    )
    assert set(sink.rows) == set(CASES)
    assert progress.memories == len(CASES)
    assert (progress.failed, progress.truncated, progress.empty) == (7, 2, 2)
    assert progress.stopped == ""
    assert progress.reasons["failed: the server did not answer within 3 s"] == 1
    assert progress.dropped["repeated fact"] == 499
    assert progress.tokens == sum(extraction.tokens for extraction in sink.rows.values())
    assert shown == sorted(shown) and shown[-1] == len(CASES)

    # A second run asks again about what was not done, and about nothing else.
    before = sum(chat_server.asked.values())
    again = Run(concurrency=4).over([source(case) for case in CASES], extractor, sink, cache=cache)
    assert again.skipped == len(CASES) - 9
    assert again.memories == 9
    assert sum(chat_server.asked.values()) > before
    assert chat_server.asked["nothing"] == 1, "an empty result is done"

    # Another sink is served from the cache.
    fresh = Run(concurrency=4).over([source("good"), source("nothing")], extractor, Collected(), cache=cache)
    assert fresh.cache_hits == 2 and fresh.tokens == 0


def test_the_spending_cap_ends_a_run_that_another_run_finishes(chat_server: Any) -> None:
    many = [Source(number, source("good").text) for number in range(20)]
    sink = Collected()
    extractor = OpenAI("tiny", chat_server.url, retry=QUICK)
    progress = Run(max_tokens=600, batch=8).over(many, extractor, sink)
    assert progress.tokens == 600
    assert progress.memories == len(sink.rows) == 5
    assert "600 tokens" in progress.stopped
    rest = Run().over(many, extractor, sink)
    assert rest.skipped == 5 and rest.memories == 15 and rest.stopped == ""


def test_the_key_does_not_enter_the_identity() -> None:
    assert OpenAI("m", api_key="a").identity.hash == OpenAI("m", api_key="b").identity.hash
    assert OpenAI("m").identity.hash != OpenAI("n").identity.hash
    assert OpenAI("m").identity.hash != OpenAI("m", max_tokens=5).identity.hash
