"""An encoded sentence in plainer words: what people say in many ways and patterns need to know in one."""

from __future__ import annotations

import re
from collections.abc import Callable

from hopgate.extract.rules.needed_texts import may_match, needed_texts
from hopgate.extract.rules.words import words

_Change = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

# What opens a note without saying anything: "heads up, …", "update on gitea: …", a bullet, "so".
_OPENING = re.compile(
    r"^((?:⟨\d+⟩ : )?)(?:(?:[-*•–] )|(?:heads up|head 's up|fyi|psa|btw|by the way|quick update|quick note|"
    r"small change|good news|big news|news|update|updated|correction|note to self|note|nb|ps|ok|okay|so|well|anyway|"
    r"also|finally|done|memo|info|hinweis|übrigens|kurzes update|au fait|por cierto|trouwens)(?: :| ,| !| -| –)+ )+"
)
_OPENERS = words(
    """
    - * • – heads head fyi psa btw by quick small good big news update updated correction note notes nb ps ok okay so
    well anyway also finally done memo info hinweis übrigens kurzes au por trouwens
    """
)
_ABOUT = re.compile(r"^((?:⟨\d+⟩ : )?)(?:quick )?(?:update|news|note|notes) (?:on|about|from|re) (⟨\d+⟩) [:,] ")
_CHANGES: tuple[_Change, ...] = (
    (re.compile(r"\b(is|are|was|were|do|does|did|has|have)(?:n't|n’t)\b"), r"\1 not"),
    (re.compile(r"\b(?:j'|j’)(?=[^\W\d_])"), "je "),
    (re.compile(r"\b(?:ne |n'|n’)([^\W\d_]+) plus\b"), r"no longer \1"),
    (re.compile(r"\bnon ([^\W\d_]+) più\b"), r"no longer \1"),
    (re.compile(r"\b(runs|running|run) off (?=the |my |our |an? |⟨)"), r"\1 on "),
    (re.compile(r"\b(?:project|projekt|projet|proyecto|progetto) (?=⟨)"), ""),
    (re.compile(r"\bany ?longer\b|\banymore\b"), "any more"),
    # "is not on A any more" and "does not run on A any more" are "no longer".
    (re.compile(r"\b(is|are|'s|'m|'re) not ((?:[^\s,;:]+ ){1,9}?)any more\b"), r"\1 no longer \2"),
    (re.compile(r"\b(?:do|does) not ((?:[^\s,;:]+ ){1,9}?)any more\b"), r"no longer \1"),
    (
        re.compile(r"\b(?:these days|nowadays|for good|at the moment|with immediate effect|from here on|heutzutage)\b"),
        "now",
    ),
    # When it happened, where no date is read from it, and other asides.
    (
        re.compile(
            r" (?:, )?(?:over the weekend|this (?:morning|afternoon|evening|week|weekend|month|time)|last (?:night|"
            r"week|weekend)|in the end|for once|by the way|btw|as planned|at (?:long )?last|once and for all|a while "
            r"(?:ago|back)|the other day|heute früh|letzte (?:nacht|woche)|cette semaine|la semaine dernière|"
            r"esta semana|deze week)\b"
        ),
        "",
    ),
    # "the gitea container" is gitea.
    (re.compile(r"(⟨\d+⟩) (?:container|instance|stack|pod|deployment|vm|lxc)\b"), r"\1"),
    (re.compile(r"(⟨\d+⟩) 's (?:container|instance|stack|pod|deployment|vm)\b"), r"\1"),
    (re.compile(r" in (?:an?|its own|the) (?:docker )?(?:container|vm|lxc|jail|pod)(?= on | auf )"), ""),
    (re.compile(r"^no more (?=⟨)"), "dropped "),
    (re.compile(r"\bhad to (?:move|migrate|relocate)\b"), "moved"),
    (
        re.compile(r"(⟨\d+⟩) and (?:his|her|their|its) (?:[^\W\d_]+ )?[^\W\d_]+ (?=moved|lives?|have|relocated|are)"),
        r"\1 ",
    ),
    # "on a new box, jade", "on a machine called jade".
    (
        re.compile(
            r"\b(on|onto|to|in|at) (?:an?|my|our|the) (?:[^\W\d_]+ |⟨\d+⟩ ){1,3}(?:, |, hostname |called |named )"
            r"(⟨\d+⟩)(?=$| [,;]| and| now)"
        ),
        r"\1 \2",
    ),
    # "on host jade", "on the server jade".
    (
        re.compile(
            r"\b(on|onto|to|from|off|auf|op|sur|su|en) (?:(?:the|a|an|my|our|der|dem|den|de|le|la|il|el) )?"
            r"(?:(?:new|old|little|small|big|neuen|alten|kleinen) )?"
            r"(?:host|node|vm|lxc|server|box|machine|pi|vps|rechner|serveur|servidor)(?: called| named| namens)? (?=⟨)"
        ),
        r"\1 ",
    ),
    (re.compile(r"\bnow now\b"), "now"),
)
# The words of the changes below, of which one is in every sentence that any of them changes.
_HINTS = words(
    """
    not longer anymore any off plus più project projekt projet proyecto progetto days nowadays good moment effect here
    heutzutage weekend morning afternoon evening week month time night end once way btw planned last while day früh
    nacht woche semaine semana container instance stack pod deployment vm lxc jail more had his her their its called
    named namens hostname host node server box machine pi vps rechner serveur servidor now
    """
)
# Each with what a text must hold for it: most sentences hold nothing of any.
_NEEDED = tuple((pattern, instead, needed_texts(pattern)) for pattern, instead in _CHANGES)
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
    plain = text
    if text.split(" ", 1)[0] in _OPENERS or " : " in text[:12]:
        plain = _ABOUT.sub(r"\1\2 : ", _OPENING.sub(r"\1", text, count=1), count=1)
        plain += " now" if text.startswith("correction ") and plain != text else ""  # what was held is so no longer
    if "'" in plain or "’" in plain or ", ⟨" in plain or not _HINTS.isdisjoint(plain.split()):
        for pattern, instead, needs in _NEEDED:
            if may_match(needs, plain):
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
