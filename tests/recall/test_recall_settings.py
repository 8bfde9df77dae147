"""Settings: file, environment, arguments, in that order; a wrong one is refused and says where it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hopgate import Memory
from hopgate.errors import HopgateError
from hopgate.kb import KnowledgeBase
from hopgate.recall.fuse import RRF, TM2C2, parse
from hopgate.recall.settings import FILE, Settings, load_settings


def test_file_then_environment_then_arguments(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('k = 3\ndepth = 20\ngraph = 0.5\nprior = 0.9\nfuser = "RRF(k=10)"\n')
    environ = {"HOPGATE_DEPTH": "30", "HOPGATE_GRAPH": "2", "HOPGATE_RERANK": "on"}
    found = load_settings(tmp_path, environ, {"graph": 3.0, "k": None})
    assert (found.k, found.depth, found.prior, found.rerank) == (3, 30, 0.9, True)
    assert found.fuser == RRF(k=10, graph=3)
    assert (found.rerank_model, load_settings(environ={"HOPGATE_RERANK_MODEL": "mine"}).rerank_model) == (
        "bundled",
        "mine",
    )


def test_the_lexical_ranker_is_a_setting(tmp_path: Path) -> None:
    assert load_settings(environ={}).lexical_ranker == "bm25"
    (tmp_path / FILE).write_text('lexical_ranker = "ts_rank"')
    assert load_settings(tmp_path, {}).lexical_ranker == "ts_rank"
    assert load_settings(tmp_path, {"HOPGATE_LEXICAL_RANKER": "bm25"}).lexical_ranker == "bm25"
    with pytest.raises(HopgateError, match="the environment: lexical_ranker is one of bm25, ts_rank"):
        load_settings(environ={"HOPGATE_LEXICAL_RANKER": "tfidf"})


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("k = 4")
    assert load_settings(None, {"HOPGATE_SETTINGS": str(path)}).k == 4
    with pytest.raises(HopgateError, match="cannot be read"):
        load_settings(None, {"HOPGATE_SETTINGS": str(tmp_path / "absent.toml")})
    with pytest.raises(HopgateError, match="cannot be read"):
        load_settings(None, {"HOPGATE_SETTINGS": str(tmp_path)})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("k = ", "not TOML"),
        ("k = 0", "k must be a whole number"),
        ("k = 1.5", "k must be a whole number"),
        ("k = true", "k must be a whole number"),
        ("depth = 1001", "depth must be"),
        ("lexical = 6", "weight of lexical"),
        ("lexical = nan", "weight of lexical"),
        ("dense = 'much'", "weight of dense"),
        ("prior = 2", "prior"),
        ("sort_by = 'colour'", "sort_by is one of"),
        ("rerank = 'yes'", "rerank must be true or false"),
        ("rerank_timeout = nan", "rerank_timeout"),
        ("rerank_timeout = inf", "rerank_timeout"),
        ("rerank_timeout = 'x'", "rerank_timeout"),
        ("rerank_model = ''", "rerank_model"),
        ("rerank_model = 3", "rerank_model"),
        ("exact_match = -1", "exact-match"),
        ("fuser = 7", "fuser must be"),
        ("fuser = 'os.system()'", "cannot read"),
        ("colour = 1", "no setting 'colour'"),
        ("[fuser]\nk = 1", "fuser must be"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(HopgateError, match=reason) as caught:
        load_settings(tmp_path, {})
    assert FILE in str(caught.value) and "\n" not in str(caught.value).split(":")[0]


@pytest.mark.parametrize(
    ("name", "value"), [("K", "ten"), ("RERANK", "perhaps"), ("GRAPH", "9"), ("SORT_BY", "x"), ("FUSER", "RRF(j=1)")]
)
def test_a_wrong_variable_is_refused(name: str, value: str) -> None:
    with pytest.raises(HopgateError):
        load_settings(None, {f"HOPGATE_{name}": value})


def test_settings_print_as_themselves() -> None:
    settings = Settings().replaced({"fuser": "TM2C2(lexical=0.3)", "k": 5})
    assert settings.fuser == TM2C2(lexical=0.3) == parse(repr(settings.fuser))
    assert repr(settings) == repr(Settings().replaced({"fuser": TM2C2(lexical=0.3), "k": 5}))
    assert hash(settings) == hash(settings.replaced({}))


def test_a_running_kb_takes_a_change_on_its_next_query(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("k = 1\ndense = 0\ngraph = 0")
    monkeypatch.setenv("HOPGATE_SETTINGS", str(path))
    kb.add(*(Memory(f"m{n}", "amber", importance=n / 10) for n in range(4)))

    def asked(**changes: Any) -> list[str]:
        return [hit.external_id for hit in kb.recall("amber", **changes)]

    assert asked() == ["m3"]
    path.write_text("k = 2\ndense = 0\ngraph = 0\nsort_by = 'importance'\nprior = 1")
    assert asked() == ["m3", "m2"]
    monkeypatch.setenv("HOPGATE_K", "3")
    assert len(asked()) == 3
    assert len(asked(k=4)) == 4
    path.write_text("lexical = 0\ndense = 0\ngraph = 0")
    assert asked() == []
