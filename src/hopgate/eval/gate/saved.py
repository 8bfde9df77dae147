"""A gate on disk: every arm's run, settings, versions and per-query values, so that any figure can be recomputed."""

from __future__ import annotations

import gzip
import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Query
from hopgate.eval.data.runs import Run
from hopgate.eval.gate.compare import per_query
from hopgate.eval.gate.evidence import Arm, Evidence, GraphSource, Tuning
from hopgate.eval.gate.fingerprint import changed_pieces, fingerprint_of, pieces
from hopgate.eval.gate.plan import Policy
from hopgate.eval.measures import Measure, parse_measure
from hopgate.eval.slices import NamedSlice, Slice

FORMAT = 4


def save_gate(folder: str | Path, evidence: Evidence, about: Mapping[str, Any] | None = None) -> str:
    """Write everything a verdict rests on, and give the fingerprint over all of it.

    Lists that several arms share are written once, under a name that is their fingerprint.

    Parameters
    ----------
    folder : path
        New, or a gate saved before, which is overwritten.
    evidence : Evidence
    about : mapping
        What else to keep: the data set and its fingerprint, the embedder, seeds.
    """
    folder = Path(folder)
    (folder / "arms").mkdir(parents=True, exist_ok=True)
    (folder / "lists").mkdir(exist_ok=True)
    for stale in (folder / "arms").glob("*.json"):
        stale.unlink()
    values = per_query(evidence)
    records = [_record(folder, arm, values[arm.name]) for arm in evidence.arms.values()]
    records += [{**_record(folder, arm, {}), "shuffle": True} for arm in evidence.shuffles]
    for number, record in enumerate(records):
        _write(folder / "arms" / f"{number:02d}.json", record)
    header = _header(evidence, about or {})
    found = pieces(header, iter(records))
    fingerprint = fingerprint_of(found)
    _write(folder / "gate.json", {**header, "fingerprint": fingerprint, "pieces": found})
    return fingerprint


def load_gate(folder: str | Path) -> tuple[Evidence, dict[str, Any]]:
    """Read a saved gate: the evidence, and what else was kept.

    The evidence's `saved` holds the per-query values as they were written, so that the persistence check compares
    them with those computed from the runs now.
    """
    folder = Path(folder)
    header = _read(folder / "gate.json")
    if header.get("format") != FORMAT:
        raise HopgateError(f"{folder / 'gate.json'} has format {header.get('format')!r}: this hopgate reads {FORMAT}")
    every = [_read(path) for path in sorted((folder / "arms").glob("*.json"))]
    records = [record for record in every if not record.get("shuffle")]
    # Most lists are those of several arms: each is read once.
    read = cache(partial(_read_list, folder))
    arms = {record["name"]: _arm(read, record) for record in records}
    evidence = Evidence(
        queries={row["id"]: Query.from_dict(row) for row in header["queries"]},
        qrels=header["qrels"],
        arms=arms,
        challenger=header["challenger"],
        base=header["base"],
        rivals=tuple(header["rivals"]),
        shuffles=tuple(_arm(read, record) for record in every if record.get("shuffle")),
        k=header["k"],
        primary=parse_measure(header["primary"]),
        measures=tuple(parse_measure(text) for text in header["measures"]),
        slices={
            NamedSlice(row["name"], frozenset(row["queries"]), row["from_runs"], frozenset(row["spaces"])): frozenset(
                row["queries"]
            )
            for row in header["slices"]
        },
        tuning={arm: Tuning.from_dict(row) for arm, row in header["tuning"].items()},
        graph=GraphSource.from_dict(header["graph"]) if header["graph"] else None,
        space=header["space"],
        saved={record["name"]: record["values"].get(header["primary"], {}) for record in records},
        corpus_size=header["corpus_size"],
        importance=header["importance"],
        sweep={float(weight): value for weight, value in header["sweep"]},
        policy=Policy.from_dict(header["policy"]),
        looks=header["looks"],
        altered=tuple(altered(folder)),
        given_runs=header["given_runs"],
    )
    missing = {evidence.challenger, evidence.base} - arms.keys()
    if missing:
        raise HopgateError(f"{folder} lacks the arm {min(missing)!r}: run the gate again")
    return evidence, dict(header["about"])


def altered(folder: str | Path) -> list[str]:
    """Name every piece of a saved gate, list, setting, judgement or value, that is not as it was saved."""
    folder = Path(folder)
    header = _read(folder / "gate.json")
    saved, fingerprint = header.pop("pieces", {}), header.pop("fingerprint", "")
    records = [_read(path) for path in sorted((folder / "arms").glob("*.json"))]
    changed = changed_pieces(saved, pieces(header, iter(records)))
    if fingerprint_of(saved) != fingerprint:
        changed.append("the fingerprint was changed")
    check = cache(partial(_list_content, folder))
    for record in records:
        lists = {"run": record["run"], **record["legs"], **record["found"], "read": record["read"]}
        lists["walked"] = record["walked"]
        lists["base"] = record["base"]
        for name, key in lists.items():
            try:
                check(key)
            except HopgateError as error:
                changed.append(f"the {name} list of the arm {record['name']}: {error}")
    return changed


def saved_fingerprint(folder: str | Path) -> str:
    """Give the fingerprint that was written when the gate was saved."""
    return str(_read(Path(folder) / "gate.json").get("fingerprint", ""))


def recomputed(folder: str | Path) -> dict[str, Mapping[str, float]]:
    """Compute every arm's per-query values of the primary measure from the runs on disk."""
    evidence, _ = load_gate(folder)
    return {name: values[evidence.primary] for name, values in per_query(evidence).items()}


def versions() -> dict[str, str]:
    """Name the versions that the figures depend on."""
    known = {"python": platform.python_version(), "machine": platform.machine()}
    for package in ("hopgate", "numpy", "scipy", "onnxruntime", "pgvector", "psycopg"):
        try:
            known[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            known[package] = "not installed"
    return known


def _header(evidence: Evidence, about: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "about": dict(about),
        "versions": versions(),
        "queries": [evidence.queries[name].to_dict() for name in evidence.qrels],
        "qrels": {query: dict(gold) for query, gold in evidence.qrels.items()},
        "challenger": evidence.challenger,
        "base": evidence.base,
        "rivals": list(evidence.rivals),
        "k": evidence.k,
        "primary": str(evidence.primary),
        "measures": [str(measure) for measure in evidence.measures],
        "slices": [_slice_record(part, names) for part, names in evidence.selected.items()],
        "tuning": {arm: tuning.to_dict() for arm, tuning in evidence.tuning.items()},
        "graph": evidence.graph.to_dict() if evidence.graph else None,
        "space": evidence.space,
        "corpus_size": evidence.corpus_size,
        "importance": dict(evidence.importance),
        "sweep": sorted(evidence.sweep.items()),
        "policy": evidence.policy.to_dict(),
        "looks": evidence.looks,
        "given_runs": evidence.given_runs,
    }


def _record(folder: Path, arm: Arm, values: Mapping[Measure, Mapping[str, float]]) -> dict[str, Any]:
    return {
        "name": arm.name,
        "fuser": arm.fuser,
        "prior": arm.prior,
        "bonus": arm.bonus,
        "matched": {query: list(names) for query, names in arm.matched.items()},
        "settings": dict(arm.settings),
        "run": _write_list(folder, arm.run),
        "legs": {leg: _write_list(folder, run) for leg, run in arm.legs.items()},
        "found": {leg: _write_list(folder, run) for leg, run in arm.found.items()},
        "read": _write_list(folder, arm.read),
        "walked": _write_list(folder, arm.walked),
        "base": _write_list(folder, arm.base),
        "blind": {query: list(names) for query, names in arm.blind.items()},
        "into": arm.into,
        "values": {str(measure): dict(by_query) for measure, by_query in values.items()},
    }


def _arm(read: Callable[[str], Run], record: dict[str, Any]) -> Arm:
    return Arm(
        name=record["name"],
        run=read(record["run"]),
        fuser=record["fuser"],
        legs={leg: read(key) for leg, key in record["legs"].items()},
        found={leg: read(key) for leg, key in record["found"].items()},
        prior=record["prior"],
        bonus=record["bonus"],
        matched=record["matched"],
        read=read(record["read"]),
        walked=read(record["walked"]),
        settings=record["settings"],
        base=read(record["base"]),
        blind=record["blind"],
        into=record["into"],
    )


def _slice_record(part: Slice, queries: frozenset[str]) -> dict[str, Any]:
    """A slice by its name, its queries and how it was defined, which is read again."""
    return {"name": repr(part), "from_runs": part.from_runs, "spaces": sorted(part.spaces), "queries": sorted(queries)}


def _write_list(folder: Path, run: Run) -> str:
    lines = [json.dumps([query, [list(pair) for pair in run[query]]], ensure_ascii=False) for query in sorted(run)]
    content = "\n".join(lines).encode()
    key = hashlib.sha256(content).hexdigest()[:16]
    path = folder / "lists" / f"{key}.jsonl.gz"
    if not path.exists():
        path.write_bytes(gzip.compress(content, compresslevel=5, mtime=0))
    return key


def _read_list(folder: Path, key: str) -> Run:
    rows = (json.loads(line) for line in _list_content(folder, key).decode().split("\n") if line)
    return {query: [(name, float(score)) for name, score in ranking] for query, ranking in rows}


def _list_content(folder: Path, key: str) -> bytes:
    """A list as it lies on disk, once it is certain that it is the one that was saved."""
    path = folder / "lists" / f"{key}.jsonl.gz"
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError) as error:
        raise HopgateError(f"{path} cannot be read ({error}): the run it holds cannot be recomputed") from None
    if hashlib.sha256(content).hexdigest()[:16] != key:
        raise HopgateError(f"{path} was changed after it was saved: its content does not have its name's fingerprint")
    return content


def _write(path: Path, record: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HopgateError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise HopgateError(f"{path} is not JSON: {error}") from None
    return dict(record)
