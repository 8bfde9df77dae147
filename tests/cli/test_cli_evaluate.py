"""`hopgate dataset import`: what the guide does not run, whose pages are tests too."""

import json

from hopgate.eval.data.dataset import read_dataset


def test_import_of_public_files(bare, tmp_path):
    memories, topics, judged, out = (tmp_path / name for name in ("corpus.jsonl", "topics.tsv", "qrels.txt", "out"))
    rows = [{"_id": f"m{i}", "text": f"Text {i}.", "metadata": {"is_sensitive": i == 3}} for i in range(1, 4)]
    memories.write_text("".join(json.dumps(row) + "\n" for row in rows))
    topics.write_text("".join(f"q{i}\tWhat of {i}?\n" for i in range(4)))
    judged.write_text("q0 0 m1 2\nq0 0 m2 0\nq1 0 m3 1\nq2 0 m1 0\n")
    given = ["trec", str(judged), str(out), "--corpus", str(memories), "--queries", str(topics)]
    assert bare("dataset", "import", *given, "--json").json["folder"] == str(out)
    counts = bare("dataset", "check", str(out), "--json").json
    assert (counts["memories"], counts["sensitive"], counts["queries"], counts["problems"]) == (3, 1, 2, [])
    gold = {query: dict(graded) for split in read_dataset(out).splits.values() for query, graded in split.items()}
    assert gold == {"q0": {"m1": 2, "m2": 0}, "q1": {"m3": 1}}  # q2 has nothing relevant, q3 no judgement
    new = str(tmp_path / "x")
    for arguments, reason in (
        (given, "is not empty"),
        (["squad", str(judged), new], "no importer for 'squad'"),
        (["locomo", str(judged), new], "line 1: not JSON"),
        (["musique", str(tmp_path / "none.json"), new], "cannot be read"),
        (["trec", str(judged), new], "give the corpus and the queries"),
    ):
        assert reason in bare("dataset", "import", *arguments, status=2).refused()
    assert not (tmp_path / "x").exists()
