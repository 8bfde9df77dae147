"""What a sentence states in words of its own, said in those that `stated_sentence` knows."""

from __future__ import annotations

import re

from hopgate.extract.rules.clauses import NAME
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.places import is_room
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.words import words

# "Die Wartung der USV macht jetzt Firma Janssen", "den Ersatzschlüssel hat Torben", "USV: Wartung macht Behrens"
_ONE = r"(?:[^\W\d_][\w-]+|⟨\d+⟩)"
_SOMEBODY_DOES = compiled(
    rf"(?:(?P<of>{_ONE}) : )?(?:(?P<the>den|die|das) )?(?P<what>[^\W\d_][\w-]+)"
    rf"(?: (?:der|des|vom|zum|zur|von der|von den|für den|für die|für das) (?P<whose>{_ONE}))? "
    r"(?P<verb>macht|hat|übernimmt|betreut|erledigt|verwaltet|führt) (?P<now>jetzt |nun |ab sofort )?"
    r"(?:(?:der|die) (?=⟨))?(?P<who>⟨\d+⟩|firma [^\W\d_]+)(?: (?:aus|von|vom|in) ⟨\d+⟩)?(?P<rest>(?: ,.*)?)"
)
# "In der Praxis nutzen wir Theorg", "at the practice we use Theorg"
_WE_USE = compiled(
    r"(?:in|at|for|für) (?:(?:the|der|dem|die|das|den) )?(?P<what>[^\W\d_]+) "
    r"(?:(?:be)?nutzen wir|verwenden wir|we use) (?P<now>now |jetzt |nun )?(?P<value>⟨\d+⟩)"
)
# "I'm in Room 14", "ich sitze jetzt in Raum 308"
_WE_SIT = compiled(
    r"(?:(?:umzug|umgezogen|moved|new office|neues büro)[^:]{0,30} : )?(?:i|ich) (?:'m|am|sit|work|sitze|bin) "
    r"(?P<now>now |jetzt |nun )?(?:in|im) (?P<room>(?:⟨\d+⟩|(?:room|raum|zimmer|office) [\w.]+))"
    r"(?: ,.*| with .*| mit .*)?"
)
_AWAY = words("hospital hotel hostel ward clinic krankenhaus klinik uniklinik escape court gericht")
# "Der Bulli ist bei der HUK versichert"
_INSURED = compiled(
    r"(?:der|die|das|meine?|unsere?) (?P<what>[^\W\d_][\w-]+) (?:ist|sind) (?P<now>jetzt |nun )?"
    r"bei (?:der |dem )?(?P<with>⟨\d+⟩) versichert(?: ,.*)?"
)
# "Joyce no longer has my spare key, Bex has it"
_HAS_IT = compiled(
    r"(?P<former>⟨\d+⟩) (?:no longer ha(?:s|ve)|does n't have|does not have) (?P<what>(?:the|my|our) [^,;]+?)"
    r"(?: any more)? , (?P<who>⟨\d+⟩) (?:has|'s got|has got) (?:it|them)(?: now)?"
)
# "Den Schlüssel hat nicht mehr der Bernd, sondern der Flo", "Hausschlüssel: den hat nicht mehr …"
_NOT_BUT = compiled(
    r"(?:(?P<of>[^\W\d_][\w-]+) : )?(?:den|die|das) (?:(?P<what>[^\W\d_][\w-]+) )?"
    r"(?:macht|hat|führt|betreut|leitet) (?:jetzt )?nicht mehr (?:der |die )?(?P<former>⟨\d+⟩) , sondern (?:jetzt )?"
    r"(?:der |die )?(?P<who>⟨\d+⟩)"
)
# "Passwortmanager ist bei mir KeePass"
_WITH_ME = compiled(
    r"(?P<what>[^\W\d_][\w-]+) ist bei (?:mir|uns) (?P<now>jetzt |nun )?(?P<value>⟨\d+⟩)(?P<rest>(?: ,.*)?)"
)
# "Farah has taken over from Denise as practice manager"
_TOOK_OVER = compiled(
    r"(?P<who>⟨\d+⟩) (?:(?:has|is) )?(?:taken|took|takes|taking) over from (?P<former>⟨\d+⟩) as "
    r"(?:(?:the|our) )?(?P<what>[^\W\d_]+(?: [^\W\d_]+)?)(?: ,.*)?"
)
_NOT_DONE = words(
    """
    niemand keiner wer was nichts angst recht hunger durst geburtstag schuld sorgen pause polizei lust zeit glück pech
    urlaub fieber grippe besuch spaß freude frei
    """
)
_NOT_MEANT = compiled(r" , (?:der|die|das|haha|lol|bis|aber|nur)\b|\b(?:wär|wäre|zurück|witz|scherz)\b")


def in_known_words(text: str, reading: Reading) -> str:  # noqa: PLR0911 - a table
    """A sentence of these kinds in words that are known, every other as it is.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> reading = read(Source("m1", Cleared("Die Steuer macht jetzt Herr Hampe.")))
    >>> in_known_words("die steuer macht jetzt ⟨0⟩", reading)
    'die steuer is now done by ⟨0⟩'
    """
    if reading.code == "de" and (does := _SOMEBODY_DOES.fullmatch(text)) and _is_done(does):
        whose = does["whose"] or does["of"]
        what = f"{does['what']} of {whose}" if whose else does["what"]
        return f"die {what} is {'now ' * bool(does['now'])}done by {does['who']}"
    if reading.code == "de" and (insured := _INSURED.fullmatch(text)):
        return f"die versicherung of {insured['what']} is {'now ' * bool(insured['now'])}{insured['with']}"
    if (not_but := _NOT_BUT.fullmatch(text)) and (not_but["of"] or not_but["what"]):
        what = not_but["what"] or not_but["of"]
        return f"{not_but['who']} has my {what} now instead of {not_but['former']}"
    if with_me := _WITH_ME.fullmatch(text):
        return f"my {with_me['what']} is {'now ' * bool(with_me['now'])}{with_me['value']}"
    if has := _HAS_IT.fullmatch(text):
        return f"{has['who']} has {has['what']} now instead of {has['former']}"
    if took := _TOOK_OVER.fullmatch(text):
        return f"the {took['what']} is now {took['who']} instead of {took['former']}"
    if used := _WE_USE.fullmatch(text):
        return f"we use {'now ' * bool(used['now'])}{used['value']} for the {used['what']}"
    if (sits := _WE_SIT.fullmatch(text)) and _is_room(sits["room"], reading) and _AWAY.isdisjoint(reading.lower):
        return f"my {'büro' if reading.code == 'de' else 'office'} is {'now ' * bool(sits['now'])}{sits['room']}"
    return text


def _is_done(does: re.Match[str]) -> bool:
    """Whether somebody does or has a thing: not "Hunger hat Anna", nor "die Kasse macht jetzt Anna, schön wär's"."""
    named = does["the"] is not None or does["verb"] != "hat"
    return named and does["what"] not in _NOT_DONE and not _NOT_MEANT.search(does["rest"])


def _is_room(part: str, reading: Reading) -> bool:
    found = NAME.fullmatch(part)
    return found is None or is_room(reading.spans[int(found[1])].name)
