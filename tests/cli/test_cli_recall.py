"""`hopgate recall`: hostile queries, an empty store, tables and JSON, and one line for what cannot be."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from cli_run import Runner
from word_endpoint import WordEndpoint

import hopgate
from hopgate import Memory


@pytest.fixture
def filled(dsn: str, endpoint: WordEndpoint) -> None:
    with hopgate.open(dsn) as kb:
        kb.add(
            Memory("key", "The spare key hangs in the cellar", scope="home", importance=0.9),
            Memory("cat", "The cat sleeps in the cellar\nall day", scope="home"),
            Memory("emoji", "Party 🎉 in the garden"),
            Memory("right", "המפתח נמצא במרתף"),
            Memory("brackets", "see [bold]docs[/bold] of the cellar"),
        )
        kb.embed(endpoint.spec)


HOSTILE = ["'", '"', '"open', "%", "%s %(query)s", ":*", "a:*b", "'; drop table memories; --", "\\", "😀🎉",
           "המפתח במרתף", "\u202eabc", "the", "&|!()<->", "-- --", "x" * 19_000]  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_queries_are_answered(run: Runner, filled: None, dsn: str, query: str) -> None:
    arguments = ["--json", "--graph", "0", "--", query]
    found = Runner(run._capsys)("recall", "--dsn", dsn, *arguments).json
    assert isinstance(found, list)
    assert {hit["_id"] for hit in found} <= {"key", "cat", "emoji", "right", "brackets"}
    with hopgate.open(dsn) as kb:
        assert len(kb) == 5


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_an_empty_query_is_refused(run: Runner, query: str) -> None:
    assert "the query is empty" in run("recall", query, status=2).refused()


def test_a_hundred_kilobytes_are_refused(run: Runner) -> None:
    assert "shorten it" in run("recall", "word " * 20_000, status=2).refused()


def test_an_empty_store_says_so(run: Runner) -> None:
    assert "the store is empty: run hopgate ingest" in run("recall", "anything").out
    assert run("recall", "anything", "--json").json == []


def test_nothing_found_says_so(run: Runner, filled: None) -> None:
    assert run("recall", "xylophone", "--dense", "0", "--graph", "0").out == "nothing found\n"


def test_json_has_every_hit_with_its_fields(run: Runner, filled: None) -> None:
    found = run("recall", "spare key", "--json", "--explain", "--k", "2", "--graph", "0").json
    assert [hit["rank"] for hit in found] == [1, 2]
    assert found[0]["_id"] == "key"
    assert set(found[0]) == {
        "rank", "_id", "score", "content", "importance", "scope", "created_at", "legs", "bonus", "prior",
        "unseen", "scale", "lifted", "in_graph",
    }  # fmt: skip
    assert set(found[0]["legs"]) == {"lexical", "dense"}


def test_the_table_is_readable_and_takes_no_markup_from_memories(run: Runner, filled: None) -> None:
    table = run("recall", "cellar", "--explain", "--graph", "0").out
    assert "[bold]docs[/bold]" in table
    assert "The cat sleeps in the cellar all day" in table
    assert "lexical #1" in table and "prior ×" in table


def test_titles_are_told_from_texts_and_what_holds_for_the_query_is_said_once(run: Runner, dsn: str) -> None:
    with hopgate.open(dsn) as kb:
        kb.add(
            Memory("m1", "mealie runs on onyx.", title="Kitchen", created_at=datetime(2024, 1, 1, tzinfo=UTC)),
            Memory("m2", "Moved mealie from onyx to topaz.", created_at=datetime(2024, 5, 1, tzinfo=UTC)),
        )
        kb.build()
    table = run("recall", "where did mealie run in March 2024", "--explain", "--dense", "0").out
    assert "Kitchen: mealie runs on onyx." in table
    assert table.count("walks from memories") == table.count("as of 2024-03-16, because") == 1


def test_options_reach_the_recall(run: Runner, filled: None) -> None:
    def ids(*options: str) -> list[str]:
        return [hit["_id"] for hit in run("recall", "cellar", "--json", "--dense", "0", "--graph", "0", *options).json]

    assert len(ids()) == 3
    assert ids("--scope", "home", "--exclude", "cat") == ["key"]
    assert ids("--k", "1", "--prior", "0") == ["key"]
    assert set(ids("--depth", "1")) < {"key", "cat", "brackets"}
    assert set(ids("--scope", "home", "--scope", "nowhere")) == {"key", "cat"}
    assert ids("--min-score", "99") == []
    assert ids("--sort-by", "importance") == ids("--prior", "1")
    assert ids("--known-at", "2001-01-01") == []
    assert ids("--lexical", "0") == []


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--k", "0"], "--k must be a whole number"),
        (["--lexical", "9"], "--lexical must be a number between 0 and 5"),
        (["--dense", "nan"], "--dense must be a number"),
        (["--sort-by", "colour"], "--sort-by is one of"),
        (["--fuser", "RRF(j=1)"], "RRF has no setting 'j'"),
        (["--depth", "5000"], "depth must be"),
        (["--prior", "2"], "prior"),
        (["--data", "somewhere"], "give one of them"),
    ],
)
def test_wrong_settings_are_one_line(run: Runner, options: list[str], reason: str) -> None:
    assert reason in run("recall", "x", *options, status=2).refused()


@pytest.mark.parametrize(
    "place", ["postgresql://nobody@127.0.0.1:1/none", "postgresql://%", "postgresql://localhost:port/x"]
)
def test_a_wrong_address_is_one_line(bare: Runner, place: str) -> None:
    assert "PostgreSQL" in bare("recall", "x", "--dsn", place, status=2).refused()


def test_settings_come_from_the_environment_too(run: Runner, filled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPGATE_K", "1")
    assert len(run("recall", "cellar", "--json").json) == 1
    monkeypatch.setenv("HOPGATE_K", "many")
    assert "HOPGATE_K must be a number" in run("recall", "cellar", status=2).refused()


def test_a_barred_leg_is_a_line_on_standard_error(run: Runner, filled: None) -> None:
    ran = run("recall", "cellar", "--fuser", "RRF(graph=0.1)", "--prior", "1", "--k", "2", "--json")
    assert "hopgate: warning: the graph leg is barred" in ran.err
    assert ran.json


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hopgate", *arguments], capture_output=True, text=True, check=False, **options
    )


def test_as_a_process(dsn: str, filled: None) -> None:
    done = process("recall", "spare key", "--json", "--graph", "0", "--dsn", dsn)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)[0]["_id"] == "key"


def test_a_reader_that_goes_away_is_no_error(dsn: str, filled: None) -> None:
    command = f'{sys.executable} -m hopgate export --dsn "{dsn}" | head -n 1'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["_id"] == "key"
    assert done.stderr == ""


def test_another_cross_encoder_is_named_by_an_option(run: Runner, filled: None) -> None:
    options = ("--rerank", "--rerank-model", "/no/such/model")
    assert "there is no model in /no/such/model" in run("recall", "spare key", *options, status=2).refused()
