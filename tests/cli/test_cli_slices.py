"""`hopgate slices build`: multi-hop questions from a data set's triples, and from a store's graph."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_run import Runner

import hopgate
from hopgate import Memory
from hopgate.eval.data.dataset import Dataset, fact_key, read_dataset
from hopgate.extract.files import Replay

# Each pair of memories that share a thing has no word in common besides its name, and each memory has a near twin.
PAIRS = [
    ("amber", "Ada polishes amber lamps daily", "Gitea hums behind amber doors"),
    ("birch", "Bea waters birch saplings weekly", "Immich photographs live under birch roofs"),
    ("cobalt", "Cy paints cobalt vases monthly", "Vault keys rest inside cobalt boxes"),
]


def facts() -> list[dict[str, str]]:
    rows = []
    for number, (thing, _, _) in enumerate(PAIRS):
        first = {"subject": f"owner {number}", "relation": "tends", "object": thing, "subject_type": "person"}
        second = {"subject": thing, "relation": "houses", "object": f"service {number}"}
        rows += [{"doc_id": f"a{number}", **first}, {"doc_id": f"b{number}", **second}]
        rows += [{"doc_id": f"a{number}", "entity": thing, "type": "thing"}, {"doc_id": f"b{number}", "entity": thing}]
    return [*rows, {"doc_id": "secret", "subject": "x", "relation": "hides", "object": "owner 0"}]


def memories() -> list[Memory]:
    made = [Memory("secret", "A canary in a cage.", is_sensitive=True)]
    for number, (_, first, second) in enumerate(PAIRS):
        for key, text in (("a", first), ("b", second)):
            twin = " ".join(word for word in text.split() if word not in {pair[0] for pair in PAIRS})
            made += [Memory(f"{key}{number}", text), Memory(f"{key}{number}-twin", f"{twin} again")]
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "set"
    (made / "qrels").mkdir(parents=True)
    rows = [
        {"_id": memory.external_id, "text": memory.text, "metadata": {"is_sensitive": memory.is_sensitive}}
        for memory in memories()
    ]
    (made / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (made / "triples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in facts()))
    (made / "queries.jsonl").write_text('{"_id": "q", "text": "Who?"}\n')
    (made / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta0\t1\n")
    return made


def assert_sound(made: Dataset) -> None:
    """Two-hop questions with their gold, none of whose facts is among the triples that are left."""
    assert "secret" not in {memory.external_id for memory in made.memories}
    assert len(made.memories) == 4 * len(PAIRS)
    left = {fact_key(triple) for triple in made.triples}
    for query in made.queries.values():
        (gold,) = [split[query.id] for split in made.splits.values() if query.id in split]
        assert [*gold] == [memory for hop in query.metadata["path"] for memory in hop]
        assert query.metadata["made"] is True
        assert query.hops == 2
        assert left.isdisjoint(query.metadata["facts"])
    assert "canary" not in "".join(path.read_text() for path in made.folder.rglob("*.*"))


def test_from_a_data_set(bare: Runner, tmp_path: Path, folder: Path) -> None:
    out = tmp_path / "hops"
    counts = bare("slices", "build", "--dataset", str(folder), "--out", str(out), "--neighbours", "1", "--json").json
    made = read_dataset(out)
    assert_sound(made)
    assert counts["queries"] == len(made.queries) == len(PAIRS)
    # All fields of the rows that are left stay as they were.
    rows = [json.loads(line) for line in (out / "triples.jsonl").read_text().splitlines()]
    assert rows == [row for row in facts() if "entity" in row]


def test_seed_and_limit(bare: Runner, tmp_path: Path, folder: Path) -> None:
    asked = set()
    for number, seed in enumerate(["1", "1", "0", "6"]):
        out = tmp_path / f"hops{number}"
        given = ["--dataset", str(folder), "--neighbours", "1", "--limit", "1", "--seed", seed]
        bare("slices", "build", "--out", str(out), *given)
        asked.add((seed, (out / "queries.jsonl").read_text()))
    assert len({text for seed, text in asked if seed == "1"}) == 1
    assert len({text for _, text in asked}) == 3


def test_from_a_store(run: Runner, dsn: str, tmp_path: Path) -> None:
    triples = tmp_path / "triples.jsonl"
    triples.write_text("".join(json.dumps(row) + "\n" for row in facts()))
    with hopgate.open(dsn) as kb:
        kb.add(*memories())
        kb.build(Replay(str(triples)), embed_concepts=False)
    out = tmp_path / "hops"
    printed = " ".join(run("slices", "build", "--out", str(out), "--neighbours", "1").out.split())
    made = read_dataset(out)
    assert_sound(made)
    assert len(made.queries) == len(PAIRS)
    assert printed.startswith(f"{out} memories {len(made.memories)} ") and "left out" not in printed
    mentioned = {(triple.doc_id, triple.subject) for triple in made.triples if not triple.is_fact}
    assert {("a0", "amber"), ("b0", "amber"), ("a0", "owner 0")} <= mentioned


def test_what_makes_no_question_is_refused(run: Runner, bare: Runner, tmp_path: Path, folder: Path) -> None:
    out = ["--out", str(tmp_path / "hops")]
    given = ["slices", "build", "--dataset", str(folder), *out]
    near = bare(*given, "--neighbours", "10", status=2).refused()
    assert "left out: 3 paths whose memories are among each other's 10 nearest" in near
    assert "left out: no path at all" in bare(*given, "--hops", "3", "--neighbours", "1", status=2).refused()
    assert "at least 2 hops" in bare(*given, "--hops", "1", status=2).refused()
    assert "leave --data and --dsn out" in run(*given, status=2).refused()
    assert "the store has no graph" in run("slices", "build", *out, status=2).refused()
    (folder / "triples.jsonl").unlink()
    assert "has no triples.jsonl" in bare(*given, status=2).refused()
    assert not (tmp_path / "hops").exists()
