"""HippoRAG's extraction results: passages with `extracted_entities` and `extracted_triples`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from hopgate.eval.data.new_dataset import NewDataset


def gather(documents: Iterable[dict[str, Any]], data: NewDataset) -> Iterator[dict[str, str]]:
    r"""Give a `triples.jsonl` row for every fact and mention of a passage that is in the corpus.

    A triple that is not three texts (models write such) is left out, and so are repeated ones.

    Examples
    --------
    >>> data = NewDataset()
    >>> _ = data.document("A", "a is b")
    >>> list(gather([{"passage": "A\na is b", "extracted_entities": ["b"], "extracted_triples": [["a", "is"]]}], data))
    [{'doc_id': 'd000000', 'entity': 'b'}]
    """
    for document in documents:
        title, _, text = document["passage"].partition("\n")
        name = data.find(title.strip(), text)
        if name is None:
            continue
        seen = set()
        for triple in document.get("extracted_triples", ()):
            parts = tuple(part.strip() for part in triple if isinstance(part, str) and part.strip())
            if len(parts) == 3 and parts not in seen:
                seen.add(parts)
                yield {"doc_id": name, "subject": parts[0], "relation": parts[1], "object": parts[2]}
        for entity in dict.fromkeys(document.get("extracted_entities", ())):
            if isinstance(entity, str) and entity.strip():
                yield {"doc_id": name, "entity": entity.strip()}
