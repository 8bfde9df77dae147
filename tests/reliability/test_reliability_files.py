"""Files of one's own: private from the first byte, and nobody else's folder is entered, changed or waited for."""

from __future__ import annotations

import fcntl
import os
import socket
import stat
from pathlib import Path

import pytest
from cli_run import Runner

import hopgate
from hopgate import Memory
from hopgate.errors import HopgateError
from hopgate.kb import KnowledgeBase
from hopgate.store import server as embedded_server

ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not ROOT, reason="acts as another user")


def modes(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder.parent)): stat.S_IMODE(path.lstat().st_mode)
        for path in [folder, *folder.rglob("*")]
    }


def test_caches_are_private_whatever_comes_first(kb: KnowledgeBase, cache: Path) -> None:
    """A recall makes the folder before the first embedding does."""
    old = os.umask(0o022)
    try:
        kb.add(Memory("m", "Ada Byron lives in London."))
        kb.build()
        kb.recall("Ada Byron", graph=1.0)
        kb.embed()
        kb.recall("Ada Byron", graph=1.0)
    finally:
        os.umask(old)
    found = modes(cache)
    assert {mode for path, mode in found.items() if (cache.parent / path).is_dir()} == {0o700}
    assert {mode for path, mode in found.items() if (cache.parent / path).is_file()} == {0o600}
    assert any(path.endswith(".sqlite3") for path in found)


@pytest.mark.parametrize("form", ["jsonl", "csv", "sqlite", pytest.param("parquet", marks=pytest.mark.full)])
def test_what_holds_sensitive_memories_is_written_for_its_owner_alone(
    kb: KnowledgeBase, dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    kb.add(Memory("m", "Ada keeps the key.", is_sensitive=True))
    old = os.umask(0)
    try:
        Runner(capsys, "--dsn", dsn)("export", "--format", form, "--out", str(tmp_path / "out"))
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o600


@needs_root
def test_folders_above_a_store_are_left_as_they_are(tmp_path: Path) -> None:
    """As root the server runs as another user, who reaches the store all the same."""
    above = tmp_path / "closed"
    above.mkdir(mode=0o700)
    before = {folder: folder.stat().st_mode for folder in (above, *above.parents)}
    with hopgate.open(above / "store") as kb:
        kb.add(Memory("m", "Ada keeps the key."))
        assert [hit.external_id for hit in kb.recall("key", legs=("lexical",))] == ["m"]
    assert {folder: folder.stat().st_mode for folder in before} == before
    assert stat.S_IMODE((above / "store").stat().st_mode) == 0o700


@needs_root
def test_a_socket_folder_that_another_user_made_is_not_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    sockets = embedded_server.socket_directory(deep)
    sockets.mkdir(mode=0o777)
    os.chown(sockets, 65534, 65534)
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(sockets / embedded_server.SOCKET_NAME))
        listener.listen()
        listener.settimeout(0.01)
        deep.mkdir(parents=True)
        with pytest.raises(HopgateError, match="belongs to somebody else"):
            hopgate.open(deep)
        with pytest.raises(TimeoutError):
            listener.accept()
    finally:
        listener.close()
        (sockets / embedded_server.SOCKET_NAME).unlink()
        sockets.rmdir()


@needs_root
def test_a_lock_that_another_user_holds_ends_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_server, "LOCK_S", 0.2)
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    handle = os.open(folder / ".users", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(HopgateError, match="another process has held"):
            hopgate.open(folder)
        assert stat.S_IMODE((folder / ".users").stat().st_mode) == 0o600
    finally:
        os.close(handle)
