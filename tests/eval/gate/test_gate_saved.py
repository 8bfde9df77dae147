"""A gate on disk: what is loaded judges as what was saved did."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from eval_world import evidence, prototype

from hopgate.errors import HopgateError
from hopgate.eval.gate.evidence import GraphSource
from hopgate.eval.gate.judge import judge
from hopgate.eval.gate.saved import load_gate, recomputed, save_gate


def told(made):
    return judge(made).to_dict()


@pytest.mark.parametrize("made", [evidence(20, prior=True), prototype(15)], ids=["sound", "prototype"])
def test_a_saved_gate_judges_the_same(tmp_path, made):
    made = replace(made, sweep={0.5: 0.1, 2.0: 0.3}, graph=GraphSource("abc", "triples", frozenset({"f"})))
    save_gate(tmp_path / "gate", made, {"data set": "home"})
    made = replace(made, saved=recomputed(tmp_path / "gate"))
    loaded, about = load_gate(tmp_path / "gate")
    assert told(loaded) == told(made)
    assert about == {"data set": "home"}
    assert loaded.sweep == made.sweep
    assert loaded.graph == made.graph
    assert [repr(part) for part in loaded.selected] == [repr(part) for part in made.selected]


def test_saving_twice_writes_the_same_bytes_and_shares_lists(tmp_path):
    made = evidence(10)
    for name in ("one", "two"):
        save_gate(tmp_path / name, made)

    def written(folder):
        return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    assert written(tmp_path / "one") == written(tmp_path / "two")
    # 5 runs, 3 legs and the shuffled graph: far fewer than the 16 lists that the arms name.
    assert len(list((tmp_path / "one/lists").iterdir())) <= 9


def test_an_overwritten_gate_keeps_no_stale_arm(tmp_path):
    made = evidence(10)
    save_gate(tmp_path, made)
    save_gate(tmp_path, replace(made, arms={k: v for k, v in made.arms.items() if k != "dense"}))
    assert "dense" not in load_gate(tmp_path)[0].arms


def test_a_changed_figure_fails_persistence(tmp_path):
    save_gate(tmp_path, evidence(12))
    path = tmp_path / "arms/00.json"
    record = json.loads(path.read_text())
    record["values"]["recall@10"] = dict.fromkeys(record["values"]["recall@10"], 0.25)
    path.write_text(json.dumps(record))
    checks = {check.name: check for check in judge(load_gate(tmp_path)[0]).checks}
    assert checks["persistence"].status == "fail"


def test_a_changed_or_missing_list_is_refused(tmp_path):
    import gzip

    save_gate(tmp_path, evidence(10))
    path = next((tmp_path / "lists").iterdir())
    path.write_bytes(gzip.compress(b"[]"))
    with pytest.raises(HopgateError, match="was changed after it was saved"):
        load_gate(tmp_path)
    path.unlink()
    with pytest.raises(HopgateError, match="cannot be recomputed"):
        load_gate(tmp_path)
    with pytest.raises(HopgateError, match="cannot be read"):
        load_gate(tmp_path / "none")
