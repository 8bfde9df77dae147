"""TREC runs and qrels: what is written is read back."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.eval.data.runs import read_qrels, read_run, write_qrels, write_run

names = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=6)
same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)


@same_folder
@given(
    st.dictionaries(names, st.lists(names, min_size=1, max_size=5, unique=True), min_size=1, max_size=4),
    st.dictionaries(names, st.dictionaries(names, st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=4),
)
def test_runs_and_judgements_come_back(tmp_path, run, qrels):
    write_run(tmp_path / "run", run)
    back = read_run(tmp_path / "run")
    assert {query: [memory for memory, _ in ranking] for query, ranking in back.items()} == run
    write_qrels(tmp_path / "qrels.tsv", qrels)
    assert read_qrels(tmp_path / "qrels.tsv") == qrels


@pytest.mark.parametrize(
    ("read", "line", "reason"),
    [
        (read_run, "q1 Q0 d1 1 0.5", "line 2: six columns"),
        (read_run, "q1 Q0 d2 1 x tag", "line 2: the score must be a number"),
        (read_run, "q1 Q0 d2 1 nan tag", "line 2: the score must be a number"),
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


def test_scores_decide_and_then_ids_and_a_missing_file_is_named(tmp_path):
    (tmp_path / "run").write_text("q Q0 c 1 0.5 tag\nq Q0 b 2 1 tag\nq Q0 a 3 1 tag\n")
    assert read_run(tmp_path / "run") == {"q": [("a", 1.0), ("b", 1.0), ("c", 0.5)]}
    with pytest.raises(HopgateError, match="cannot be read"):
        read_run(tmp_path / "none")
