"""Where one sentence goes on with another: "David lives in Bristol and Priya works at Southmead Hospital"."""

from __future__ import annotations

import re

from hopgate.extract.rules.words import words

_LAST_OF_LIST = re.compile(r"(?: ,)? (?:and|&|und|et|y|e|en|sowie|plus) (?:the )?⟨(?:team )?\d+⟩$")
_WORD = re.compile(r" (?:(?:also|now|still|has|have|auch|jetzt|noch) )?('s|[^\W\d_]+)")
_VERBS = words(
    """
    is are was were has have had will would can could should does did 's went came ran took got gave left met sold
    bought wants ist sind war waren hat haben wird werden will kann soll zog kam ging
    """
)
_NO_VERBS = words(
    """
    always sometimes as its this thus besides perhaps yes towards afterwards nowadays days weeks months years
    jetzt zuletzt nicht statt anstatt derzeit seit mit
    """
)


def of_this_sentence(groups: dict[str, str | None], match: re.Match[str]) -> dict[str, str | None]:
    """Leave the last name of a list to the sentence that goes on with it.

    Examples
    --------
    >>> pattern = re.compile(r"lives in (?P<o>⟨1⟩(?: and ⟨2⟩)?)")
    >>> for text in ("⟨0⟩ lives in ⟨1⟩ and ⟨2⟩ works at ⟨3⟩", "⟨0⟩ lives in ⟨1⟩ and ⟨2⟩ now"):
    ...     match = pattern.search(text)
    ...     print(of_this_sentence(match.groupdict(), match))
    {'o': '⟨1⟩'}
    {'o': '⟨1⟩ and ⟨2⟩'}
    """
    for key in ("o", "s"):
        part = groups.get(key)
        if not part or match.end(key) != match.end() or not (last := _LAST_OF_LIST.search(part)):
            continue
        after = _WORD.match(match.string, match.end())
        if after and _is_verb(after[1]):
            return {**groups, key: part[: last.start()]}
    return groups


def _is_verb(word: str) -> bool:
    return word in _VERBS or (len(word) > 3 and word.endswith(("s", "ed", "t")) and word not in _NO_VERBS)
