"""`hopgate audit`: the figures that started it all, and actual lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_run import Runner
from word_endpoint import WordEndpoint

import hopgate
from hopgate import Memory


def numbers(value: object) -> list[float]:
    if isinstance(value, dict):
        return [number for one in value.values() for number in numbers(one)]
    if isinstance(value, list):
        return [number for one in value for number in numbers(one)]
    return [value] if isinstance(value, float) else []


def test_the_prototypes_graph_leg_was_barred(bare: Runner) -> None:
    told = bare("audit", "--leg", "graph", "--fuser", "RRF(graph=0.35)", "--prior", "1", "--json").json["bounds"][
        "graph"
    ]
    found = numbers(told)
    for figure in (61 / 70, 61 / 65, 122 / 70):
        assert any(number == pytest.approx(figure) for number in found), figure
    assert told["verdict"] == "barred"
    assert "barred" in bare("audit", "--fuser", "RRF(graph=0.35)").out


def test_every_leg_that_is_on_is_judged(bare: Runner) -> None:
    assert set(bare("audit", "--json").json["bounds"]) == {"lexical", "dense", "graph"}
    assert set(bare("audit", "--dense", "0", "--json").json["bounds"]) == {"lexical", "graph"}


def test_on_actual_lists(run: Runner, dsn: str, endpoint: WordEndpoint, tmp_path: Path) -> None:
    with hopgate.open(dsn) as kb:
        kb.add(*(Memory(f"m{n}", f"amber {n}") for n in range(20)))
        kb.embed(endpoint.spec)
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"_id": "q1", "text": "amber"}\n{"_id": "q2", "text": "amber 7"}\n')
    told = run("audit", "--queries", str(queries), "--fuser", "RRF(graph=0.35)", "--json").json
    assert set(told) == {"bounds", "lists"}
    assert set(told["lists"]) == {"lexical", "dense", "graph"}
    json.dumps(told["lists"]["graph"])
    assert run("audit", "--queries", str(queries)).out


@pytest.mark.parametrize(
    "options", [["--leg", "colour"], ["--fuser", "X"], ["--k", "0"], ["--queries", "absent.jsonl"]]
)
def test_what_cannot_be_audited_is_one_line(run: Runner, options: list[str]) -> None:
    run("audit", *options, status=2).refused()
