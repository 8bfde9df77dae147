"""BEIR folders: read whole, or refused with file, line and reason; divided so that what is related stays together."""

import json
from pathlib import Path

import pytest

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Query, check_dataset, divide, read_dataset, split_dataset
from hopgate.extract.files import Triple

HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"_id": "m1", "text": "The NAS hums.", "metadata": {"scope": "home"}},
        {"_id": "m2", "title": "Immich", "text": "It runs on the NAS.", "metadata": {"scope": "home"}},
        {"_id": "m3", "text": "Elsewhere.", "metadata": {"scope": "work"}},
    ]
    queries = [
        {"_id": "q1", "text": "What hums?", "metadata": {"hops": 1, "type": "single-hop"}},
        {"_id": "q2", "text": "What runs where?", "metadata": {"hops": 2, "scope": "home"}},
    ]
    triples = [{"doc_id": "m2", "subject": "Immich", "relation": "runs on", "object": "NAS"}]
    triples.append({"doc_id": "m1", "entity": "NAS"})
    for name, lines in (("corpus", rows), ("queries", queries), ("triples", triples)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/dev.tsv").write_text(f"{HEADER}q1\tm1\t1\n")
    (tmp_path / "qrels/test.tsv").write_text(f"{HEADER}q2\tm1\t1\nq2\tm2\t2\nq2\tm3\t0\n")
    return tmp_path


def test_a_folder_is_read_whole(folder):
    data = read_dataset(folder)
    assert [memory.external_id for memory in data.memories] == ["m1", "m2", "m3"]
    assert data.split("test") == {"q2": {"m1": 1, "m2": 2, "m3": 0}}
    assert (data.queries["q2"].hops, data.queries["q2"].scope) == (2, "home")
    assert data.triples == (Triple("m2", "Immich", "runs on", "NAS"), Triple("m1", "NAS"))
    with pytest.raises(HopgateError, match=r"train.tsv is missing: the splits there are dev, test"):
        data.split("train")
    (folder / "triples.jsonl").unlink()
    assert read_dataset(folder).triples == ()


@pytest.mark.parametrize(
    ("file", "line", "reason"),
    [
        ("queries.jsonl", {"_id": "q1", "text": "again"}, "queries.jsonl, line 3: _id 'q1' stands twice"),
        ("queries.jsonl", {"_id": "q9", "text": "unjudged"}, "line 3: the query 'q9' has no gold in any"),
        ("queries.jsonl", {"_id": "q9"}, "line 3: the field 'text' is missing"),
        ("queries.jsonl", {"_id": "q9", "text": "x", "metadata": {"hops": 0}}, "line 3: hops must be"),
        ("queries.jsonl", {"_id": "q9", "text": "x", "metadata": {"cluster": 7}}, "line 3: cluster must be a text"),
        ("queries.jsonl", {"_id": "q9", "text": "x", "metadata": {"as_of": "May"}}, "line 3: as_of must be an ISO"),
        ("queries.jsonl", "{", "queries.jsonl, line 3: not JSON"),
        ("corpus.jsonl", {"_id": "m1", "text": "again"}, "corpus.jsonl, line 4: _id 'm1' stands already on line 1"),
        ("corpus.jsonl", None, "corpus.jsonl is missing"),
        ("triples.jsonl", {"doc_id": "z", "entity": "x"}, "triples.jsonl, line 3: doc_id 'z' is not in the corpus"),
        ("triples.jsonl", {"doc_id": "m1", "subject": "x"}, "triples.jsonl, line 3: neither a fact"),
        ("triples.jsonl", "", "triples.jsonl is empty"),
        ("qrels/test.tsv", "q1\tm1\t1", "test.tsv, line 5: the query 'q1' is in the split 'dev' too"),
        ("qrels/test.tsv", "q7\tm1\t1", "test.tsv, line 5: the query 'q7' is not in queries.jsonl"),
        ("qrels/test.tsv", "q2\tm7\t1", "test.tsv, line 5: the memory 'm7' is not in corpus.jsonl"),
        ("qrels/test.tsv", "q2\tm1\t1", "test.tsv, line 5: 'q2' and 'm1' are judged already on line 2"),
        ("qrels/test.tsv", "q2 m1 1", "test.tsv, line 5: three columns"),
        ("qrels/test.tsv", "q2\tm1\tnan", "test.tsv, line 5: the grade must be a whole number"),
        ("qrels/train.tsv", f"{HEADER}q2\tm3\t1", "'m3' is in the scope 'work', the query may only see 'home'"),
        ("qrels/train.tsv", HEADER, "train.tsv holds no judgements"),
        ("qrels/train.tsv", "q1\tm1\t1", "line 1: the header line is missing"),
        ("qrels/train.tsv", f"{HEADER}q1\tm1\t0", "line 2: the query 'q1' has no gold: every grade is 0"),
        ("qrels", None, "holds no judgements"),
    ],
)
def test_what_is_wrong_is_refused_by_file_line_and_reason(folder, file, line, reason):
    """A line more than there were, a file without a line, or no file."""
    if line is None:
        (folder / file).rename(folder / "away")
    elif line == "":
        (folder / file).write_text("")
    else:
        with (folder / file).open("a") as lines:
            lines.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
    dataset, problems = check_dataset(folder)
    assert dataset is None and any(reason in problem for problem in problems), problems


def judged(**gold: str) -> tuple[dict[str, Query], dict[str, dict[str, int]]]:
    """Queries by what they are: a scope, a text and gold memories, such as "s1 text m1 m2"."""
    queries, qrels = {}, {}
    for name, row in gold.items():
        scope, text, *memories = row.split()
        queries[name] = Query(name, text, {} if scope == "-" else {"scope": scope})
        qrels[name] = dict.fromkeys(memories, 1)
    return queries, qrels


@pytest.mark.parametrize(
    ("gold", "apart"),
    [
        ({"a": "s1 x m1", "b": "s1 y m2", "c": "s2 z m3"}, 2),  # by scope
        ({"a": "- Where? m1", "b": "- where m2", "c": "- z m3"}, 2),  # by text
        ({"a": "- x m1", "b": "- y m1 m2", "c": "- z m2", "d": "- w m3"}, 2),  # by gold, one after the other
        ({f"q{i}": f"- {i} m{i}" for i in range(20)}, 20),
    ],
)
def test_what_hangs_together_stays_in_one_split(gold, apart):
    """Attack 8: questions that share a gold turn, a text or a scope were on both sides."""
    queries, qrels = judged(**gold)
    seen = set()
    for share in range(0, 101, 5):
        splits = divide(queries, qrels, share / 100)
        assert {query for split in splits.values() for query in split} == set(gold)
        seen.add(frozenset(splits.get("dev", ())))
    # Every share takes a whole group more than the one below.
    assert len(seen) == apart + 1 and seen >= {frozenset(), frozenset(gold)}


def test_the_share_is_kept_and_a_given_split_too():
    queries, qrels = judged(**{f"q{i}": f"- {i} m{i}" for i in range(100)})
    splits = divide(queries, qrels, 0.3, given={"q7": "dev", "q8": "train"})
    assert len(splits["dev"]) == 1 + 29 and set(splits["train"]) == {"q8"} and "q7" in splits["dev"]
    with pytest.raises(HopgateError, match="between 0 and 1"):
        divide(queries, qrels, 2)


def test_a_set_is_split_anew_by_scope(folder):
    before, out = read_dataset(folder), folder / "new"
    with pytest.raises(HopgateError, match="one of the two splits would be empty"):
        split_dataset(folder, out)  # both questions have the memory m1 in common
    (folder / "qrels/dev.tsv").write_text(f"{HEADER}q1\tm3\t1\n")
    again = split_dataset(folder, out)
    assert (again.memories, again.triples) == (before.memories, before.triples)
    assert sorted(map(len, again.splits.values())) == [1, 1]
    assert split_dataset(folder, folder / "other").splits == again.splits
    with pytest.raises(HopgateError, match="is not empty"):
        split_dataset(folder, out)
