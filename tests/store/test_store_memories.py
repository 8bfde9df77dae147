"""Memories in and out: all or nothing, idempotent, and given back as they came."""

import json
import os
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate.corpus import parse_memory, to_record
from hopgate.errors import HopgateError
from hopgate.memory import Memory

GOOD = [json.dumps({"_id": f"g{n}", "text": f"good number {n}"}) for n in range(1, 11)]


def test_a_stream_that_breaks_off_leaves_the_store_as_it_was(kb, tmp_path):
    kb.add(Memory("g2", "as it was"))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def feed() -> None:
        with pipe.open("w") as out:
            out.write("\n".join(GOOD) + '\n{"_id": "cut", "te')

    thread = threading.Thread(target=feed)
    thread.start()
    with pytest.raises(HopgateError, match="line 11: not JSON"):
        kb.ingest(pipe)
    thread.join()
    assert [memory.text for memory in kb.export()] == ["as it was"]


_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
_json = st.recursive(
    # A database's number has its digits: a float of more than they hold comes back as the next one.
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(-(2**50), 2**50) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=5,
)
_metadata = st.fixed_dictionaries(
    {},
    optional={
        "tags": st.none() | st.lists(_text, max_size=3),
        "category": st.none() | _text,
        "expanded_keywords": _text | st.lists(_text, max_size=3),
        "importance": st.none() | st.floats(0, 1) | st.integers(0, 1),
        "is_sensitive": st.booleans(),
        "scope": st.none() | _text,
        "created_at": st.sampled_from(["2024-05-01", "2023-05-08T13:56:00+00:00", "2023-05-08T13:56:00Z", None]),
        "thread": st.none() | _text,
        "reply_to": st.none() | _text,
        "language": st.sampled_from([None, "german", "de", "simple"]),
        "extra": st.none() | st.dictionaries(_text, _json, max_size=3),
    },
)
_record = st.fixed_dictionaries(
    {"text": _text},
    optional={"title": st.none() | _text, "metadata": st.none() | _metadata},
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=st.lists(_record, min_size=1, max_size=8))
def test_an_export_gives_back_what_went_in(kb, records):
    whole = [{"_id": f"r{number}", **record} for number, record in enumerate(records)]
    kb.delete([memory.external_id for memory in kb.export()])
    kb.add(*(parse_memory(record) for record in whole))
    kb.add(*(parse_memory(record) for record in whole))
    # An empty title, and metadata without a field, are no part of a memory.
    kept = [{name: value for name, value in one.items() if value or name in ("_id", "text")} for one in whole]
    assert [to_record(memory) for memory in kb.export()] == kept
