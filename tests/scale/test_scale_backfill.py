"""Backfills: each memory once, a batch whole or not at all, rows that are none named, secrets unread, whatever dies."""

import contextlib
import itertools
import json
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psutil
import pytest
from cli_run import Runner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reliability.oracle import broken, digest
from shard_files import LONG, POISON, SECRET, TAGGED, notes, write_shards
from word_endpoint import WordEndpoint, embed

import hopgate
from hopgate.corpus import INSIDE, TOP
from hopgate.errors import HopgateError
from hopgate.guard import SensitivityRules
from hopgate.kb import KnowledgeBase
from hopgate.scale.backfill import Backfilled, rows
from hopgate.scale.engine import Engine
from hopgate.sources.source import ReadOptions
from hopgate.store.server import pid_of


def _digest(kb: KnowledgeBase) -> dict[str, str]:
    with kb.store.transaction() as connection:
        assert broken(connection) == {}
        return digest(connection)


def test_a_backfill_makes_the_store_of_ingest_and_build_and_takes_up_only_what_is_new(kb, other, endpoint, tmp_path):
    given = [*notes(60), LONG, SECRET]
    shards = write_shards(tmp_path / "shards", given)
    done = kb.backfill(shards, embedder=endpoint.spec, batch=16)
    assert (done.read, done.added, done.sensitive, done.rejected) == (62, 62, 1, [])
    assert (done.embedded, done.linked) == (61, 61)
    assert {"writing", "embedding", "building"} == done.stages.keys()
    assert "62 memories are new" in str(done)
    before = _digest(kb)
    with hopgate.open(other) as plain:
        plain.load(iter(given))
        plain.embed(endpoint.spec)
        plain.build()
        assert before == _digest(plain)
    versions = "SELECT id, xmin::text FROM memories"
    rows = kb.store.run(lambda c: c.execute(versions).fetchall())
    endpoint.bodies.clear()
    again = kb.backfill(shards, batch=5)
    assert (again.added, again.changed, again.unchanged, again.embedded) == (0, 0, 62, 0)
    assert endpoint.bodies == [] and _digest(kb) == before
    assert kb.store.run(lambda c: c.execute(versions).fetchall()) == rows
    # Of an id the last row counts, in one batch as in several.
    moved = [replace(given[3], text=f"Immich runs on {host} now.") for host in ("rowan", "birch", "alder")]
    done = kb.backfill(write_shards(tmp_path / "more", [*moved[:2], *given[4:], moved[2]], 1), batch=8)
    assert (done.read, done.added, done.changed, done.unchanged, done.embedded) == (61, 0, 2, 58, 1)
    kept = kb.get(given[3].external_id)
    assert kept is not None and kept.text == "Immich runs on alder now."
    assert kb.pending_vectors() == 0


def test_rows_that_are_no_memories_are_rejected_and_come_in_when_mended(kb, endpoint, tmp_path, capsys):
    given = notes(40)
    shards = write_shards(tmp_path / "shards", given, 2, tuple(POISON))
    endpoint.vector = lambda text: [] if text == given[7].content else embed(text)
    with kb.store.transaction() as connection:
        # A rule of the table's owner.
        connection.execute(f"ALTER TABLE memories ADD CHECK (external_id <> '{given[11].external_id}')")
    done = kb.backfill(shards, embedder=endpoint.spec, batch=10)
    assert (len(done.rejected), len(kb)) == (6, 39)
    assert [row.place for row in done.rejected if row.stage == "read"] == ["line 3", "line 6", "line 9", "line 12"]
    refused = {("embed", f"memory {given[7].external_id!r}"), ("write", "line 16")}
    assert {(row.stage, row.place) for row in done.rejected} >= refused
    assert {row.source for row in done.rejected} == {str(shards / "part-0.jsonl"), "the store"}
    assert "the field 'text' is missing" in {row.reason for row in done.rejected}
    # Not a word of the rows themselves.
    assert given[7].text[:20] not in str(done.rejected) and given[11].text[:20] not in str(done.rejected)
    ran = Runner(capsys, "--dsn", kb.store.dsn)("backfill", str(shards), "--embedder", endpoint.spec, "--batch", "4")
    assert "39 were there already" in ran.out and "line 3: " in ran.out and "(in the stage write)" in ran.out
    endpoint.vector = embed
    with kb.store.transaction() as connection:
        connection.execute("ALTER TABLE memories DROP CONSTRAINT memories_external_id_check")
    mended = kb.backfill(write_shards(shards, given, 2), batch=10)
    assert (mended.rejected, mended.unchanged, mended.embedded, len(kb)) == ([], 39, 2, 40)


CANARY = "zyx4711zyx"
# The canary as a value: alone, in a sentence, with quotation marks and the like around it.
AROUND = st.sampled_from(["", "'", '"', "it's ", ", not ", "\\", "\n", ": ", " (", "'\"", "\\'", "…", "n't '"])
TEXTS = st.builds(lambda before, after: f"{before}{CANARY}{after}", AROUND, AROUND)
VALUES = st.recursive(
    TEXTS | st.sampled_from([None, True, 4711.4711, 471147114711, -4711]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=3,
)
NAMES = st.sampled_from([*TOP, "isSensitive", "sensitive"]) | TEXTS
ROWS = st.builds(
    lambda row, inside: row | ({"metadata": inside} if inside is not None else {}),
    st.dictionaries(NAMES, VALUES, max_size=4),
    st.none() | st.dictionaries(st.sampled_from(INSIDE) | TEXTS, VALUES, max_size=2),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, st.booleans(), st.booleans())
def test_no_reason_repeats_a_value_or_a_name(tmp_path, row, cut, mapped):
    whole = {"_id": "m", "text": "x", "category": None, "thread": None}
    line = json.dumps(whole | row if mapped else row)
    # The first row has the columns that are mapped: without them nothing is read.
    options = ReadOptions(fields={"title": "category", "created_at": "thread"} if mapped else {})
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(whole)}\n{line[: len(line) // 2] if cut else line}\n", encoding="utf-8")
    done = Backfilled()
    list(rows([str(path)], {"options": options}, done))
    reasons = " ".join(row.reason for row in done.rejected)
    assert "zyx" not in reasons and "4711" not in reasons, reasons


def test_an_embedder_that_refuses_everything_is_not_the_rows_fault(kb, endpoint, tmp_path):
    endpoint.vector = lambda _: []
    shards = write_shards(tmp_path / "shards", notes(60), 1)
    with pytest.raises(HopgateError, match="a vector that is not a list of numbers"):
        kb.backfill(shards, embedder=endpoint.spec, batch=60)
    assert kb.pending_vectors() == len(kb) == 60


def test_sensitive_memories_by_flag_rule_or_mark_reach_no_model(kb, endpoint, tmp_path):
    given = notes(10)
    kb.add_sensitivity(SensitivityRules(tags=("private",)))
    kb.add(given[4])
    kb.mark_sensitive([given[4].external_id])
    kb.backfill(write_shards(tmp_path / "s", [*given, SECRET, TAGGED], 1), embedder=endpoint.spec, batch=5)
    sent = " ".join(endpoint.texts)
    assert "quibble" not in sent and "wobblefish" not in sent and given[4].text not in sent
    assert kb.upkeep.status()["sensitive"] == 3
    _digest(kb)


def test_two_runs_at_once_double_nothing(kb, other, endpoint, tmp_path):
    shards = write_shards(tmp_path / "shards", notes(48), 2)

    def run(batch: int, dsn: str = kb.store.dsn) -> int:
        with hopgate.open(dsn) as mine:
            return mine.backfill(shards, embedder=endpoint.spec, batch=batch).added

    assert run(8, other) == 48
    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(run, (8, 7))) == 48
    with hopgate.open(other) as plain:
        assert _digest(kb) == _digest(plain)


def test_what_cannot_be_read_is_refused_before_anything_is_done(kb, tmp_path):
    for source in (tmp_path / "none.jsonl", f"{tmp_path}/*.jsonl", tmp_path):
        with pytest.raises(HopgateError, match="names no shard: give a file"):
            kb.backfill(source)
    with pytest.raises(HopgateError, match="at least one"):
        kb.backfill(tmp_path, batch=0)


def _processes() -> list[psutil.Process]:
    """The workers, all of them below this process."""
    workers = []
    for process in psutil.Process().children(recursive=True):
        # Some end while they are looked at.
        with contextlib.suppress(psutil.Error):
            if "import serve" in " ".join(process.cmdline()):
                workers.append(process)
    return workers


def _at_request(endpoint: WordEndpoint, number: int, act: Callable[[], object]) -> None:
    """Do something once, in the middle of a worker's request."""
    lock, requests = threading.Lock(), itertools.count()

    def vector(text: str) -> list[float]:
        with lock:
            if next(requests) == number:
                act()
        return embed(text)

    endpoint.vector = vector


def test_workers_make_the_store_of_one_process_though_one_is_killed(kb, other, endpoint, tmp_path):
    shards = write_shards(tmp_path / "shards", [*notes(90), LONG, SECRET], 3, tuple(POISON))
    with hopgate.open(other) as plain:
        local = plain.backfill(shards, embedder=endpoint.spec, batch=8)
        killed: list[int] = []

        def kill() -> None:
            victim = _processes()[0]
            killed.append(victim.pid)
            victim.kill()

        _at_request(endpoint, 30, kill)
        endpoint.bodies.clear()
        done = kb.backfill(shards, embedder=endpoint.spec, batch=8, engine=Engine("processes", workers=2))
        assert killed
        assert (done.workers, done.added, done.rejected) == (2, local.added, local.rejected)
        assert "quibble" not in " ".join(endpoint.bodies)
        assert _digest(kb) == _digest(plain)
        # A second run finds everything there.
        assert kb.backfill(shards, engine=Engine("processes", workers=1), batch=64).unchanged == 92


def test_a_database_that_is_killed_in_the_middle_is_waited_for(other, endpoint, tmp_path):
    shards = write_shards(tmp_path / "shards", notes(30), 1)
    with hopgate.open(other) as plain, hopgate.open(tmp_path / "store") as kb:
        for each in (plain, kb):
            each.store_settings.set({"late": "bundled"})
        plain.backfill(shards, embedder=endpoint.spec, batch=8)
        postmaster = pid_of(tmp_path / "store" / "pg")
        _at_request(endpoint, 12, lambda: os.kill(postmaster, signal.SIGKILL))
        assert kb.backfill(shards, embedder=endpoint.spec, batch=8).added == 30
        assert pid_of(tmp_path / "store" / "pg") not in (0, postmaster)
        assert _digest(kb) == _digest(plain)
