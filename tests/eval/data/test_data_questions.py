"""One's own questions: a file to fill in, candidates from every leg, queries and judgements out."""

import json

import pytest

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import read_dataset
from hopgate.eval.data.questions import Questions, add_candidates, questions_text, read_questions, write_judged
from hopgate.eval.data.runs import read_qrels
from hopgate.memory import Memory
from hopgate.recall.fusers import LEGS


def test_a_file_is_filled_in_ticked_and_becomes_queries(kb, tmp_path):
    kb.add(
        Memory("m1", "Gitea runs on birch."),
        Memory("m2", "birch stands in the cellar."),
        Memory("m3", "The Gitea password is in the safe.", is_sensitive=True),
    )
    kb.embed()
    kb.build()
    # Every leg is asked, whatever the store uses.
    kb.store_settings.set({"graph": 0, "dense": 0})
    path, beside = tmp_path / "questions.md", tmp_path / "questions.pool.json"
    path.write_text(questions_text({}, {}))
    assert read_questions(path) == {}
    path.write_text(path.read_text().replace("## \n", "## Where is Gitea?\n", 1))
    add_candidates(kb, path, read_questions(path))
    assert "password" not in path.read_text() and "lexical" not in path.read_text()
    assert "- [ ] m1 · Gitea runs on birch." in path.read_text()
    path.write_text(path.read_text().replace("- [ ] m1", "- [x] m1") + "\n")
    # What is there already is not asked again: ticks stay, and so does who found what.
    asked, pool = read_questions(path), json.loads(beside.read_text())["Where is Gitea?"]
    add_candidates(kb, path, asked)
    assert read_questions(path) == asked and json.loads(beside.read_text()) == {"Where is Gitea?": pool}
    assert pool["m1"].items() >= {"lexical": 1, "recall": 1}.items() and "m3" not in pool
    assert {leg for ranks in pool.values() for leg in ranks} == {*LEGS, "recall"} - {"late"}
    assert write_judged(tmp_path / "mine", asked, set(kb.id_map().values()), dev=0.0) == 1
    read = read_dataset(tmp_path / "mine", kb.export())
    (query,) = read.queries.values()
    assert query.text == "Where is Gitea?" and query.hops == 1
    # What was looked at and not ticked is judged, too.
    assert read.split("test")[query.id] == {"m1": 1, "m2": 0}


def test_a_question_keeps_the_split_it_had(tmp_path):
    def write(questions: Questions) -> dict[str, set[str]]:
        write_judged(tmp_path, questions, {f"m{i}" for i in range(40)})
        paths = (tmp_path / "qrels").glob("*.tsv")
        return {path.stem: set(read_qrels(path)) for path in paths}

    asked = {f"{i}?": {f"m{i}": True} for i in range(40)}
    first, second = write(dict(list(asked.items())[:20])), write(asked)
    assert all(first[split] < second[split] and len(second[split]) == 20 for split in ("dev", "test"))


def test_ids_may_hold_spaces_as_the_paths_of_notes_do(tmp_path):
    asked = {"Who?": {"Haus/Keller neu.md": True, "m1": False, "2024-11-05 Zahnarzt.md": True}}
    path = tmp_path / "questions.md"
    path.write_text(questions_text(asked, {"m1": "Bea · and Ann", "Haus/Keller neu.md": "· a"}))
    path.write_text(path.read_text() + "\n## And where?\n- [x] People/Frau Novak.md\n- [x] m2 ·\n")
    assert read_questions(path) == {**asked, "And where?": {"People/Frau Novak.md": True, "m2": True}}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- [x] m1 · before any question\n", "line 1: a candidate"),
        ("## a?\n## a?\n", "line 2: the question 'a"),
        ("## a?\n- [ ] m1 · text\n", "no box is ticked"),
        ("## a?\n- [x] m9 · text\n", "no memory 'm9'"),
    ],
)
def test_what_cannot_be_read_or_judged_is_named(tmp_path, text, reason):
    path = tmp_path / "questions.md"
    path.write_text(text)
    with pytest.raises(HopgateError, match=reason):
        write_judged(tmp_path / "out", read_questions(path), {"m1"})
