"""A gate as a folder: plan, runs in TREC form, evidence, decision and page, under one digest of all of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Query
from hopgate.eval.data.runs import Qrels, read_run, write_run
from hopgate.eval.evidence import Arm, Cost, Evidence, Ids, Origin, Rung
from hopgate.eval.plan import FILE, plan_of, plan_text
from hopgate.eval.report import page
from hopgate.eval.verdict import Judgement, judge
from hopgate.options import from_toml

EVIDENCE, DECISION, PAGE, DIGEST = "evidence.json", "gate.json", "page.html", "digest.txt"
RUNS = "runs"


def save(folder: Path, evidence: Evidence) -> Judgement:
    """Write everything down, judge what was written, and give the judgement with the fingerprint of it all."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(plan_text(evidence.plan), encoding="utf-8")
    (folder / RUNS).mkdir(exist_ok=True)
    for old in (folder / RUNS).glob("[0-9]*.trec"):
        old.unlink()
    runs = {name: arm.run for name, arm in evidence.arms.items()}
    for rung in evidence.rungs:
        runs |= {f"{rung.part} shuffled {place}": run for place, run in enumerate(rung.shuffled, 1)}
    files = {name: f"{place:03d}.trec" for place, name in enumerate(runs)}
    for name, run in runs.items():
        scored = {
            _plain(query): [(_plain(id), float(len(ids) - place)) for place, id in enumerate(ids)]
            for query, ids in run.items()
        }
        write_run(folder / RUNS / files[name], scored, tag="hopgate")
    told = {
        "title": evidence.title,
        "queries": [asdict(query) for query in evidence.queries.values()],
        "qrels": evidence.qrels,
        "tuned": evidence.tuned,
        "arms": [
            {"name": arm.name, "configuration": arm.configuration, "entering": arm.entering,
             "reread": arm.reread, "run": files[arm.name],
             "empty": [query for query, ids in arm.run.items() if not ids]}
            for arm in evidence.arms.values()
        ],
        "bases": evidence.bases,
        "rungs": [
            {**asdict(replace(rung, shuffled=())),
             "shuffled": [files[f"{rung.part} shuffled {place}"] for place in range(1, len(rung.shuffled) + 1)]}
            for rung in evidence.rungs
        ],
        "slices": {name: sorted(held) for name, held in evidence.slices.items()},
        "origin": asdict(evidence.origin),
        "look": evidence.look,
        "left_out": evidence.left_out,
        "doubts": evidence.doubts,
    }  # fmt: skip
    _write_json(folder / EVIDENCE, told)
    judgement = judge(load(folder))
    fingerprint = _decision_digest(folder)
    judgement = replace(judgement, fingerprint=fingerprint)
    _write_json(folder / DECISION, judgement.to_dict())
    (folder / PAGE).write_text(page(judgement), encoding="utf-8")
    (folder / DIGEST).write_text(f"{fingerprint}\n{_digest(folder)}\n", encoding="utf-8")
    return judgement


def load(folder: Path) -> Evidence:
    """Read the evidence of a gate that was saved."""
    path = folder / EVIDENCE
    if not path.is_file():
        raise HopgateError(f"{folder} holds no saved gate: run hopgate gate DATASET --out {folder}")
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        queries = {row["id"]: Query(**row) for row in told["queries"]}

        def run_of(file: str, empty: list[str]) -> dict[str, list[str]]:
            known = read_run(folder / RUNS / Path(file).name)
            ranked = {unquote(query): [unquote(id) for id, _ in listed] for query, listed in known.items()}
            return {**ranked, **{query: [] for query in empty}}

        arms = [
            Arm(row["name"], run_of(row["run"], row["empty"]), row["configuration"],
                {leg: (pair[0], pair[1]) for leg, pair in row["entering"].items()}, row["reread"])
            for row in told["arms"]
        ]  # fmt: skip
        rungs = [
            Rung(row["part"], row["arm"], tuple(row["over"]), tuple(run_of(file, []) for file in row["shuffled"]),
                 Cost(**row["cost"]))
            for row in told["rungs"]
        ]  # fmt: skip
        for name in (*told["bases"], *(name for rung in rungs for name in (rung.arm, *rung.over))):
            if name not in {arm.name for arm in arms}:
                raise KeyError(name)
        origin = {**told["origin"], "leaking": tuple(told["origin"]["leaking"])}
        return Evidence(
            title=told["title"],
            plan=plan_of(from_toml(folder / FILE)),
            queries=queries,
            qrels=told["qrels"],
            tuned=told["tuned"],
            arms={arm.name: arm for arm in arms},
            bases=tuple(told["bases"]),
            rungs=tuple(rungs),
            slices={name: frozenset(held) for name, held in told["slices"].items()},
            origin=Origin(**origin),
            look=told["look"],
            left_out=told["left_out"],
            doubts=tuple(told["doubts"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OSError):
        raise HopgateError(f"{path} is not what a gate saved: run the gate again") from None


def verify(folder: Path, fingerprint: str | None = None) -> list[str]:
    """Recompute everything from the saved runs; give what is not as it was saved, nothing where all is consistent.

    Parameters
    ----------
    fingerprint : str, optional
        What was printed when the gate was run. Without it somebody who saved a changed gate again is not found out.
    """
    differs = []
    kept = (folder / DIGEST).read_text(encoding="utf-8").split() if (folder / DIGEST).is_file() else []
    known = kept[0] if kept else ""
    found = _decision_digest(folder)
    if fingerprint is not None and found != fingerprint:
        differs.append(f"the fingerprint is {found}, not {fingerprint}")
    if found != known:
        return [*differs, f"plan, runs or evidence were changed: they have the fingerprint {found}"]
    judgement = replace(judge(load(folder)), fingerprint=found)
    saved = (folder / DECISION).read_text(encoding="utf-8") if (folder / DECISION).is_file() else ""
    if saved != _json(judgement.to_dict()):
        differs.append(f"{DECISION} is not what the runs say")
    shown = (folder / PAGE).read_text(encoding="utf-8") if (folder / PAGE).is_file() else ""
    if shown != page(judgement):
        differs.append(f"{PAGE} is not what the runs say")
    if not differs and kept[1:] != [_digest(folder)]:
        differs.append("a file was added, changed or removed")
    return differs


def without_ids(evidence: Evidence, hidden: frozenset[str]) -> Evidence:
    """Give the evidence with a label in the place of each of these ids: an id may tell what a text says."""
    if not hidden:
        return evidence
    named = sorted(hidden)
    labels = {name: f"sensitive-{place:06d}" for place, name in enumerate(named, 1)}

    def ids(run: Ids) -> dict[str, list[str]]:
        return {query: [labels.get(name, name) for name in listed] for query, listed in run.items()}

    def gold(qrels: Qrels) -> dict[str, dict[str, int]]:
        return {query: {labels.get(name, name): grade for name, grade in own.items()} for query, own in qrels.items()}

    return replace(
        evidence,
        qrels=gold(evidence.qrels),
        tuned=gold(evidence.tuned),
        arms={name: replace(arm, run=ids(arm.run)) for name, arm in evidence.arms.items()},
        rungs=tuple(replace(rung, shuffled=tuple(map(ids, rung.shuffled))) for rung in evidence.rungs),
    )


def _plain(name: str) -> str:
    """An id without what TREC's columns cannot hold; `unquote` gives it back."""
    return re.sub(r"[\s%]", lambda found: quote(found[0], safe=""), name)


def _decision_digest(folder: Path) -> str:
    """The fingerprint: of the plan, the evidence and the runs, from which decision and page follow."""
    return _of(folder, lambda name: name in (FILE, EVIDENCE) or name.startswith(f"{RUNS}/"))[:12]


def _digest(folder: Path) -> str:
    """The digest of everything in the folder but itself."""
    return _of(folder, lambda name: name != DIGEST)


def _of(folder: Path, wanted: Callable[[str], bool]) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if wanted(name):
            digest.update(f"{name}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(_json(value), encoding="utf-8")
