"""Whether a value stands in a sentence that is said for good: not denied, dreamt, merely thought of, or of a copy."""

from __future__ import annotations

from collections.abc import Iterable

from hopgate.extract.rules.change_words import doubts_another, is_doubtful
from hopgate.extract.rules.clauses import Clause, clauses
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.untold import is_doubted_in_words, telling
from hopgate.extract.rules.words import TITLES, words

_WORD = compiled(r"[^\W_]+")
# "Wir haben überlegt, ob Oma ins Seniorenheim zieht"
_ONLY_THOUGHT = compiled(
    r"\b(?:apparently|überleg(?:t|en|ten)|ob|whether|thinking (?:of|about)|considered|considering|toying|wondering)\b"
)
_MARK = compiled(r"[⟨⟦⟪][^⟩⟧⟫]*[⟩⟧⟫]")
_COPY = compiled(r"\b(?:copy|copies|copied|kopien?|kopiert|mirror|snapshots?)\b")
_COPIED = words("copied copies copy rsynced mirrored synced kopie kopien kopiert")


def is_credible(value: str, parts: list[Clause], *, though_doubted: bool) -> bool:
    """Whether a value stands in a sentence that the rules do not take for denied, dreamt, undone or hearsay."""
    told, doubted = telling(parts)
    kept = [part for part in told if not _ONLY_THOUGHT.search(part.text)]
    left_out = [part for part in doubted if not though_doubted or is_doubted_in_words(part.text)]
    words = {word for part in kept if part not in left_out for word in _words_of(part)}
    return words >= set(_WORD.findall(value.casefold())) - TITLES


def are_doubted(values: Iterable[str], parts: list[Clause]) -> bool:
    """Whether a note has words of plans, copies, visits or doubt beside some values, or of what it says of them."""
    words = {word for value in values for word in _WORD.findall(value.casefold())}
    return any(is_doubtful(part) if words & _words_of(part) else doubts_another(part) for part in parts)


def _words_of(clause: Clause) -> set[str]:
    """The words of a sentence, those of its names among them."""
    names = (clause.reading.spans[number] for number in clause.spans(clause.text))
    said = (
        _MARK.sub(" ", clause.text),
        *(token for span in names for token in clause.reading.lower[span.start : span.end]),
    )
    return {word for text in said for word in _WORD.findall(text.casefold())}


def is_of_copy(value: str, reading: Reading) -> bool:
    """Whether a note says a value of a copy alone: "Hannes hat eine Kopie der Protokolle auf dachs gezogen"."""
    named = set(_WORD.findall(value.casefold()))
    held = [clause.text for clause in clauses(reading) if named & _words_of(clause)]
    return bool(held) and all(map(_COPY.search, held))


def tells_copy(now: Reading, before: Reading) -> bool:
    """Whether a note tells of a copy, which leaves the thing where it was, and the earlier one does not."""
    return not _COPIED.isdisjoint(now.lower) and _COPIED.isdisjoint(before.lower)
