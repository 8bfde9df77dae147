"""What somebody or something has one of, a dentist, a bank, a port, by the words for it (`tables/roles.toml`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hopgate.extract.rules.clauses import NAME
from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.reading import Reading

LONGEST_ROLE = 2


@dataclass(frozen=True, slots=True)
class Role:
    """A relation, `has …`, and of what sort what it leads to is: a person, a provider, one of several, or a code."""

    relation: str
    sort: str


@dataclass(frozen=True, slots=True)
class RoleAt:
    """A role's words in a sentence, as places in it."""

    role: Role
    start: int
    end: int


_TABLE = table("roles")


def _roles() -> dict[str, Role]:
    return {
        form.replace("_", " "): Role(f"has {name}", sort)
        for sort in ("person", "provider", "several", "code")
        for name, forms in _TABLE[sort].items()
        for form in forms.split()
    }


ROLES = _roles()
ROLE_RELATIONS = tuple(dict.fromkeys(role.relation for role in ROLES.values()))
"""The relations of roles: somebody or something has one at a time."""
SEVERAL = tuple(dict.fromkeys(role.relation for role in ROLES.values() if role.sort in ("several", "code")))
"""Those of which one may have several, so that only a change that is told ends one."""
ALSO = {
    word: tuple(Role(f"has {name.replace('_', ' ')}", "provider") for name in names.split())
    for word, names in _TABLE["also"].items()
}
"""What a word may mean as well where a change is told."""
ROLE_WORDS = frozenset(form.rpartition(" ")[2] for form in ROLES)
"""The last words of roles: without one of them there is none."""
ROLE_HINTS = ROLE_WORDS | {f"{word}s" for word in ROLE_WORDS} | frozenset(ALSO)
"""The words of which a memory has one that tells of a role."""


def with_role_words(text: str, reading: Reading) -> str:
    """An encoded sentence with names that are words for roles, "GP", as words.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> with_role_words("⟨0⟩ is our ⟨1⟩", read(Source("m1", Cleared("Dr Fraser is our GP."))))
    '⟨0⟩ is our gp'
    """

    def word(match: re.Match[str]) -> str:
        name = reading.spans[int(match[1])].name.lower()
        return name if name in ROLE_WORDS else match[0]

    return NAME.sub(word, text) if "⟨" in text else text


def roles_in(words: list[str]) -> Iterator[RoleAt]:
    """Find the roles of a sentence, the longest form that ends at a word; after "changed" also in the plural.

    Examples
    --------
    >>> [found.role.relation for found in roles_in("my car insurance is with ⟨0⟩".split())]
    ['has car', 'has car insurance']
    >>> [found.role.relation for found in roles_in("changed dentists , i go to ⟨0⟩ now".split())]
    ['has dentist']
    """
    for at, word in enumerate(words):
        last = word
        if word not in ROLE_WORDS:
            last = word.removesuffix("s")
            if not at or last not in ROLE_WORDS or words[at - 1] not in _CHANGED:
                continue
        for length in range(LONGEST_ROLE, 0, -1):
            start = at + 1 - length
            if start >= 0 and (role := ROLES.get(" ".join((*words[start:at], last)))):
                yield RoleAt(role, start, at + 1)
                break


_CHANGED = frozenset(("changed", "switched", "changing", "swapped"))
