"""The kind of a mention, where its form or a fact about it shows it; a place is not guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from hopgate.extract.extraction import Fact
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.tokenise import letter
from hopgate.extract.rules.words import HONORIFICS

_FORMS = {"A": "acronym", "K": "identifier", "H": "host", "V": "version", "N": "number", "D": "date", "Y": "date"}
_CAMEL = compiled(r"[A-Z]?[a-z0-9]+(?:[A-Z][a-z0-9]*)+|\w*_\w+|[^\W\d]+[\d-]+\w*|\w+(?:\+\+|#)", re.ASCII)
_FILE = compiled(r"(?:~|\.{0,2}/).*|.*\.(?:py|md|json|jsonl|yaml|yml|toml|txt|sql|sh|js|ts|cfg|conf|ini|csv|log)")
# George T. Solomon, J. R. R. Tolkien.
_INITIALS = compiled(r"(?:[^\W\d_]\. ?)+[^\W\d_]{2,}(?:[ -][^\W\d_]+)*|[^\W\d_]{2,} [^\W\d_]\. [^\W\d_]{2,}")
_OF_PERSONS = ("married to", "child of", "sibling of")
_PERSON_SUBJECT = frozenset(
    ("born in", "date of birth", "died in", "date of death", "works for", "lives in", "studied at", *_OF_PERSONS)
)
_PERSON_OBJECT = frozenset(("parent of", "written by", "directed by", *_OF_PERSONS))


@lru_cache(maxsize=32768)
def kind_of(name: str, form: str = "", before: str = "") -> str:
    """Return the kind that a name's form shows, or an empty text.

    Examples
    --------
    >>> [kind_of(name) for name in ("NAS", "nas-2.local", "v1.25.3", "parse_date", "2024-03-01", "Berlin")]
    ['acronym', 'host', 'version', 'identifier', 'date', '']
    >>> kind_of("George T. Solomon"), kind_of("Curie", before="Dr."), kind_of("backup job", form="phrase")
    ('person', 'person', 'phrase')
    """
    if form in ("date", "phrase", "quote"):
        return {"quote": "title"}.get(form, form)
    first = name.split(" ", 1)[0].rstrip(".").lower()
    if (first in HONORIFICS and " " in name) or before.rstrip(".").lower() in HONORIFICS:
        return "person"
    if " " in name:
        return "person" if "." in name and _INITIALS.fullmatch(name) else ""
    if _FILE.fullmatch(name):
        return "identifier"
    kind = _FORMS.get(letter(name), "") if name else ""
    return kind if kind != "identifier" or _CAMEL.fullmatch(name) or not name[0].isupper() else ""


def kinds_from(facts: Iterable[Fact]) -> dict[str, str]:
    """Return the kinds that facts show: who is born, works or marries is a person.

    Examples
    --------
    >>> kinds_from([Fact("Ada", "works for", "Acme")])
    {'Ada': 'person'}
    """
    kinds: dict[str, str] = {}
    for fact in facts:
        if fact.relation in _PERSON_SUBJECT and fact.subject[:1].isupper():
            kinds[fact.subject] = "person"
        if fact.relation in _PERSON_OBJECT and fact.object[:1].isupper():
            kinds[fact.object] = "person"
    return kinds
