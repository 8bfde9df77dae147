"""Ids of sensitive memories do not stand in a saved gate, and what is made again from it comes out the same."""

from __future__ import annotations

from pathlib import Path

from hopgate.eval.data.dataset import Query
from hopgate.eval.gate.compare import per_query
from hopgate.eval.gate.evidence import Arm, Evidence
from hopgate.eval.gate.hidden_ids import hidden_ids, labelled, with_hidden_ids
from hopgate.eval.gate.saved import load_gate, save_gate


def test_labels_sort_where_their_ids_did() -> None:
    ids = ["a", "a1", "b", "b-secret", "b1", "secret", "z"]
    labels = hidden_ids(ids, {"a", "b-secret", "secret"})
    renamed = [labels.get(name, name) for name in ids]
    assert renamed == sorted(renamed)
    assert not any("secret" in label.replace("sensitive", "") for label in labels.values())


def test_a_saved_gate_has_labels_and_the_same_values(tmp_path: Path) -> None:
    run = {"q": [("affair.md", 0.9), ("m1", 0.5), ("m2", 0.5)]}
    arms = {
        name: Arm(
            name, run, legs={"lexical": run}, found={"lexical": run}, base=run, read=run, blind={"q": ["affair.md"]}
        )
        for name in ("base", "graph")
    }
    evidence = Evidence(
        {"q": Query("q", "what")}, {"q": {"affair.md": 1}}, arms, "graph", "base", importance={"affair.md": 0.5}
    )
    hidden = with_hidden_ids(evidence, {"affair.md"})
    assert per_query(hidden) == per_query(evidence)
    assert len(labelled(hidden)) == 1
    save_gate(tmp_path, hidden)
    import gzip

    kept = b"".join(
        gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file()
    )
    assert b"affair" not in kept
    assert per_query(load_gate(tmp_path)[0]) == per_query(hidden)
