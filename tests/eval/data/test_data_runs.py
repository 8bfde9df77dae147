"""TREC runs and qrels: what is written is read back."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.eval.data.runs import ordered, read_qrels, read_run, write_qrels, write_run

names = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=6)
scores = st.floats(allow_nan=False, allow_infinity=False)
same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)


def rankings(values):
    return st.dictionaries(names, st.dictionaries(names, values, min_size=1, max_size=5), min_size=1, max_size=4)


@same_folder
@given(rankings(scores), rankings(st.integers(0, 3)))
def test_runs_and_judgements_come_back(tmp_path, run, qrels):
    given_run = {query: list(ranking.items()) for query, ranking in run.items()}
    write_run(tmp_path / "run", given_run)
    back = read_run(tmp_path / "run")
    assert {query: dict(ranking) for query, ranking in back.items()} == run
    assert {query: ordered(r) for query, r in back.items()} == {query: ordered(r) for query, r in given_run.items()}
    write_qrels(tmp_path / "qrels.tsv", qrels)
    assert read_qrels(tmp_path / "qrels.tsv") == qrels


@pytest.mark.parametrize(
    ("read", "line", "reason"),
    [
        (read_run, "q1 Q0 d1 1 0.5", "line 2: six columns"),
        (read_run, "q1 Q0 d2 1 x tag", "line 2: the score must be a number"),
        (read_run, "q1 Q0 d2 1 nan tag", "line 2: the score is not a number"),
        (read_run, "q1 Q0 d1 2 0.1 tag", "line 2: 'd1' stands twice"),
        (read_qrels, "q1 0 d1", "line 2: four columns"),
        (read_qrels, "q1 0 d1 1", "line 2: .*judged already on line 1"),
        (read_qrels, "q1 0 d2 high", "line 2: .*whole number"),
    ],
)
def test_a_bad_line_is_refused(tmp_path, read, line, reason):
    (tmp_path / "file").write_text(("q1 Q0 d1 1 0.9 tag" if read is read_run else "q1 0 d1 1") + f"\n{line}\n")
    with pytest.raises(HopgateError, match=reason):
        read(tmp_path / "file")


def test_an_id_with_white_space_cannot_be_written_and_a_missing_file_is_named(tmp_path):
    with pytest.raises(HopgateError, match="'a b' cannot be written"):
        write_run(tmp_path / "run", {"q": [("a b", 1.0)]})
    with pytest.raises(HopgateError, match="cannot be read"):
        read_run(tmp_path / "none")
