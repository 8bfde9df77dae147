"""What a part of a sentence is about, by its names and common nouns: "the wiki", "the Postgres database", "we"."""

from __future__ import annotations

from collections.abc import Iterator

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import LANGUAGES, table
from hopgate.extract.rules.parts_of_things import is_itself, is_part
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.words import words

MOST_WORDS = 4
_WORD = compiled(r"[^\W\d_][\w'’-]*|\d+[^\W\d_][\w-]*")
_ARTICLES = words(
    """
    the a an my our your his her its their this that der die das den dem des ein eine einen mein meine unser unsere le
    la les un une mon ma notre el los las una mi nuestro nuestra il lo mio mia de het een mijn onze
    """
)
_MINE = words("my our mein meine unser unsere mon ma notre mi nuestro nuestra mio mia mijn onze")
_WHOSE = words("his her their")
_ADJECTIVES = words("old new newer current former own whole entire little big small alte alten neue neuen neuer neues")
_MOVED = frozenset(
    form.rpartition("_")[2] for name in ("moved", "installed", "handed") for form in table("verbs")[name].split()
) | words("putting moving changed raised pushed extended postponed rescheduled swapped took brought cut over got")
_VERBS = frozenset(form.split("_")[0] for forms in table("verbs").values() for form in forms.split())
# A noun ends before these.
_STOP = (
    frozenset().union(*(language.function for language in LANGUAGES.values()))
    | words(table("changes")["change"])
    | (_VERBS - words("lead leader head coach owner president captain partner boss chair editor"))
    | words(
        """
        goes went go gone going sits stands hangs stays starts started begins began got gets getting gives given gave
        made makes comes came rose rises raised increased increases costs cost due happens slipped pushed extended
        postponed rescheduled delayed brought cut died broke failed deadlines meets met leads heads sold bought
        these those here there today yesterday last week month ab vom zum ist sind wird wurde steht läuft kostet
        works work put putting ended hers ours mine wedding's feel feels felt feeling behaves much so far happier better
        snappier faster quicker smoother quieter cooler nicer down up over back out off away beside next
        reports reporting
        """
    )
)
_BEFORE_OTHERS = words(
    """
    to into onto in on at from off with by as than via near under behind inside about until till beside opposite above
    unlike neben hinter naast nach auf in im von bei
    mit zu zum zur aus à au dans chez sur en a al da di su naar op bij van
    """
)
_OF = words("de du del di von van")
_PHRASAL = words("took takes taken taking hands handed passed passes gave looks looking charge responsible picked")
# "the host of gitea", "gitea's address": what is told of the host is told of gitea.
PROPERTY = words(
    """
    host server machine box node home place spot office offices base headquarters hq employer job lead leader owner
    ownership boss manager address flat price fee deadline endpoint location position leadership management seat town
    city company workplace
    """
)
KINSHIP = words(
    """
    sister brother mother father mum mom dad wife husband son daughter cousin boyfriend girlfriend parents aunt
    uncle niece nephew twins kids children grandson granddaughter grandmother grandfather grandma grandpa granddad
    grandad granny gran nan schwester bruder mutter vater frau mann zwillinge kinder sohn tochter tante onkel sœur
    frère mère père fils fille hermana hermano madre padre hijo hija zus broer moeder vader sorella fratello
    """
)
"""Who somebody is called by what they are to us."""
_KIN = KINSHIP | words(
    """
    friend friends partner
    neighbour neighbours neighbor neighbors colleague colleagues parents aunt uncle niece nephew guy man woman team
    schwester bruder mutter vater frau mann freund freundin sœur frère hermana hermano zus broer sorella fratello
    grandson granddaughter ex roommate flatmate landlord landlady boss kid kids
    """
)


def subjects_of(part: str, who: Referents) -> Iterator[tuple[str, ...]]:
    """Yield what a part of an encoded sentence may be about, each with other forms of its name: see `named_parts`."""
    return (forms for _, forms in named_parts(part, who))


def named_parts(part: str, who: Referents) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield what a part of an encoded sentence may be about, each with other forms of its name and where it ends.

    Who or what a preposition stands before is not it, and of "Nadia's sister" it is neither.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> source = Source("m1", Cleared("The Postgres database went to Kiruna, Nadia's sister moved."))
    >>> who = Referents(read(source), source)
    >>> list(named_parts("the ⟨0⟩ database went to ⟨1⟩", who)), list(named_parts("⟨2⟩ 's sister moved", who))
    ([(3, ('Postgres database', 'Postgres'))], [])
    """
    said = part.replace("⟨team ", "⟨").split()
    at = 0
    while at < len(said):
        before = said[at - 1] if at else ""
        if at and said[at] in _OF and said[at + 1 : at + 2] and said[at + 1][0] == "⟨":
            at += 2
            continue  # "la sœur de Camille"
        article = said[at] in _ARTICLES
        if said[at] in _WHOSE and at + 1 < len(said):
            at += 1
            while at < len(said) and (said[at][0] == "⟨" or _is_noun(said[at])):
                at += 1
            continue  # "Tomas moved his gitea", "the school moved their file server"
        if (
            before in ("of", "for")
            and said[at - 2 : at - 1]
            and _is_noun(said[at - 2])
            and said[at - 2] not in PROPERTY
        ):
            at += 1 + (said[at] in _ARTICLES)
            continue  # "the presentation of the report"
        phrasal = at > 1 and said[at - 2] in _PHRASAL
        if (before in _BEFORE_OTHERS and not phrasal) or not (
            article
            or not at
            or said[at][0] == "⟨"
            or before in _MOVED
            or before in (":", "(", "of", "for", "and", "'s")
            or phrasal
        ):
            at += 1
            continue
        start = at + article
        end = start
        while end < len(said) and end - start < MOST_WORDS and (said[end][0] == "⟨" or _is_noun(said[end])):
            end += 1
        if said[end : end + 1] == ["'s"]:
            owner = who.names_of(said[end - 1]) if end > start else ()
            noun = said[end + 1] if end + 1 < len(said) else ""
            if owner and noun in PROPERTY:
                yield end + 2, owner
            at = end + 2 if noun in _KIN else end + 1
            somebody = bool(owner) and who.is_person(owner[0]) and not who.is_owner(owner[0])
            # "the Visser family's boat", but "our team's wiki"
            several = not owner and any(word[0] == "⟨" for word in said[start:end])
            if noun not in PROPERTY and (somebody or several):
                while at < len(said) and (_is_noun(said[at]) or said[at][0] == "⟨"):
                    at += 1  # "Mia's passport" is not the passport
            continue
        if end > start and not (before == "'s" and said[start] in PROPERTY):
            forms = _forms(said[start:end], mine=article and said[at] in _MINE, who=who)
            yield from ((end, one) for one in forms)
        at = max(end, at + 1)


def _is_noun(word: str) -> bool:
    return word not in _STOP and bool(_WORD.fullmatch(word)) and not word.endswith("n't")


def _forms(said: list[str], *, mine: bool, who: Referents) -> Iterator[tuple[str, ...]]:
    while len(said) > 1 and (said[0] in _ADJECTIVES):
        said = said[1:]
    if said[0] in _ADJECTIVES or (said[-1] in _KIN and not (mine and len(said) == 1 and said[0] in KINSHIP)):
        return
    if len(said) == 1 and said[0] in PROPERTY and not mine:
        return
    names = [who.names_of(word) if word[0] == "⟨" else (word,) for word in said]
    if not all(names):
        return
    whole = " ".join(name[0] for name in names)
    forms = [whole]
    if len(said) > 1 and is_part(said[-1]):  # "the NAS manual" says nothing of the NAS
        yield (whole,)
        return
    if said[-1] in PROPERTY and len(said) > 1:
        forms.append(whole.rpartition(" ")[0])
    if said[0][0] == "⟨" and len(said) > 1 and all(word in PROPERTY or is_itself(word) for word in said[1:]):
        forms.append(names[0][0])
    if len(said) == 1 and said[0] in PROPERTY and mine:
        forms.append(who.first_person)
    yield tuple(dict.fromkeys(forms))
