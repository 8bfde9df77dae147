"""HotpotQA and 2WikiMultiHopQA: questions with a `context` of titles and sentences, and `supporting_facts`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hopgate.errors import HopgateError
from hopgate.eval.data.new_dataset import NewDataset


def gather(questions: Iterable[dict[str, Any]], data: NewDataset) -> None:
    """Add the questions; a paragraph that the corpus lacks is added to it.

    Both the authors' layout (pairs) and the parallel lists of the data set hubs are read.

    Examples
    --------
    >>> data = NewDataset()
    >>> row = {"_id": "q", "question": "?", "type": "bridge", "context": [["A", ["One.", "Two."]], ["B", ["Three."]]]}
    >>> gather([row | {"supporting_facts": [["B", 0]]}], data)
    >>> data.gold, data.corpus["d000000"]["text"]
    ({'q': {'d000001': 1}}, 'One. Two.')
    """
    for row in questions:
        name = row.get("_id") or row["id"]
        documents: dict[str, str] = {}
        for title, sentences in _pairs(row["context"], "title", "sentences"):
            documents.setdefault(title, data.document(title, joined(sentences)))
        gold = []
        for title, _ in _pairs(row["supporting_facts"], "title", "sent_id"):
            if title not in documents:
                raise HopgateError(f"the question {name!r} is supported by {title!r}, which its context lacks")
            gold.append(documents[title])
        data.query(name, row["question"], gold, type=row.get("type"), answer=row.get("answer"))


def joined(sentences: list[str] | str) -> str:
    """Put sentences together: HotpotQA's carry their own spaces, 2WikiMultiHopQA's do not.

    Examples
    --------
    >>> joined(["One.", " Two."]), joined(["One.", "Two."])
    ('One. Two.', 'One. Two.')
    """
    if isinstance(sentences, str):
        return sentences
    return " ".join(sentence.strip() for sentence in sentences if sentence.strip())


def _pairs(value: Any, first: str, second: str) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return list(zip(value[first], value[second], strict=True))
    return [(pair[0], pair[1]) for pair in value]
