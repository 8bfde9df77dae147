"""Several memories in one call: which go together, and which entry of the answer is whose."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hopgate.extract.extraction import Extraction, Source
from hopgate.extract.model.answer import read_answer
from hopgate.extract.model.repair import first_json, without_thoughts

# Texts of one call together: some 3,000 tokens, so that the answer has room in a context of 8,192.
MAX_CHARACTERS = 12_000
# What an answer about one short memory may take, in tokens, and what a call may ask for at most.
TOKENS_EACH = 400
MOST_TOKENS = 8192


def grouped(sources: Sequence[Source], most: int) -> Iterator[list[Source]]:
    """Put sources together, in order: at most `most`, and not more text than a call should have.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> texts = [Source(number, Cleared("x" * size)) for number, size in enumerate((10, 20, 11_990, 5))]
    >>> [[source.memory_id for source in group] for group in grouped(texts, 3)]
    [[0, 1], [2, 3]]
    """
    group: list[Source] = []
    for source in sources:
        length = sum(len(one.text) for one in group)
        if group and (len(group) == most or length + len(source.text) > MAX_CHARACTERS):
            yield group
            group = []
        group.append(source)
    if group:
        yield group


def extract_grouped(
    sources: Sequence[Source],
    most: int,
    ask_several: Callable[[Sequence[Source]], Sequence[Extraction | None]],
    ask: Callable[[Source], Extraction],
) -> list[Extraction]:
    """Ask about groups of sources, and by itself about whatever that did not answer; one extraction each, in order."""
    found: list[Extraction] = []
    for group in grouped(sources, most):
        together = ask_several(group) if len(group) > 1 else [None] * len(group)
        found += [one if one is not None else ask(source) for source, one in zip(group, together, strict=True)]
    return found


def shared_out(found: Sequence[Extraction | None], prompt_tokens: int, answer_tokens: int) -> list[Extraction | None]:
    """Charge the tokens of one call to the sources that it was about, in equal parts.

    Examples
    --------
    >>> [one and one.tokens for one in shared_out([Extraction(), None, Extraction()], 10, 5)]
    [6, None, 4]
    """
    shares = [divmod(count, len(found)) for count in (prompt_tokens, answer_tokens)]
    return [one and one.spent(*(share + (number < rest) for share, rest in shares)) for number, one in enumerate(found)]


def read_several(answer: str, sources: Sequence[Source], *, cut: bool = False) -> list[Extraction | None]:
    """Give each source its entry of the answer, grounded in its own text alone; None where it has none that is whole.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> two = [Source("a", Cleared("Ada owns the NAS.")), Source("b", Cleared("It hums."))]
    >>> entry = {"id": "1", "mentions": [{"name": "Ada", "kind": "person"}], "facts": []}
    >>> [one and one.mentions[0].name for one in read_several(json.dumps({"memories": [entry]}), two)]
    ['Ada', None]
    """
    known = entries_by_id(answer, cut=cut)
    return [
        read_answer(json.dumps(known[key]), source) if (key := str(number)) in known else None
        for number, source in enumerate(sources, start=1)
    ]


def entries_by_id(answer: str, *, cut: bool = False) -> dict[str, dict[str, Any]]:
    """Give the entries of an answer about several memories that are whole, by the ids that were told to the model.

    Examples
    --------
    >>> entries_by_id('{"memories": [{"id": "1", "facts": []}, {"id": "2"}, {"id": 2}]}')
    {'1': {'id': '1', 'facts': []}}
    """
    text, _ = without_thoughts(answer)
    found = first_json(text, ("memories",))
    value, broken = found if found else ({}, True)
    entries = value.get("memories") if isinstance(value, dict) else value
    whole = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    if (broken or cut) and whole:
        # The last one may have lost its end.
        whole.pop()
    ids = [str(entry.get("id")) for entry in whole]
    # An id that comes twice says nothing about which of the two was meant.
    return {key: entry for key, entry in zip(ids, whole, strict=True) if ids.count(key) == 1}
