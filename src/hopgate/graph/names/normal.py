"""Names as they are compared: one spelling for each, and the tokens that carry its meaning."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from hopgate.extract.rules.plural import comparison_form

_DOTTED = re.compile(r"\b((?:\w\.)+\w?)(?=\W|$)")
_POSSESSIVE = re.compile(r"['’]s\b")
# Kept inside a name: letters, digits, the dot of a version, and the marks by which C++, C# and C differ.
_SEPARATOR = re.compile(r"[^\w.+#]|_|(?<!\d)\.|\.(?!\d)")
_ARTICLES = frozenset(("the", "a", "an"))
_NUMERAL = re.compile(r"v?\d[\w.]*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that join the parts of a name and name nothing themselves.
_JOINING = _words("the a an of and in on at for to by from with or de la le der")
# Forms of address, dropped before a name. Titles that are part of a name (king, queen, saint) are kept.
_HONORIFICS = _words("mr mrs ms miss dr prof professor sir president senator governor")
# Legal forms, dropped after a name.
_LEGAL_FORMS = _words("inc incorporated corp corporation co company ltd limited llc plc gmbh ag jr sr")
# One spelling for numbers, by which things of one name differ: World War II, the Second World War.
_NUMBERS = {
    **{"one": "1", "first": "1", "two": "2", "second": "2", "ii": "2", "three": "3", "third": "3", "iii": "3"},
    **{"four": "4", "fourth": "4", "iv": "4", "five": "5", "fifth": "5", "six": "6", "sixth": "6", "vi": "6"},
    **{"seven": "7", "seventh": "7", "vii": "7", "eight": "8", "eighth": "8", "viii": "8"},
    **{"nine": "9", "ninth": "9", "ix": "9", "ten": "10", "tenth": "10"},
}
_LAST_NUMBERS = {"i": "1", "v": "5", "x": "10"}
_MONTHS = _words("january february march april may june july august september october november december")
# Words that make another thing of a name: New England, East Germany, Old Testament.
_DISTINGUISHING = _words(
    "new old upper lower north south east west northeast northwest southeast southwest "
    "northern southern eastern western zweite zweiter zweites zweiten dritte dritter drittes dritten"
)


@lru_cache(maxsize=1 << 16)
def normalise(name: str) -> str:
    """Give the one spelling under which names that differ in case, accents and marks are the same.

    Examples
    --------
    >>> normalise("The  U.S. Navy's"), normalise("Pérez-Reverte"), normalise("C++"), normalise("Python 3.11")
    ('us navy', 'perez reverte', 'c++', 'python 3.11')
    """
    if name.isascii() and name.replace(" ", "").isalnum():
        # Nothing but letters, digits and spaces, as most names: one pass does all, and there are no marks to look for.
        return _without_articles(name.lower().split())
    # One pass may leave something for the next, such as a ligature: repeat until all is done.
    before, folded = name, _folded(name)
    while folded != before:
        before, folded = folded, _folded(folded)
    return folded


def _folded(name: str) -> str:
    # Most names are plain, and each step is taken only where there is something for it to do: this is called for every
    # name of every memory.
    if name.isascii():
        folded = plain = name.lower()
    else:
        folded = unicodedata.normalize("NFKD", name).casefold()
        plain = "".join(character for character in folded if not unicodedata.combining(character))
    if "'" in plain or "’" in plain:
        plain = _POSSESSIVE.sub("", plain)
    if "." in plain:
        plain = _DOTTED.sub(lambda found: found[0].replace(".", "") if not found[0][0].isdigit() else found[0], plain)
    return _without_articles(_SEPARATOR.sub(" ", plain).split()) or " ".join(folded.split())


def _without_articles(words: list[str]) -> str:
    # All articles before a name at once: a pass for each would take as many passes as somebody wrote articles.
    first = 0
    while first < len(words) - 1 and words[first] in _ARTICLES:
        first += 1
    return " ".join(words[first:])


@lru_cache(maxsize=1 << 16)
def tokens(name: str) -> tuple[str, ...]:
    """Give the tokens of a normalised name that carry its meaning, in order and each once.

    Joining words, forms of address before a name and legal forms after it go; plurals become singular and number words
    and Roman numerals digits. A name made of nothing else keeps all.

    Examples
    --------
    >>> tokens("bank of england"), tokens("president obama"), tokens("apple inc"), tokens("the the")
    (('bank', 'england'), ('obama',), ('apple',), ('the',))
    >>> tokens("world war ii"), tokens("second world war")
    (('world', 'war', '2'), ('2', 'world', 'war'))
    """
    words = [word for word in name.split() if word not in _JOINING] or name.split()
    while len(words) > 1 and words[0] in _HONORIFICS:
        words = words[1:]
    while len(words) > 1 and words[-1] in _LEGAL_FORMS:
        words = words[:-1]
    if len(words) > 1:
        words = [_NUMBERS.get(word, word) for word in words]
        words[-1] = _LAST_NUMBERS.get(words[-1], words[-1])
    return tuple(dict.fromkeys(comparison_form(word) for word in words))


def numbers(name_tokens: tuple[str, ...]) -> frozenset[str]:
    """Tokens that number or date a thing; a month counts beside a number only, for May and March are words and names.

    Examples
    --------
    >>> sorted(numbers(("january", "16", "1977"))), sorted(numbers(("may",)))
    (['16', '1977', 'january'], [])
    """
    found = {token for token in name_tokens if _NUMERAL.fullmatch(token)}
    return frozenset(found | (_MONTHS & set(name_tokens)) if found else found)


def markers(name_tokens: tuple[str, ...]) -> frozenset[str]:
    """Words like "new" and "east", with which a name is another thing than without.

    Examples
    --------
    >>> sorted(markers(("new", "england"))), sorted(markers(("new",)))
    (['new'], [])
    """
    return _DISTINGUISHING & frozenset(name_tokens) if len(name_tokens) > 1 else frozenset()


def clash(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether two names, by their tokens, name things that differ by a number or by a word like "new".

    Each with a number, and not the same one: two things. All they differ in is "new" or "east": two things. A number
    that only one of them has may be left out by the other.

    Examples
    --------
    >>> clash(("world", "war", "1"), ("world", "war", "2")), clash(("vlad", "3"), ("vlad",))
    (True, False)
    >>> clash(("england",), ("new", "england")), clash(("patriot",), ("new", "england", "patriot"))
    (True, False)
    """
    left, right = numbers(first), numbers(second)
    if left and right and left != right:
        return True
    odd = set(first) ^ set(second)
    return bool(odd) and odd <= _DISTINGUISHING


def initials(name: str) -> str:
    """First letters of a normalised name's meaning-carrying words; empty where there are fewer than two.

    Examples
    --------
    >>> initials("united states of america"), initials("obama")
    ('usa', '')
    """
    words = [word for word in name.split() if word not in _JOINING]
    return "".join(word[0] for word in words) if len(words) > 1 and all(word[0].isalpha() for word in words) else ""
