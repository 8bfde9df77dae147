"""An encoded sentence in plainer words: what people say in many ways and patterns need to know in one."""

from __future__ import annotations

import re
from collections.abc import Callable

_Change = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

# What opens a note without saying anything: "heads up, …", "update on gitea: …", a bullet, "so".
_OPENING = re.compile(
    r"^((?:⟨\d+⟩ : )?)(?:(?:[-*•–] )|(?:heads up|head 's up|fyi|psa|btw|by the way|quick update|quick note|small change|"
    r"good news|big news|news|update|updated|correction|note to self|note|nb|ps|ok|okay|so|well|anyway|also|finally|done|"
    r"memo|info|hinweis|übrigens|kurzes update|au fait|por cierto|trouwens)(?: :| ,| !| -| –)+ )+"
)
_ABOUT = re.compile(r"^((?:⟨\d+⟩ : )?)(?:quick )?(?:update|news|note|notes) (?:on|about|from|re) (⟨\d+⟩) [:,] ")
_CHANGES: tuple[_Change, ...] = (
    (re.compile(r"\b(is|are|was|were|do|does|did|has|have)n['’]t\b"), r"\1 not"),
    (re.compile(r"\bany ?longer\b|\banymore\b"), "any more"),
    # "is not on A any more" and "does not run on A any more" are "no longer".
    (re.compile(r"\b(is|are|'s|'m|'re) not ((?:[^\s,;:]+ ){1,9}?)any more\b"), r"\1 no longer \2"),
    (re.compile(r"\b(?:do|does) not ((?:[^\s,;:]+ ){1,9}?)any more\b"), r"no longer \1"),
    (re.compile(r"\b(?:these days|nowadays|for good|at the moment|with immediate effect|from here on|heutzutage)\b"), "now"),
    # When it happened, where no date is read from it, and other asides.
    (
        re.compile(
            r" (?:, )?(?:over the weekend|this (?:morning|afternoon|evening|week|weekend|month|time)|last (?:night|week|"
            r"weekend)|in the end|for once|by the way|btw|as planned|at (?:long )?last|once and for all|a while (?:ago|back)|"
            r"the other day|heute früh|letzte (?:nacht|woche)|cette semaine|la semaine dernière|esta semana|deze week)\b"
        ),
        "",
    ),
    # "the gitea container" is gitea.
    (re.compile(r"(⟨\d+⟩) (?:container|instance|stack|pod|deployment)\b"), r"\1"),
    (re.compile(r"^no more (?=⟨)"), "dropped "),
    (re.compile(r"\bhad to (?:move|migrate|relocate)\b"), "moved"),
    (re.compile(r"(⟨\d+⟩) and (?:his|her|their|its) (?:[^\W\d_]+ )?[^\W\d_]+ (?=moved|lives?|have|relocated|are)"), r"\1 "),
    (re.compile(r"\bnow now\b"), "now"),
)
_HINTS = re.compile(
    r"n['’]t\b| not |longer|anymore|these days|nowadays|for good|moment|immediate|here on|heutzutage|week|morning|evening|"
    r"afternoon|month|this time|night|in the end|once|the way|btw|planned|at last|long last|a while|other day|heute|nacht|"
    r"woche|semaine|semana|container|instance|stack|pod|deployment|^no more|had to| and (?:his|her|their|its) "
)
_BRACKETS = re.compile(r" \( (?:[^\s()]+ )*\)")
# ", my cousin ,": who somebody is, between commas.
_ASIDE = re.compile(r" , (?:formerly|previously|once|ex|my|our|his|her|the|an?) (?:[^\s,()]+ ){1,6},")


def plainly(text: str) -> str:
    """Say an encoded sentence in plainer words; its names, dates and amounts stay.

    Examples
    --------
    >>> plainly("heads up , ⟨0⟩ isn't on ⟨1⟩ anymore")
    '⟨0⟩ is no longer on ⟨1⟩'
    >>> plainly("update on ⟨0⟩ : ⟨1⟩ these days")
    '⟨0⟩ : ⟨1⟩ now'
    """
    plain = _ABOUT.sub(r"\1\2 : ", _OPENING.sub(r"\1", text, count=1), count=1)
    if _HINTS.search(plain):
        for pattern, instead in _CHANGES:
            plain = pattern.sub(instead, plain)
    return " ".join(plain.split())


def without_asides(text: str) -> str:
    """Leave out what stands in brackets or, as an aside, between commas; the text itself where nothing does.

    Examples
    --------
    >>> without_asides("⟨0⟩ ( recipes ) on ⟨1⟩"), without_asides("⟨0⟩ , my cousin , lives in ⟨1⟩")
    ('⟨0⟩ on ⟨1⟩', '⟨0⟩ lives in ⟨1⟩')
    """
    shorter = _BRACKETS.sub("", f" {text}") if " ( " in f" {text}" else text
    return (_ASIDE.sub("", shorter) if shorter.count(",") > 1 else shorter).strip()
