"""`hopgate settings`: every value with its source, set and unset, and a gate that the graph has left behind."""

from __future__ import annotations

from cli_run import Runner

import hopgate
from hopgate import Memory


def test_show_set_and_unset(run: Runner) -> None:
    assert "MinMax(lexical=0.015, dense=0.035, graph=5)" in run("settings").out
    assert run("settings", "set", "k", "5").out == "set k to 5\n"
    rows = {row["name"]: row for row in run("settings", "--json").json["settings"]}
    assert (rows["k"]["value"], rows["k"]["source"]) == (5, "hopgate settings")
    assert rows["graph"]["source"] == "default" and all(row["meaning"] for row in rows.values())
    assert run("settings", "unset", "k").out == "k comes from default again\n"
    assert "does not set 'k'" in run("settings", "unset", "k", status=2).refused()
    assert "k must be a number" in run("settings", "set", "k", "many", status=2).refused()
    assert "no setting 'colour'" in run("settings", "set", "colour", "red", status=2).refused()


def test_a_gate_that_the_graph_left_behind_is_told(run: Runner, dsn: str) -> None:
    with hopgate.open(dsn) as kb:
        kb.add(Memory("a", "Ada runs Immich."))
        kb.store_settings.apply_gate("1f3c", fuser="RRF(k=60)", depth=30)
        kb.build()
    told = run("settings").out
    assert "gate 1f3c" in told and "the graph was changed since gate 1f3c" in told
    assert run("settings", "--json").json["graph_changed_since"] == "gate 1f3c"
