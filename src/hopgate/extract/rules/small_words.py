"""A sentence of another language with its small words in English, so that what it states is read by the same rules."""

from __future__ import annotations

from functools import cache, lru_cache

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import table

_TABLES: dict[str, dict[str, str]] = table("small_words")
_NOTHING = "_"
# "d'électricité", "l'école": what stands before the apostrophe is a word of its own.
_ELIDED = compiled(r"\b(?:[ld]|qu)['’](?=[^\W\d_]|⟨)")
_IT_IS = compiled(r" , c['’]est\b")
# "since ⟦0⟧ is ⟨1⟩ our huisarts"
_INVERTED = compiled(
    r"^(?P<when>(?:since|now)(?: ⟦\d+⟧)?) (?:is|are|'s) (?P<who>(?:[^\W\d_]+ )?⟨\d+⟩|(?:the|our|my) \S+) "
    r"(?P<rest>[^,;]+?)(?= [,;]|$)"
)
# "nos hemos cambiado de ⟨0⟩ a ⟨1⟩"
_WE_MOVED = compiled(r"^(?:(?:nos|we|us|i) )*(?:'s|is|are) moved\b")
_OF_AT = compiled(r"\bmoved of (?P<a>[^,;]+?) at ")
# "wir sind von … zu … gewechselt": the verb is at the end, and the rules want it where the auxiliary is.
_FINITE = compiled(r"(?:^|(?<=\S) )(?:'s|is|are) (?=(?:(?!moved|replaced)\S+ )*(?:moved|replaced)$)")
# "nagios durch zabbix ersetzt": without an auxiliary the verb belongs before what tells from, to or by what.
_LAST_VERB = compiled(r"^(?P<what>[^,;:]+?) (?P<to>(?:from|by) .+|to .+) (?P<verb>moved|replaced)$")
_STOPPED = compiled(r"^(?P<who>⟨\d+⟩) 's (?P<what>as [^,;:]+?) aufgehört(?= [,;]|$)")
_TAKEN_OVER = compiled(r"^(?P<who>[^,;:]+?) (?:'s|is) (?P<what>[^,;:]+) übernommen(?= [,;]|$)")
_FROM_IN = compiled(r"(?<= moved )(?P<before>(?:in [^,;]+? )?)(?P<a>from [^,;]+?) (?:in|on|at) (?=[^,;]+$)")
# "Den Server haben wir vom Keller in den Abstellraum gebracht", "wir haben das Gerät in Zimmer 5 gestellt"
_PLACED = (
    r"(?:now )?(?P<place>(?:from [^,;]+? )?(?:in|on|at|to|behind|under) [^,;]+) (?:"
    r"gestellt|gebracht|gelegt|gehängt|geräumt|gepackt|verfrachtet|umgeräumt|deponiert|geschafft|verstaut)(?= [,;]|$)"
)
_WE_PLACED = (
    compiled(rf"^(?P<what>(?:the|our|my) [^,;]+?) 's (?:we|i) {_PLACED}"),
    compiled(rf"^(?:(?:we|i) )?'s (?P<what>(?:the|our|my) [^,;]+?) {_PLACED}"),
)
_FOR_GOOD = compiled(r"\b(?:now|from) |\b(?:in|to) (?:⟨\d+⟩|(?:raum|zimmer|keller|room) [\w.]*\d)")
_LAST_PLACE = compiled(r"(?:^| )(?:in|on|at)(?= (?:(?!in |on |at |from )\S+ ?)+$)")
# "Rechnungen schreiben wir jetzt mit sevDesk"
_WE_AFTER = compiled(
    r"^(?P<what>(?:(?:the|our|my) )?[^\W\d_]+) (?!(?:is|are|'s|moved) )[^\W\d_]+e?n? (?:we|i) "
    r"(?P<now>now )?(?=(?:with|at|in|on|via|from) )"
)


@cache
def _table(code: str) -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """The small words of a language, and its forms of several words, the longest first."""
    single: dict[str, str] = {}
    several: dict[str, str] = {}
    for english, forms in _TABLES[code].items():
        meant = "" if english == _NOTHING else english.replace("_", " ")
        for form in forms.split():
            if "_" in form:
                several[form.replace("_", " ")] = meant
            else:
                single.setdefault(form, meant)
    return single, tuple(sorted(several.items(), key=lambda pair: -len(pair[0])))


def has_small_words(code: str) -> bool:
    """Whether the small words of a language are known."""
    return code in _TABLES


# "Der Ersatzschlüssel der Werkstatt hängt …"
_GENITIVE = compiled(r"^the (?P<what>[^\W\d_]{3,}) the (?P<whose>[^\W\d_]{3,})(?= (?:is|'s|are)\b)")

# "Emil hat einen neuen Trainer": it is not Emil.
_HAS_A_NEW = compiled(r"(?<=⟩ )hat (?:jetzt |nun )?eine?n? neue[ns]?(?= )")


@lru_cache(maxsize=4096)  # short sentences differ in their names alone, which are numbers here
def in_english(text: str, code: str) -> str:
    """Put the small words of an encoded sentence into English; the others, and all names, stay.

    Examples
    --------
    >>> in_english("unser zahnarzt ist jetzt ⟨0⟩", "de"), in_english("la classe de ⟨0⟩ est désormais en salle 22", "fr")
    ('our zahnarzt is now ⟨0⟩', 'the classe of ⟨0⟩ is now in salle 22')
    >>> in_english("wir sind von ⟨0⟩ zu ⟨1⟩ gewechselt", "de")
    'we moved from ⟨0⟩ to ⟨1⟩'
    """
    single, several = _table(code)
    text = _ELIDED.sub(lambda found: "" if found[0][0] == "l" else "de ", _IT_IS.sub(" est", text))
    text = _HAS_A_NEW.sub("has a new", text) if code == "de" else text
    padded = f" {text} "
    for form, meant in several:
        if form in text:
            padded = padded.replace(f" {form} ", f" {meant} ")
    said = " ".join(filter(None, (single.get(word, word) for word in padded.split())))
    said = _INVERTED.sub(r"\g<who> is \g<rest> \g<when>", said)
    if " moved" in said:
        said = _OF_AT.sub(r"moved from \g<a> to ", _WE_MOVED.sub("we moved", said))
    if said.endswith((" moved", " replaced")):
        said = _verb_first(said)
    if code == "de":
        said = _GENITIVE.sub(r"the \g<what> of the \g<whose>", said)
        said = _STOPPED.sub(r"\g<who> stopped \g<what>", said)
        said = _TAKEN_OVER.sub(r"\g<who> taken over \g<what>", said)
        if " 's " in f" {said}":
            said = _placed(said)
        said = _WE_AFTER.sub(r"\g<what> is \g<now>", said) if " we " in said or " i " in said else said
    return said


def _placed(said: str) -> str:
    """What somebody put elsewhere, as English says it."""
    for pattern in _WE_PLACED:
        # What is put somewhere else than ever, or in a room by its number, and not the milk on the table.
        if (found := pattern.match(said)) and _FOR_GOOD.search(found[0]) and " to " not in found["place"]:
            return f"we moved {found['what']} {_LAST_PLACE.sub(' to', found['place']).strip()}{said[found.end() :]}"
    return said


def _verb_first(said: str) -> str:
    """A sentence whose verb stands at its end, with the verb where English has it."""
    verb = said.rpartition(" ")[2]
    moved = _FINITE.sub(f" {verb} ", said, count=1).removesuffix(f" {verb}").lstrip()
    if moved == said.removesuffix(f" {verb}"):
        return _FROM_IN.sub(r"\g<a> to ", _LAST_VERB.sub(r"\g<what> \g<verb> \g<to>", said))
    if moved.startswith("moved "):
        moved = f"i {moved}"  # "Bin von … in … umgezogen"
    return _FROM_IN.sub(r"\g<a> to ", moved)
