"""Settings: store, file, environment, arguments, in that order, anew for each query; a wrong one is refused."""

import re
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from recall_cases import CASES

from hopgate import HopgateError, Memory
from hopgate.graph.walk.config import PARTS, Walk
from hopgate.options import to_toml
from hopgate.recall.fusers import RRF
from hopgate.recall.graph_leg import GraphLeg
from hopgate.recall.settings import DEFAULT_FUSER, FILE, OPTIONS, RecallOptions, Settings, resolve_settings


def test_file_then_environment_then_arguments(tmp_path):
    written = {"k": 3, "depth": 20, "graph": 0.5, "prior": 0.9, "fuser": "RRF(k=10)", "lexical_ranker": "ts_rank"}
    (tmp_path / FILE).write_text(to_toml(written))
    environ = {"HOPGATE_DEPTH": "30", "HOPGATE_GRAPH": "2", "HOPGATE_RERANK": "on", "HOPGATE_RERANK_MODEL": "mine"}
    found = resolve_settings(tmp_path, environ, {"graph": 3.0, "k": None}).settings
    assert (found.k, found.depth, found.prior, found.rerank) == (3, 30, 0.9, True)
    assert found.fuser == RRF(k=10, graph=3)
    assert (found.rerank_model, found.lexical_ranker) == ("mine", "ts_rank")
    assert Settings().replaced(found.to_dict()) == found and set(found.to_dict()) == set(OPTIONS) == set(
        get_type_hints(RecallOptions)
    )


def test_the_guide_has_a_row_for_every_setting():
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "settings.md").read_text(encoding="utf-8")
    assert f'fuser = "{DEFAULT_FUSER!r}"' in guide
    named = {name for row in re.findall(r"^\| (`.+?`) \|", guide, re.MULTILINE) for name in re.findall(r"\w+", row)}
    assert not OPTIONS.keys() - named


@pytest.mark.parametrize(("text", "reason"), CASES["no_settings"])
def test_a_wrong_file_is_refused_by_name(tmp_path, text, reason):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(HopgateError, match=reason) as caught:
        resolve_settings(tmp_path, {})
    assert FILE in str(caught.value) and "\n" not in str(caught.value).split(":")[0]


def test_wrong_variables_and_values_are_refused(kb, tmp_path):
    for name, value in (("K", "ten"), ("RERANK", "perhaps"), ("GRAPH", "9"), ("SORT_BY", "x"), ("FUSER", "RRF(j=1)")):
        with pytest.raises(HopgateError):
            resolve_settings(None, {f"HOPGATE_{name}": value})
    for wrong in (tmp_path / "absent.toml", tmp_path):
        with pytest.raises(HopgateError, match="cannot be read"):
            resolve_settings(None, {"HOPGATE_SETTINGS": str(wrong)})
    for value in ({"k": 0}, {"fuser": "XYZ()"}, {"walk": {"speed": 1}}, {"walk": "Walk()"}):
        with pytest.raises(HopgateError):
            kb.store_settings.set(value)


def test_a_running_kb_takes_a_change_of_store_file_and_environment_on_its_next_query(kb, tmp_path, monkeypatch):
    kb.add(*(Memory(f"m{n}", "amber", importance=n / 10) for n in range(5)))
    path = tmp_path / "mine.toml"
    monkeypatch.setenv("HOPGATE_SETTINGS", str(path))

    def asked(text: str, **changes: Any) -> list[str]:
        path.write_text(text)
        return [hit.external_id for hit in kb.recall("amber", **changes)]

    kb.store_settings.set({"k": 3, "graph": 2, "depth": 20})
    assert len(asked("dense = 0")) == 3
    assert asked("k = 1\ndense = 0") == ["m4"]
    assert asked("k = 2\nsort_by = 'importance'\nprior = 1") == ["m4", "m3"]
    monkeypatch.setenv("HOPGATE_PRIOR", "0.9")
    found = kb.store_settings.resolve()
    assert (found.settings.k, found.settings.fuser.graph, found.settings.prior) == (2, 2, 0.9)
    sources = [found.sources[name] for name in ("k", "graph", "prior", "lexical")]
    assert sources == [str(path), "hopgate settings", "HOPGATE_PRIOR", "default"]
    monkeypatch.setenv("HOPGATE_K", "4")
    assert len(asked("k = 2")) == 4 and len(asked("k = 2", k=5)) == 5
    assert asked("lexical = 0\ndense = 0\ngraph = 0") == []


def test_queries_at_once_walk_each_as_they_were_asked_to(kb, monkeypatch):
    """Another query is asked between what one looks up and its own walk."""
    kb.add(Memory("a", "Ada runs Immich."))
    kb.build()
    walks, others, look_up = list[Walk](), [Walk(damping=0.25)], GraphLeg.look_up

    def looked_up(leg: GraphLeg, *given: Any, **options: Any) -> Any:
        found = look_up(leg, *given, **options)
        if others:
            kb.recall("Immich", walk=others.pop())
        walks.append(leg.walk)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(GraphLeg, "look_up", looked_up)
        kb.recall("Immich")
    assert walks == [Walk(damping=0.25), Walk()] and kb.graph_leg.walk == Walk()


def test_a_gate_writes_what_it_chose_and_the_graph_may_leave_it_behind(kb):
    kb.add(Memory("a", "Ada runs Immich."))
    kb.build()
    kb.store_settings.set({"graph": 1, "k": 3})
    kb.store_settings.apply_gate("1f3c", fuser="RRF(k=10, graph=2)", depth=30, parts=("threads",))
    found = kb.store_settings.resolve()
    assert found.settings.fuser == RRF(k=10, graph=2) and found.settings.depth == 30 and found.settings.k == 3
    assert {found.sources[name] for name in ("fuser", "graph", "depth", "parts")} == {"gate 1f3c"}
    assert found.settings.parts == ("threads",)
    assert kb.store_settings.stale_gate() is None
    kb.add(Memory("b", "Bea runs Grafana."))
    kb.build()
    assert kb.store_settings.stale_gate() == "gate 1f3c"
    kb.store_settings.unset(["parts", "fuser"])
    assert kb.settings().parts == PARTS and kb.settings().fuser == DEFAULT_FUSER
