"""Whatever a file holds, a source gives memories or refuses it in one sentence."""

import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.sources.read import FORMATS, read_source
from hopgate.sources.source import ReadOptions

# The names that exports use, so that what is made up gets past the first look.
_names = st.sampled_from(
    [
        *("mapping", "current_node", "message", "author", "role", "content", "parts", "id", "parent", "create_time"),
        *("chat_messages", "uuid", "text", "sender", "created_at", "name", "messages", "type", "from", "from_id"),
        *("date_unixtime", "reply_to_message_id", "chats", "list", "ts", "user", "thread_ts", "_id", "is_sensitive"),
    ]
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats() | st.text(max_size=8) | _names,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_names, inner, max_size=5),
    max_leaves=20,
)
_messages = st.lists(st.dictionaries(_names, _values, max_size=8), min_size=1, max_size=3)
ONCE = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def attempt(path: Path, form: str | None) -> None:
    try:
        assert all(isinstance(memory, Memory) for memory in read_source(path, form).memories)
    except HopgateError as refused:
        assert str(refused) and "\n" not in str(refused)


@ONCE
@given(form=st.sampled_from([None, *(source.name for source in FORMATS)]), raw=st.binary(max_size=200))
def test_any_bytes(tmp_path, form, raw):
    (tmp_path / "odd.txt").write_bytes(raw)
    attempt(tmp_path / "odd.txt", form)


@ONCE
@given(
    form=st.sampled_from(["chatgpt", "claude", "telegram", "json", None]),
    value=_values | _messages | st.builds(lambda rows: {"messages": rows}, _messages),
)
def test_any_json(tmp_path, form, value):
    (tmp_path / "conversations.json").write_text(json.dumps(value))
    attempt(tmp_path / "conversations.json", form)


@ONCE
@given(rows=_messages)
def test_any_day_of_slack(tmp_path, rows):
    (tmp_path / "general").mkdir(exist_ok=True)
    (tmp_path / "users.json").write_text("[]")
    (tmp_path / "general" / "2024-05-01.json").write_text(json.dumps(rows))
    attempt(tmp_path, None)


def test_a_broken_and_an_empty_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    with zipfile.ZipFile(tmp_path / "good.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([{"mapping": {}, "current_node": "x"}] * 50))
    raw = bytearray((tmp_path / "good.zip").read_bytes())
    raw[60:70] = b"\xff" * 10
    (tmp_path / "broken.zip").write_bytes(raw)
    for name in ("empty", "broken"):
        for form in (None, "chatgpt", "slack", "whatsapp"):
            with pytest.raises(HopgateError):
                list(read_source(tmp_path / f"{name}.zip", form).memories)


def test_what_unpacks_to_more_than_is_allowed_is_refused_and_not_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("note.md", b"a " * 2**23)
    (tmp_path / "long.txt").write_bytes(b"a " * 2**20)
    for name, options, most in (("bomb.zip", ReadOptions(), 4), ("long.txt", ReadOptions(max_mb=1), 1)):
        with pytest.raises(HopgateError, match=f"holds more than {most} MB"):
            list(read_source(tmp_path / name, None, options).memories)
