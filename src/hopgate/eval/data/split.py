"""A data set with its queries divided anew into `dev` and `test`."""

from __future__ import annotations

import shutil
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Dataset, read_dataset
from hopgate.eval.data.new_dataset import in_dev
from hopgate.eval.data.qrels import write_tsv


def split_dataset(folder: str | Path, out: str | Path, *, dev: float = 0.5, by_scope: bool = False) -> Dataset:
    """Copy a data set with new splits, and read the copy back with every check.

    Parameters
    ----------
    dev : float
        The share of `dev`, by a hash of each query's id: the same in every run.
    by_scope : bool
        Whether the queries of one scope stay together, so that nothing is tuned on a conversation that is reported.
    """
    dataset, target = read_dataset(folder), Path(out)
    if not 0 < dev < 1:
        raise HopgateError(f"the share of development queries must be between 0 and 1, not {dev:g}")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise HopgateError(f"{target} is not empty: give a new folder")
    judged = {query: gold for qrels in dataset.splits.values() for query, gold in qrels.items()}
    sides: dict[bool, dict[str, dict[str, int]]] = {True: {}, False: {}}
    for query, gold in judged.items():
        key = (dataset.queries[query].scope if by_scope else None) or query
        sides[in_dev(key, dev)][query] = dict(gold)
    if not all(sides.values()):
        raise HopgateError("one of the two splits would be empty: give another --dev, or leave --by-scope out")
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(dataset.folder.glob("*.jsonl")):
        shutil.copyfile(path, target / path.name)
    write_tsv(target / "qrels" / "dev.tsv", sides[True])
    write_tsv(target / "qrels" / "test.tsv", sides[False])
    return read_dataset(target)
