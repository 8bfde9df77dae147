"""What comes from others is data, and what is one's own stays one's own: texts, backups, files, folders, passwords."""

import contextlib
import fcntl
import json
import os
import socket
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from answering import answering
from reliability.canary import in_tables

import hopgate
from hopgate import Memory
from hopgate.embed import embedder_from
from hopgate.errors import HopgateError
from hopgate.extract.model.openai import OpenAI
from hopgate.guard import SensitivityRules
from hopgate.http import RetryPolicy
from hopgate.kb import KnowledgeBase
from hopgate.store import backup
from hopgate.store import server as embedded_server
from hopgate.store.backup import MANIFEST

NOTE = Memory("m", "Ada Byron keeps the key in London.")


# Odd input ends in one sentence and status 2; what a terminal or another program would obey is only shown.

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m"
OBEYED = {"\x1b", "\x07", "\x9b"}


@pytest.mark.parametrize(
    "command",
    [
        *("recall x --scope", "recall", "add x --scope", "add", "delete", "sensitive", "show", "edges"),
        *("concepts show", "settings set fuser", "ingest"),
    ],
)
def test_arguments_that_are_not_utf_8(run, command):
    run(*command.split(), "\udcff", status=2).refused()


def test_nul_in_ids_and_scopes(kb):
    kb.add(NOTE)
    for ask in (
        lambda: kb.recall("key", scope="a\0b"),
        lambda: kb.recall("key", exclude=["a\0"]),
        lambda: kb.get("a\0"),
        lambda: kb.delete(["a\0"]),
        lambda: kb.mark_sensitive(["a\0"]),
        lambda: kb.graph.edges("a\0"),
        lambda: kb.graph.concepts(scope="a\0"),
        lambda: kb.add(Memory("a\0", "x")),
        lambda: kb.get("a\ud800"),
    ):
        try:
            assert not ask()
        except HopgateError as error:
            assert "\n" not in str(error)


def test_what_a_terminal_obeys_does_not_reach_it(kb, run):
    kb.add(Memory(f"id{ESCAPE}", f"Ada Byron lives in London.{ESCAPE}", title=f"Title{ESCAPE}", scope=f"s{ESCAPE}"))
    kb.build()
    shown = ""
    for arguments in (
        ("recall", "Ada Byron", "--explain"),
        ("recall", "Ada Byron", "--json"),
        ("show", f"id{ESCAPE}"),
        ("edges", "Ada Byron"),
        ("concepts", "list"),
        ("export",),
        ("graph", "export", "--format", "graphml", "--memories"),
        ("graph", "export", "--format", "json", "--memories"),
    ):
        ran = run(*arguments, status=None)
        assert not OBEYED & set(ran.out + ran.err), arguments
        shown += ran.out
    assert "Ada" in shown
    assert not OBEYED & set(run("delete", f"nobody{ESCAPE}", status=2).err)


# A backup that comes from somebody else is no program, and a restore destroys nothing that came meanwhile.


@pytest.fixture
def made(kb: KnowledgeBase, tmp_path: Path) -> Path:
    """A backup of a store with one memory."""
    kb.add(NOTE)
    kb.upkeep.backup(tmp_path / "made.hopgate")
    return tmp_path / "made.hopgate"


def rewritten(path: Path, change: Callable[[dict[str, Any]], Any], files: Mapping[str, str] = {}) -> Path:
    """The backup with another manifest, and but for these files as it is."""
    other = path.with_name("other.hopgate")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        values = json.loads(old.read(MANIFEST))
        changed = change(values)
        new.writestr(MANIFEST, changed if isinstance(changed, str | bytes) else json.dumps(values))
        for name in old.namelist():
            if name != MANIFEST:
                new.writestr(name, files.get(name, old.read(name)))
    return other


def test_a_backup_runs_no_statement_of_its_own(made, second):
    """The embedded server's user may do anything there: a statement would be a program on this machine."""
    space = '{"dimension": "3); CREATE TABLE public.taken (a int); --"}\t\\N\tt\n'
    with pytest.raises(HopgateError) as refused:
        second.upkeep.restore(rewritten(made, lambda _: {}, {"tables/embedding_space.copy": space}))
    found = second.store.run(lambda c: c.execute("SELECT to_regclass('public.taken')").fetchone())
    assert found == (None,) and len(second) == 0 and "Ada" not in str(refused.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda _: "[" * 100_000,
        lambda _: b"\xff",
        lambda values: values.update(schema="base"),
        lambda values: values.update(tables=[]),
        lambda values: values["tables"]["memories"].update(columns=["id"]),
        lambda values: values["tables"].update(memories=None),
    ],
)
def test_a_manifest_of_another_shape_is_one_sentence(made, second, change):
    with pytest.raises(HopgateError, match="not a backup of hopgate"):
        second.upkeep.restore(rewritten(made, change))


def test_what_comes_while_a_backup_is_read_stays(made, second, monkeypatch):
    """The store was empty when it was looked at, and is emptied before it is filled."""
    real_load = backup._load

    def meanwhile(*given: Any) -> Any:
        with hopgate.open(second.store.dsn) as beside:
            beside.add(Memory("n", "Bea feeds the cat."))
        return real_load(*given)

    monkeypatch.setattr(backup, "_load", meanwhile)
    with pytest.raises(HopgateError, match="holds 1 memories"):
        second.upkeep.restore(made)
    assert second.get("n") is not None and second.get("m") is None


def test_the_rules_of_both_stores_hold_for_what_is_restored_before_anybody_reads_it(kb, second, tmp_path, monkeypatch):
    """Somebody who has a rule and restores an older backup believes that the rule still holds."""
    kb.add(Memory("m1", "Ada Lovelace lives in London.", tags=("private",)), Memory("m2", "Bea lives in Paris."))
    kb.add_sensitivity(SensitivityRules(patterns=("PIN",)))
    kb.upkeep.catch_up()
    kb.upkeep.backup(tmp_path / "made.hopgate")
    with pytest.raises(HopgateError, match="exists already"):
        kb.upkeep.backup(tmp_path / "made.hopgate")
    second.add_sensitivity(SensitivityRules(tags=("private",)))

    def breaks(*_: object) -> None:
        raise HopgateError("broken off")

    with monkeypatch.context() as patched:
        patched.setattr(second._writer, "_mark", breaks)
        with pytest.raises(HopgateError, match="broken off"):
            second.upkeep.restore(tmp_path / "made.hopgate")
    assert len(second) == 0 and second.sensitivity() == SensitivityRules(tags=("private",))
    second.upkeep.restore(tmp_path / "made.hopgate")
    assert second.sensitivity() == SensitivityRules(tags=("private",), patterns=("PIN",))
    assert [memory.external_id for memory in second.export() if memory.is_sensitive] == ["m1"]
    names = {name for concept in second.graph.concepts() for name in (concept.name, *concept.aliases)}
    assert "Bea" in names and not names & {"Ada Lovelace", "London"}
    assert second.pending_vectors() == 0
    row = second.store.run(lambda c: c.execute("SELECT count(*) - count(embedding) FROM memories").fetchone())
    assert row == (1,)


# Files are private from the first byte, and nobody else's folder is entered, changed or waited for.

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="acts as another user")


@contextlib.contextmanager
def umask(mask: int) -> Iterator[None]:
    old = os.umask(mask)
    try:
        yield
    finally:
        os.umask(old)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_caches_are_private_whatever_comes_first(kb, cache):
    """A recall makes the folder before the first embedding does."""
    with umask(0o022):
        kb.add(NOTE)
        kb.build()
        kb.recall("Ada Byron", graph=1.0)
        kb.embed()
        kb.recall("Ada Byron", graph=1.0)
    found = [cache, *cache.rglob("*")]
    assert {mode(path) for path in found if path.is_dir()} == {0o700}
    assert {mode(path) for path in found if path.is_file()} == {0o600}
    assert any(path.suffix == ".sqlite3" for path in found)


@pytest.mark.parametrize("form", ["jsonl", "csv", "sqlite", "backup", pytest.param("parquet", marks=pytest.mark.full)])
def test_what_holds_sensitive_memories_is_written_for_its_owner_alone(kb, run, tmp_path, form):
    kb.add(Memory("m", "Ada keeps the key.", is_sensitive=True))
    out = tmp_path / "out"
    with umask(0):
        if form == "backup":
            kb.upkeep.backup(out)
        else:
            run("export", "--format", form, "--out", str(out))
    assert mode(out) == 0o600 and list(tmp_path.iterdir()) == [out]


@needs_root
def test_folders_above_a_store_are_left_as_they_are(tmp_path):
    """As root the server runs as another user, who reaches the store all the same."""
    above = tmp_path / "closed"
    above.mkdir(mode=0o700)
    before = {folder: mode(folder) for folder in (above, *above.parents)}
    with hopgate.open(above / "store") as kb:
        kb.add(NOTE)
        assert [hit.external_id for hit in kb.recall("key", legs=("lexical",))] == ["m"]
    assert {folder: mode(folder) for folder in before} == before
    assert mode(above / "store") == 0o700


@needs_root
def test_a_socket_folder_that_another_user_made_is_not_entered(tmp_path):
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
def test_a_lock_that_another_user_holds_ends_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded_server, "LOCK_S", 0.2)
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    handle = os.open(folder / ".users", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(HopgateError, match="another process has held"):
            hopgate.open(folder)
        assert mode(folder / ".users") == 0o600
    finally:
        os.close(handle)


# Passwords and keys are neither stored nor printed, whoever repeats them.

PASSWORD = "hunter2hunter2"


def test_an_embedders_password_is_sent_and_not_stored(kb, endpoint, monkeypatch):
    spec = endpoint.spec.replace("http://", f"http://me:{PASSWORD}@")
    kb.add(NOTE)
    assert kb.embed(spec) == 1
    assert in_tables(kb.store.dsn, PASSWORD) == []
    made = embedder_from(spec)
    assert PASSWORD not in repr(made) + str(made.identity.to_dict())
    kb.add(Memory("n", "Bea feeds the cat."))
    assert kb.embed(spec) == 1  # the store knows its embedder, with a password or without
    monkeypatch.setenv("HOPGATE_EMBEDDER", spec)
    with hopgate.open(kb.store.dsn) as again:
        assert again.recall("key")


def test_a_key_that_a_server_repeats_is_not_printed(kb, run, monkeypatch):
    def repeat(asked: BaseHTTPRequestHandler, _: str) -> tuple[int, Any]:
        said = f"Incorrect key {asked.headers['Authorization']} sent to {asked.path}, use {PASSWORD[:10]}***"
        return 400, {"error": {"message": said}}

    monkeypatch.setenv("OPENAI_API_KEY", PASSWORD)
    kb.add(NOTE)
    with answering(repeat) as echo:
        said = run("embed", "--embedder", f"openai:m@{echo}#dimension=8", status=2).refused()
        assert "Incorrect key" in said and "hunter" not in said
        kb.build(OpenAI("m", echo, api_key=PASSWORD, retry=RetryPolicy(retries=0)))
    assert in_tables(kb.store.dsn, "hunter") == []


ADDRESSES = (
    "postgresql://me:hunter2@nowhere.invalid/db",
    "postgresql://me:hunter2:5432@127.0.0.1:1/db",
    "postgresql://me:hunt/er2@127.0.0.1:1/db",
    "postgresql://me:hunt er2@127.0.0.1:1/db",
    "postgresql://me:hunt%er2@127.0.0.1:1/db",
    "postgresql://me:hunter2@127.0.0.1:port/db",
    "postgresql://me@127.0.0.1:1/db?password=hunter2&x",
    "host=127.0.0.1 port=1 password=hunter2 user=me nonsense=1",
    "host=127.0.0.1 port=1 password='hunter2",
    "postgres:hunter2",
)


def test_no_address_is_printed_with_its_password(bare, run):
    for address in ADDRESSES:
        said = bare("status", "--dsn", address, status=2).refused()
        assert "hunt" not in said and "er2" not in said, said
        read = run("ingest", address, "--from-sql", "notes", status=None)
        assert "hunter2" not in read.out + read.err
