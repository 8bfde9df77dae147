"""TREC runs and qrels: what is written is read back."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.eval.data.runs import ordered, read_qrels, read_run, write_qrels, write_run

names = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=6)
scores = st.floats(allow_nan=False, allow_infinity=False)
runs = st.dictionaries(names, st.dictionaries(names, scores, min_size=1, max_size=5), max_size=4)
same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)


@same_folder
@given(runs)
def test_a_run_comes_back(tmp_path, run):
    given_run = {query: list(ranking.items()) for query, ranking in run.items()}
    write_run(tmp_path / "run", given_run)
    back = read_run(tmp_path / "run")
    assert {query: dict(ranking) for query, ranking in back.items()} == run
    assert {query: ordered(r) for query, r in back.items()} == {query: ordered(r) for query, r in given_run.items()}


@same_folder
@given(
    st.dictionaries(names, st.dictionaries(names, st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=4)
)
def test_judgements_come_back(tmp_path, qrels):
    write_qrels(tmp_path / "qrels.tsv", qrels)
    assert read_qrels(tmp_path / "qrels.tsv") == qrels


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("q1 Q0 d1 1 0.5", "line 2: six columns"),
        ("q1 Q0 d2 1 x tag", "line 2: the score must be a number"),
        ("q1 Q0 d2 1 nan tag", "line 2: the score is not a number"),
        ("q1 Q0 d1 2 0.1 tag", "line 2: 'd1' stands twice"),
    ],
)
def test_a_bad_line_of_a_run_is_refused(tmp_path, line, reason):
    (tmp_path / "run").write_text(f"q1 Q0 d1 1 0.9 tag\n{line}\n")
    with pytest.raises(HopgateError, match=reason):
        read_run(tmp_path / "run")


@pytest.mark.parametrize(
    ("line", "reason"),
    [("q1 0 d1", "four columns"), ("q1 0 d1 1", "judged already on line 1"), ("q1 0 d2 high", "whole number")],
)
def test_a_bad_line_of_qrels_is_refused(tmp_path, line, reason):
    (tmp_path / "qrels").write_text(f"q1 0 d1 1\n{line}\n")
    with pytest.raises(HopgateError, match=f"line 2: .*{reason}"):
        read_qrels(tmp_path / "qrels")


def test_an_id_with_white_space_cannot_be_written(tmp_path):
    with pytest.raises(HopgateError, match="'a b' cannot be written"):
        write_run(tmp_path / "run", {"q": [("a b", 1.0)]})


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(HopgateError, match="cannot be read"):
        read_run(tmp_path / "none")
