"""MuSiQue: a list (or lines) of questions with `paragraphs`, each marked `is_supporting`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hopgate.eval.data.new_dataset import NewDataset


def gather(questions: Iterable[dict[str, Any]], data: NewDataset) -> None:
    """Add the questions; a paragraph that the corpus lacks is added to it.

    Examples
    --------
    >>> data = NewDataset()
    >>> paragraphs = [{"title": "A", "paragraph_text": "a is b", "is_supporting": True}]
    >>> gather([{"id": "2hop__1_2", "question": "?", "paragraphs": paragraphs, "answerable": True}], data)
    >>> data.queries["2hop__1_2"]["metadata"]
    {'hops': 2, 'type': '2hop'}
    """
    for row in questions:
        if row.get("answerable") is False:
            continue
        gold = []
        for paragraph in row["paragraphs"]:
            document = data.document(paragraph["title"], paragraph.get("paragraph_text") or paragraph["text"])
            if paragraph.get("is_supporting"):
                gold.append(document)
        kind = row["id"].split("__")[0]
        hops = int(kind[0]) if kind[:1].isdigit() else None
        data.query(row["id"], row["question"], gold, hops=hops or len(set(gold)), type=kind, answer=row.get("answer"))
