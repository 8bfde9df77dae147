"""The synthetic corpus is a whole: facts, queries, qrels, triples and secrets agree; and what the demo says is true."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from patience import PATIENCE

import hopgate
from hopgate.cli.demo import STORIES, VERDICTS
from hopgate.cli.output import one_line
from hopgate.demo import DATA, corpus, write
from hopgate.errors import HopgateError
from hopgate.eval.record import judged

WORLD = corpus()
STRATA = {"exact": 1, "paraphrase": 1, "temporal": 1, "two-hop": 2, "three-hop": 3, "chat": 1}
# Queries of a stratum in each split, at least: the threads are few.
LEAST = dict.fromkeys(STRATA, 20) | {"chat": 12}


def test_every_stratum_is_in_both_splits_and_qrels_are_the_evidence():
    stratum = {query.id: query.metadata["stratum"] for query in WORLD.queries}
    sensitive = {memory.external_id for memory in WORLD.memories if memory.is_sensitive}
    assert len(stratum) == len(WORLD.queries) and not WORLD.qrels["dev"].keys() & WORLD.qrels["test"].keys()
    qrels = WORLD.qrels["dev"] | WORLD.qrels["test"]
    assert qrels.keys() == stratum.keys()
    for split in WORLD.qrels.values():
        counts = Counter(stratum[key] for key in split)
        assert set(counts) == set(STRATA) and all(counts[name] >= least for name, least in LEAST.items())
    for query in WORLD.queries:
        assert query.metadata["hops"] == len(query.evidence) == STRATA[query.metadata["stratum"]]
        assert qrels[query.id] == {key: 1 for hop in query.evidence for key in hop}
        assert not sensitive & qrels[query.id].keys()


def test_canaries_are_in_their_memory_and_nowhere_else():
    sensitive = {memory.external_id for memory in WORLD.memories if memory.is_sensitive}
    assert WORLD.canaries.keys() == sensitive and len(sensitive) >= 10
    everything = {memory.external_id: repr(memory) for memory in WORLD.memories}
    elsewhere = repr([*WORLD.queries, *WORLD.triples])
    for key, (word,) in WORLD.canaries.items():
        assert [other for other, text in everything.items() if word in text] == [key] and word not in elsewhere


def test_it_is_drawn_again_in_any_process_and_written_as_it_was_read(tmp_path):
    """What stands in `data` is what the script draws, whatever the locale, and what `write` gives back."""

    def contents(folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    script = Path(__file__).parents[2] / "tools" / "demo_corpus" / "make.py"
    environment = os.environ | {"PYTHONHASHSEED": "1", "LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, script, tmp_path], env=environment, check=True)
    assert contents(tmp_path) == contents(DATA)
    made = contents(write(tmp_path / "again", leave_out=("triples.jsonl",)))
    assert made == {name: text for name, text in contents(DATA).items() if name not in ("triples.jsonl", "world.json")}
    with pytest.raises(HopgateError, match="cannot write the corpus into"):
        write(DATA / "corpus.jsonl")


def test_each_line_of_the_demo_is_true(tmp_path: Path) -> None:
    """The command as anybody runs it, and then its store and its gate's record, asked for what was printed."""
    command = [sys.executable, "-m", "hopgate", "demo", "--keep", "--folder", str(tmp_path)]
    environment = {**os.environ, "HOPGATE_STORE": "", "COLUMNS": "120"}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE)
    opening, *told, verdict = re.split(r"\n\d\. ", ran.stdout)
    with hopgate.open(tmp_path / "store", linger=0) as kb:
        threads = sum(memory.thread is not None for memory in kb.export())
        counts = kb.graph.counts()
        assert f"{len(kb)} made-up memories" in opening and f"{threads} of them turns of chats, 12 sensitive" in opening
        assert f"a graph of {counts['concepts']} concepts and {counts['edges']} edges" in opening
        for story, section in zip(STORIES, told, strict=True):
            sides = kb.recall(story.query, k=3, parts=()), kb.recall(story.query, k=3, explain=True)
            found = [{hit.external_id for hit in hits} & set(story.answers) for hits in sides]
            assert story.title in section and story.query in section
            rows = [line for line in section.splitlines() if re.match(r" *[123]  ", line)]
            for row, pair in zip(rows, zip(*sides, strict=True), strict=True):
                assert all(one_line(hit.memory)[:30] in row for hit in pair)
                assert row.count("●") == sum(hit.external_id in story.answers for hit in pair)
                assert row.count(" over: ") == pair[1].outdated
            # Found with the graph, and but for what is over not without.
            assert found[1] == set(story.answers) and (not found[0] or " over: " in section)
            total = len(story.answers)
            assert f"{len(found[0])} of {total} without the graph, {total} of {total} with it" in section
        two_notes, now, chat = told
        assert "Immich → runs on [m0178] → rowan → mentioned in → m0351" in two_notes
        assert "Lukas Meier lives in Utrecht, over since 2025-01-07 by m0301" in now
        assert kb.recall(STORIES[1].query, k=1)[0].external_id == "m0301"
        assert "t0003 → said just before → t0004" in chat
    judgement = judged(tmp_path / "report")
    for claim in judgement.claims:
        [row] = [line for line in verdict.splitlines() if line.strip().startswith(claim.title)]
        assert VERDICTS[claim.verdict.name] in row and f"{100 * claim.difference:+.0f} " in row
    if judgement.verdict.name == "INCONCLUSIVE":
        assert f"{judgement.main.queries} questions are too few" in verdict
    page = tmp_path / "report" / "page.html"
    assert page.is_file() and page.as_uri() in verdict and f"--data {tmp_path / 'store'}" in verdict
