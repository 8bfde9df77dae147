"""Where one sentence goes on with another: "David lives in Bristol and Priya works at Southmead Hospital"."""

from __future__ import annotations

import re

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.words import words

_LAST_OF_LIST = compiled(r"(?: ,)? (?:and|&|und|et|y|e|en|sowie|plus) (?:the )?⟨(?:team )?\d+⟩$")
_WORD = compiled(r" (?:(?:also|now|still|auch|jetzt|noch) )?('s|[^\W\d_]+)")
_NAME = compiled(r"⟨(?:team )?\d+⟩")
_OF_ONE = words("is was has belongs runs lives leads owns sits stays works costs ist hat war läuft gehört liegt steht")
_VERBS = words(
    """
    is are was were has have had will would can could should does did 's went came ran took got gave left met sold
    bought works lives runs leads heads manages owns plays teaches takes goes comes sits stays wants likes keeps
    looks costs needs makes starts joined moved started joins studies handles reports chairs coaches sings retired
    resigned conducts belongs stands uses hosts covers
    ist sind war hat haben wird will kann soll zog kam ging arbeitet wohnt leitet läuft lebt
    spielt macht geht kommt zieht fährt übernimmt unterrichtet travaille habite vit trabaja vive lavora abita werkt
    woont
    """
)


def of_this_sentence(groups: dict[str, str | None], match: re.Match[str]) -> dict[str, str | None]:
    """Leave the last name of a list to the sentence that goes on with it.

    Examples
    --------
    >>> pattern = compiled(r"lives in (?P<o>⟨1⟩(?: and ⟨2⟩)?)")
    >>> for text in ("⟨0⟩ lives in ⟨1⟩ and ⟨2⟩ works at ⟨3⟩", "⟨0⟩ lives in ⟨1⟩ and ⟨2⟩ now"):
    ...     match = pattern.search(text)
    ...     print(of_this_sentence(match.groupdict(), match))
    {'o': '⟨1⟩'}
    {'o': '⟨1⟩ and ⟨2⟩'}
    """
    if (part := groups.get("s")) and _LAST_OF_LIST.search(part) and match.end("s") < match.end():
        after = _WORD.match(match.string, match.end("s"))
        # "Yusuf leads Ledger, and Vault belongs to Security": one of them does.
        if after and after[1] in _OF_ONE and part.startswith("⟨"):
            return {**groups, "s": _NAME.findall(part)[-1]}
    for key in ("o", "s"):
        part = groups.get(key)
        if not part or match.end(key) != match.end() or not (last := _LAST_OF_LIST.search(part)):
            continue
        after = _WORD.match(match.string, match.end())
        if after and after[1] in _VERBS:
            return {**groups, key: part[: last.start()]}
    return groups
