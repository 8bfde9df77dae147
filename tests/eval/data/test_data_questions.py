"""One's own questions: a file to fill in, candidates from every leg, queries and judgements out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import read_dataset
from hopgate.eval.data.questions import (
    OwnQuestion,
    keep_pool,
    questions_text,
    read_questions,
    with_candidates,
    write_judged,
)
from hopgate.eval.data.runs import read_qrels
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.recall.fusers import LEGS


def test_a_file_is_filled_in_ticked_and_becomes_queries(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.add(
        Memory("m1", "Gitea runs on birch."),
        Memory("m2", "birch stands in the cellar."),
        Memory("m3", "The Gitea password is in the safe.", is_sensitive=True),
    )
    kb.embed()
    path = tmp_path / "questions.md"
    path.write_text(questions_text([], {}))
    assert read_questions(path) == []
    path.write_text(path.read_text().replace("## \n", "## Where is Gitea?\n", 1))
    asked, pool, texts = with_candidates(kb, read_questions(path))
    keep_pool(path, pool)
    path.write_text(questions_text(asked, texts))
    assert "password" not in path.read_text() and "lexical" not in path.read_text()
    assert "- [ ] m1 · Gitea runs on birch." in path.read_text()
    path.write_text(path.read_text().replace("- [ ] m1", "- [x] m1") + "\n")
    asked = read_questions(path)
    assert asked[0].gold == {"m1": 1}
    # What is there already is not asked again: ticks stay, and so does who found what.
    assert with_candidates(kb, asked) == (asked, {}, texts)
    keep_pool(path, {"Another?": {}})
    pool = json.loads((tmp_path / "questions.pool.json").read_text())
    assert pool["Where is Gitea?"]["m1"].items() >= {"lexical": 1, "recall": 1}.items()
    assert "m3" not in pool["Where is Gitea?"]
    assert write_judged(tmp_path / "mine", asked, set(kb.id_map().values()), dev=0.0) == (1, 0)
    read = read_dataset(tmp_path / "mine", kb.export())
    (query,) = read.queries.values()
    assert query.text == "Where is Gitea?" and query.hops == 1
    # What was looked at and not ticked is judged, too.
    assert read.split("test")[query.id] == {"m1": 1, "m2": 0}


def test_every_leg_is_asked_whatever_the_store_uses(kb: KnowledgeBase) -> None:
    kb.add(Memory("m1", "Gitea runs on birch."), Memory("m2", "birch stands in the cellar."))
    kb.embed()
    kb.build()
    kb.store_settings.set({"graph": 0, "dense": 0})
    _, pool, _ = with_candidates(kb, [OwnQuestion("Where is Gitea?", {})])
    assert {leg for found in pool["Where is Gitea?"].values() for leg in found} == {*LEGS, "recall"} - {"late"}


def test_a_question_keeps_the_split_it_had(tmp_path: Path) -> None:
    def write(questions: list[OwnQuestion]) -> dict[str, set[str]]:
        write_judged(tmp_path, questions, {f"m{i}" for i in range(40)})
        paths = (tmp_path / "qrels").glob("*.tsv")
        return {path.stem: set(read_qrels(path)) for path in paths}

    asked = [OwnQuestion(f"{i}?", {f"m{i}": True}) for i in range(40)]
    first, second = write(asked[:20]), write(asked)
    assert all(first[split] < second[split] and len(second[split]) == 20 for split in ("dev", "test"))


def test_ids_may_hold_spaces_as_the_paths_of_notes_do(tmp_path: Path) -> None:
    boxes = {"Haus/Keller neu.md": True, "m1": False, "2024-11-05 Zahnarzt.md": True}
    path = tmp_path / "questions.md"
    path.write_text(questions_text([OwnQuestion("Who?", boxes)], {"m1": "Bea · and Ann", "Haus/Keller neu.md": "· a"}))
    path.write_text(path.read_text() + "\n## And where?\n- [x] People/Frau Novak.md\n- [x] m2 ·\n")
    first, second = read_questions(path)
    assert dict(first.candidates) == boxes
    assert list(second.gold) == ["People/Frau Novak.md", "m2"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("- [x] m1 · before any question\n", "line 1: a candidate"), ("## a?\n## a?\n", "line 2: the question 'a")],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "questions.md"
    path.write_text(text)
    with pytest.raises(HopgateError, match=reason):
        read_questions(path)


def test_nothing_ticked_and_unknown_memories_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "questions.md"
    path.write_text("## a?\n- [ ] m1 · text\n")
    with pytest.raises(HopgateError, match="no box is ticked"):
        write_judged(tmp_path / "out", read_questions(path), {"m1"})
    path.write_text("## a?\n- [x] m9 · text\n")
    with pytest.raises(HopgateError, match="no memory 'm9'"):
        write_judged(tmp_path / "out", read_questions(path), {"m1"})
