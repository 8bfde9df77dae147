"""A gate as a folder: plan, runs in TREC form, evidence, decision and page, under one fingerprint of what is judged."""

import hashlib
import json
import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Query
from hopgate.eval.data.runs import Qrels, read_run, write_run
from hopgate.eval.evidence import Arm, Cost, Evidence, Ids, Rung
from hopgate.eval.plan import FILE, plan_of, plan_text
from hopgate.eval.verdict import Judgement, judge
from hopgate.options import from_toml

EVIDENCE, DECISION, PAGE, RUNS = "evidence.json", "gate.json", "page.html", "runs"
SHOWN_QUERIES = 200


def save(folder: Path, evidence: Evidence) -> Judgement:
    """Write everything down, judge what was written, and give the judgement with the fingerprint of it all."""
    runs = folder / RUNS
    runs.mkdir(parents=True, exist_ok=True)
    for old in runs.glob("[0-9]*.trec"):
        old.unlink()

    values, arms = _fields(evidence), {}
    for place, (name, arm) in enumerate(evidence.arms.items()):
        file = f"{place:03d}.trec"
        write_run(runs / file, {_plain(query): [*map(_plain, ids)] for query, ids in arm.run.items()})
        arms[name] = {**_fields(arm), "run": file}
    del values["plan"]
    (folder / FILE).write_text(plan_text(evidence.plan), encoding="utf-8")
    (folder / EVIDENCE).write_text(_json({**values, "arms": arms}), encoding="utf-8")
    judgement = judged(folder)
    for name, text in _follows(judgement).items():
        (folder / name).write_text(text, encoding="utf-8")
    return judgement


def load(folder: Path) -> Evidence:
    """Read the evidence of a gate that was saved."""
    path = folder / EVIDENCE
    if not path.is_file():
        raise HopgateError(f"{folder} holds no saved gate: run hopgate gate DATASET --out {folder}")
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        arms = {}
        for name, row in values["arms"].items():
            listed = read_run(folder / RUNS / Path(row["run"]).name)
            # An empty list has no line; only runs that somebody brought may lack one.
            run = {query: list[str]() for query in values["qrels"] if row["configuration"]}
            run |= {unquote(query): [unquote(id) for id, _ in ranking] for query, ranking in listed.items()}
            arms[name] = Arm(**{**row, "run": run, "entering": dict(row["entering"])})
        rungs = [Rung(**{**row, "cost": Cost(**row["cost"])}) for row in values["rungs"]]
        for name in (*values["bases"], *(name for rung in rungs for name in (rung.arm, *rung.over, *rung.shuffled))):
            arms[name]
        values |= {
            "plan": plan_of(from_toml(folder / FILE)),
            "queries": {name: Query(**row) for name, row in values["queries"].items()},
            "arms": arms,
            "rungs": rungs,
            "slices": {name: frozenset(queries) for name, queries in values["slices"].items()},
        }
        return Evidence(**values)
    except (KeyError, TypeError, ValueError, AttributeError, OSError):
        raise HopgateError(f"{path} is not what a gate saved: run the gate again") from None


def judged(folder: Path) -> Judgement:
    """Judge a saved gate again, from its evidence and runs."""
    return replace(judge(load(folder)), fingerprint=_fingerprint(folder))


def verify(folder: Path, fingerprint: str | None = None) -> list[str]:
    """Recompute everything from the saved runs; give what is not as it was saved, nothing where all is consistent.

    Without the fingerprint that was printed somebody who saved a changed gate again is not found out.
    """
    actual, decision = _fingerprint(folder), folder / DECISION
    differs = [] if fingerprint in (None, actual) else [f"the fingerprint is {actual}, not {fingerprint}"]
    if not decision.is_file() or f'"fingerprint": "{actual}"' not in decision.read_text(encoding="utf-8"):
        return [*differs, f"plan, runs or evidence were changed: they have the fingerprint {actual}"]
    expected = _follows(judged(folder))
    for name, text in expected.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            differs.append(f"{name} is not what the runs say")
    further = {path.name for path in folder.iterdir()} - {FILE, EVIDENCE, RUNS, *expected}
    return differs + [f"{name} was added" for name in sorted(further)]


def without_ids(evidence: Evidence, hidden: frozenset[str]) -> Evidence:
    """Give the evidence with a label in the place of each of these ids: an id may tell what a text says."""
    labels = {name: f"sensitive-{place:06d}" for place, name in enumerate(sorted(hidden), 1)}

    def ids(run: Ids) -> dict[str, list[str]]:
        return {query: [labels.get(name, name) for name in listed] for query, listed in run.items()}

    def gold(qrels: Qrels) -> dict[str, dict[str, int]]:
        return {query: {labels.get(name, name): grade for name, grade in own.items()} for query, own in qrels.items()}

    return replace(
        evidence,
        qrels=gold(evidence.qrels),
        tuned=gold(evidence.tuned),
        arms={name: replace(arm, run=ids(arm.run)) for name, arm in evidence.arms.items()},
    )


def _page(judgement: Judgement) -> str:
    """The page; it holds no text of a memory, and the same judgement gives the same bytes."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("hopgate.eval", "."), autoescape=True, trim_blocks=True)
    main, evidence = judgement.main, judgement.evidence
    ours, theirs = (evidence.values(name) for name in (main.arm, main.over))
    most_different = sorted(evidence.reported, key=lambda name: (-abs(ours[name] - theirs[name]), name))
    text: str = environment.get_template("page.html.j2").render(
        judgement=judgement,
        evidence=evidence,
        main=main,
        widest=max(0.1, *(abs(limit) for claim in judgement.claims for limit in claim.interval)),
        measures=[str(measure) for measure in evidence.measures],
        queries=[(evidence.queries[name].text, ours[name], theirs[name]) for name in most_different[:SHOWN_QUERIES]],
        plan=plan_text(evidence.plan),
    )
    return text + "\n"


def _follows(judgement: Judgement) -> dict[str, str]:
    """The files that follow from the others."""
    return {DECISION: _json(judgement.to_dict()), PAGE: _page(judgement)}


def _fingerprint(folder: Path) -> str:
    """Of the plan, the evidence and the runs, from which decision and page follow."""
    digest = hashlib.sha256()
    for path in (folder / FILE, folder / EVIDENCE, *sorted((folder / RUNS).rglob("*"))):
        if path.is_file():
            digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _plain(name: str) -> str:
    """An id without what TREC's columns cannot hold; `unquote` gives it back."""
    return re.sub(r"[\s%]", lambda match: quote(match[0], safe=""), name)


def _fields(value: Any) -> Any:
    """A value as JSON has it: a set in order, anything declared by its fields."""
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return sorted(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=_fields) + "\n"
