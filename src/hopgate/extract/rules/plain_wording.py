"""An encoded sentence in plainer words: what people say in many ways and patterns need to know in one."""

from __future__ import annotations

from functools import lru_cache

from hopgate.extract.rules.kept_patterns import compiled, needs_of
from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.needed_texts import may_match
from hopgate.extract.rules.words import words

# What opens a note without saying anything: "heads up, …", "update on gitea: …", a bullet, "so".
_OPENING = compiled(
    r"^((?:(?:⟨\d+⟩|[^\W\d_]+) : )?)"
    r"(?:(?:[-*•–] )|(?:heads up|head 's up|fyi|psa|btw|by the way|quick update|quick note|"
    r"small change|good news|big news|news|update|updated|correction|note to self|note|nb|ps|ok|okay|so|well|anyway|"
    r"also|finally|done|memo|info|hinweis|übrigens|kurzes update|au fait|por cierto|trouwens)(?: :| ,| !| -| –)+ |"
    r"(?:ok|okay|hey|oh|well) (?=so |the |our |my |⟨)|"
    r"so (?=[^\W\d_]+ (?:is|are|moves|moved|has|starts|costs|meets)\b))+"
)
_OPENERS = words(
    """
    - * • – heads head fyi psa btw by quick small good big news update updated correction note notes nb ps ok okay so
    well anyway also finally done hey oh memo info hinweis übrigens kurzes au por trouwens
    """
)
_ABOUT = compiled(r"^((?:⟨\d+⟩ : )?)(?:quick )?(?:update|news|note|notes) (?:on|about|from|re) (⟨\d+⟩) [:,] ")
# The words of these changes, of which one is in every sentence that any of them changes.
_HINTS = words(
    """
    erreichbar erreichen als
    not longer anymore any off plus più project projekt projet proyecto progetto days nowadays good moment effect
    here heutzutage weekend morning afternoon evening week month time night end once way btw planned last while day
    früh nacht woche jahren arbeitet übersiedelt gezogen vorsitzende vorsitzender leiter leiterin semaine semana
    container instance stack pod deployment vm lxc jail more had his her their its called being instant temporarily
    provisionally testweise probeweise vorübergehend einstweilen provisorisch übergangsweise weiteres provisoirement
    temporairement ahora momento temporalmente provisionalmente tijdelijk voorlopig temporaneamente ora
    provvisoriamente named namens hostname host node server box machine pi vps rechner serveur servidor now plan
    monat vorerst vorläufig put say claim well reckon rumour rumor word hear vivo vivimos abito abitiamo viviamo
    trabajo lavoro woon wonen werk travaille arbeite mudado mudé mudamos déménagé verhuisd trasferito trasferita
    trasferiti trasferite naar come instead rather today term season back forward out up started home yeah kidding
    jk dreams wish want lack umgezogen wohne wohnen finished completed done after following with since starting
    beginning effective address ip kids moved moving joined living working left switched year who that getting mit
    buying ordering been gewechselt changed swapped changé cambiado monday tuesday wednesday thursday friday
    aprilscherz scherz witz april joke gegenüber nebenan across opposite upstairs downstairs door glück luckily
    thankfully fortunately kostet costs name rent nimmer kinder kindern jungs mädels buben familie
    zwillinge zwillingen eltern nehm nehme nutz nutze verwende benutz benutze nehmen nutzen verwenden benutzen alle
    nachts täglich nightly daily every doesnae isnae hasnae wasnae didnae havenae werenae wouldnae couldnae
    shouldnae number nummer nr no
    saturday sunday going ruhestand rente pension löst erhöht angehoben gesenkt kandidiert nach
    """
)
# Each with what a text must hold for it: most sentences hold nothing of any.
_NEEDED = tuple(
    (regex, instead, needs_of(regex))
    for regex, instead in ((compiled(pattern), instead) for pattern, instead in table("plainer")["changes"])
)
_BRACKETS = compiled(r" \( (?:[^\s()]+ )*\)")
# ", my cousin ,": who somebody is, between commas.
_ASIDE = compiled(r" , (?:formerly|previously|once|ex|my|our|his|her|the|an?) (?:[^\s,()]+ ){1,6},")


@lru_cache(maxsize=4096)
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
