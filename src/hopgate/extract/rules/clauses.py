"""A sentence of a note as one string: words in lower case, names as ⟨n⟩, dates as ⟦n⟧, amounts as ⟪n⟫."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import LANGUAGES, Language, table
from hopgate.extract.rules.not_ours import is_not_here, is_theirs
from hopgate.extract.rules.parts_of_things import FOR_IT, OF_IT, is_itself, is_part, tells_of_more
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.words import words

TEAMS = ("Team ", "Squad ", "Crew ", "Year ", "Class ", "Grade ", "Klasse ")
"""How the names begin of what somebody is part of."""
LONGEST_SENTENCE = 120
"""A sentence of more tokens is a list or a table, and patterns are not tried on it."""
NAME = compiled(r"⟨(\d+)⟩")
"""A name in an encoded sentence: its span's number."""
_REFERENCE = compiled(r"[⟨⟦⟪](?:team )?(\d+)[⟩⟧⟫]")
_BRACKETS = {"date": ("⟦", "⟧"), "amount": ("⟪", "⟫")}
_CLAUSE = compiled(r" (?:,|;|:|but|aber|mais|pero|ma|maar|and then) ")
_PAST = compiled(
    r"\b(?:no longer|not any ?more|used to|formerly|previously|nicht mehr|früher|ehemals|ne \w+ plus|avant|ya no|antes|"
    r"non \w+ più|niet meer|vroeger)\b"
)


_WAS = compiled(
    r"\b(?:was|were|war|waren|était|era|estaba|lived|worked|belonged|reported|ran|stood|sat|wohnte|wohnten|arbeitete|gehörte|lief|"
    r"stand|vivía|habitait|travaillait|trabajaba|lavorava|viveva|abitava|woonde|werkte)\b"
)
# "is moving next month" is a plan, "until Friday" and "for two weeks" a visit; an end with a date is a fact's own.
_AHEAD = compiled(
    r"(?:\b(?:is|are|am)|'re|'m|'s) (?:\w+ )?(?:moving|migrating|replacing|switching|relocating|joining|"
    r"leaving|changing)\b"
)
_PASSING = compiled(
    r"(?: (?:now|again|there|as well))*(?: (?:until|till|bis|tot|hasta|jusqu'à)(?! (?:(?:the|zum|end|of|"
    r"ende|den|dem|early|late|mid|le|el) )*⟦)| next (?:week|month|year|"
    r"spring|summer|autumn|winter)| tomorrow| for (?:a|an|one|two|three|four|five|ten|twenty|the|some|\d+) (?:\w+ "
    r")?(?:minutes?|hours?|days?|weeks?|weekend|"
    r"nights?|months?)\b|"
    r" (?:just |only )?for (?:an? |the |some )?(?:test|tests|testing|trial|try|bit|while|demo|moment|sec)\b|"
    r" (?:just |only )?to (?:test|try|check|compare|see|debug|play)\b|"
    r" (?:, )?(?:while|whilst|solange|pendant que|mientras|terwijl|mentre) |"
    r" (?:, )?(?:and|but|then)(?: then)?(?: [^\W\d_]+){0,2} back (?:to|on|onto|in) (?:the )?⟨|"
    r" für (?:ein|eine|zwei|drei|paar) | zu [^\W\d_]{3,}en(?= [,;]|$))"
)
# The same before it: "while Marta is on holiday Dev leads Kestrel", "this week Dev leads Kestrel".
_AWAY = compiled(
    r"^(?:⟨\d+⟩ : )?(?:while|whilst|as long as|until|during|solange|während|pendant|mientras|terwijl) [^;]*?\b(?:away|"
    r"holidays?|vacation|leave|ill|sick|abroad|travelling|traveling|off|out|absence|back|returns?|recovers|urlaubs?|"
    r"krank|weg|verreist|elternzeit|abwesend|zurück|vacances|malade|vacaciones|enferm[oa]|vakantie|ziek)\b"
)
_THIS_WEEK = compiled(
    r"^(?:⟨\d+⟩ : )?(?:just |only )?(?:this (?:week|month|weekend)|for now|"
    r"diese woche|diesen monat|vorerst|vorläufig|(?:until|till|bis) (?!⟦)[^,;⟨⟦]{1,24}) (?:, )?"
)
_IS_SO = compiled(
    r"\b(?:leads|heads|manages|chairs|covers|runs|hosts|works|lives|is|are|takes|has|leitet|läuft|arbeitet|wohnt|ist|"
    r"übernimmt)\b"
)
# Who is not named is nobody of ours: "someone on the forum moved gitea to oak".
_SOMEBODY = words("someone somebody anyone people folks jemand quelqu'un alguien iemand qualcuno")
# "took over the Kestrel demo from Ann".
_PIECE = compiled(r" ([^\W\d_]{3,}) from ⟨")
_NO_PIECE = words("over now back today yesterday entirely ownership work leadership lead")
# "a second pi-hole runs on aspen", "copies of the passports are in the desk".
_ANOTHER = compiled(
    r"\b(?:second|third|another|additional|extra|spare|other|backup|test|staging|dev|zweite[rs]?|weitere[rs]?|deuxième|autre|"
    r"segund[oa]|otr[oa]|tweede|andere|second[oa]|altr[oa])(?: (?:the|my|our|his|her|their|le|la|el|het))? $|"
    r"\ban? (?:[^\W\d_]+ )?$"
)
# "Der Gitea" that begins is a subject.
_COPIES_OF = compiled(
    r"(?:\b(?:of|von|vom|des|de|van|di)|(?<=[^\W\d_] )(?<!und )(?<!aber )der)"
    r"(?: (?:the|my|our|his|her|their|le|la|el|het))? $"
)
# "…, but she laughed and said no".
_TAKEN_BACK = compiled(
    r"\b(?:but|though|however) (?:[^,;]+ )?(?:said no|not true|laughed|denied|denies|joking|kidding|wrong|nonsense|"
    r"fell through)\b|\bchanged (?:his|her|their|my|our) minds?\b|"
    r"\b(?:not true|turned out (?:to be )?(?:false|wrong))\b"
)
_EVENTS = "|".join(
    form.replace("_", " ")
    for name in ("installed", "moved", "handed")
    for form in table("verbs")[name].split()
    if form not in ("run", "running", "hosting")
)
_BESIDE = compiled(r"⟩ (?:[^\W\d_]+ ){0,2}(?:also|as well|auch|aussi|también|anche|ook) (?!known|called)")
_TOO = compiled(r" (?:now )?(?:as well|too|also|auch|aussi|también|ook)(?=$| [,;]| now)")
_LONG_AGO = compiled(
    r" (?:, )?(?:when|while|as (?:a|an)|back (?:in|then|when)|(?:[^\W\d_]+ )?years ago|during|in the|als|quand|cuando|"
    r"at (?:school|uni|university|college))\b"
)
_SINCE_THEN = compiled(
    rf"\b(?:has|have|been|born|appointed|named|elected|chosen|made|hired|poached|recruited|promoted|{_EVENTS})\b"
)
# "refuses to run", "to be moved": not yet, or not at all; "used to" and "had to" are told of what was.
_INFINITIVE = compiled(
    r"(?<!used )(?<!had )(?<!gone )(?<!went )(?<!came )\bto (?:be (?:moved|migrated|replaced|deployed|"
    r"installed|hosted|run|handed|reassigned)|run|live|work|move|report|lead|host|replace|take over|switch|migrate)\b"
)
# A second copy, a trial, a look from outside: where these words are, a place beside a name says nothing of a move.
_NO_MOVE = words(
    """
    test tests tested testing try tries tried trying trial copy copies copied copying clone cloned mirror mirrored
    replica replicas replicated rsync rsynced sync syncs synced backup backups backed restore restored dump dumped
    compare compared ping pinged ssh second another spare extra temporary temporarily failed fails fail failing
    tunnel forwards forwarded stream streams streamed streaming casts
    connect connects connected talks reads writes send sends sent pull pulls pulled push pushes fetch fetched download
    downloaded upload uploaded export exported import imported remove removed delete deleted uninstalled stop stopped
    move migrate shift relocate transfer port switch replace swap install deploy 'd i'd we'd
    depends depend relies rely builds based works working
    need needs must please let's let todo wip tbd idea should staging demo says said secondary standby snapshot
    snapshots dumps clones mirrors restores
    kopie kopiert test getestet zweite zweiter zweites sicherung copie copié essai copia copiado prueba kopie gekopieerd
    """
)
# "I back up gitea on birch", but "gitea is back up on birch".
_BACKS_UP = compiled(r"\bback(?:s|ing)? up (?:(?:the|my|our) )?⟨")
# What a service has or leaves somewhere, which is not where it runs.
_ITS_OWN = words(
    """
    archive archives log logs metric metrics alert alerts data file files volume volumes config configs database
    databases cache caches artifact artifacts artefact artefacts image images export exports import imports
    upload uploads download downloads thumbnails traffic requests users dashboard dashboards report reports mail
    mails notification notifications password passwords port ports secret secrets certificate certificates
    memory disk space cpu errors client clients daten dateien sicherungen kopien données fichiers datos archivos
    dati gegevens bestanden
    """
)
STATES = frozenset(("runs on", "lives in", "works at", "owned by", "led by", "reports to", "located in"))
"""Relations that a verb in the past says to be over: "Rosa lived in Porto"."""


@dataclass(frozen=True, slots=True)
class Clause:
    """An encoded sentence, with what its references mean."""

    text: str
    reading: Reading
    question: bool
    first: int

    def spans(self, part: str) -> tuple[int, ...]:
        """The numbers of the spans that a part of the text refers to."""
        return _references(part)

    def is_past(self, start: int, end: int) -> bool:
        """Whether a match speaks of a state in the past, and not of one that goes on."""
        return _is_past(self.text[start:end])

    def is_beside(self, start: int, end: int, subject: int) -> bool:
        """Whether a match tells of one more place, which ends no other: "gitea also runs on birch"."""
        return _is_beside(self.text, start, end, subject)

    def is_of_another(self, start: int) -> bool:
        """Whether a match is about something of its subject: "the presentation of the report was moved"."""
        return bool(OF_IT.search(self.text[:start]))

    def is_long_ago(self, end: int) -> bool:
        """Whether a time of its own follows what is over: "used to live in Oulu when she was a student"."""
        return bool(_LONG_AGO.match(self.text, end))

    def is_plain(self) -> bool:
        """Whether a sentence tells what is so, and neither of copies, trials and failures nor of what might be."""
        language = LANGUAGES[self.reading.code]
        found = set(self.text.split()) | {self.reading.spans[number].name.lower() for number in self.spans(self.text)}
        return not (
            self.question
            or found & (_NO_MOVE | language.hypothetical | language.negated)
            or _AHEAD.search(self.text)
            or _PASSING.search(self.text)
            or _BACKS_UP.search(self.text)
        )

    def is_of_its_own(self, start: int, end: int) -> bool:
        """Whether a match tells of what a service has there: "the Gitea logs end up on cedar"."""
        text = self.text[start:end]
        said = text.split()
        return not _ITS_OWN.isdisjoint(said) or any(map(is_part, said)) or tells_of_more(text)

    def is_of_a_part(self, end: int, start: int = 0) -> bool:
        """Whether a name is followed by what belongs to it, or that stands before it: "labels for the printer are"."""
        return bool(FOR_IT.search(self.text[:start])) or is_part(
            self.text[end + 1 :].removeprefix("'s ").split(" ", 1)[0]
        )

    def is_of_a_piece(self, end: int) -> bool:
        """Whether a name that ends there is followed by a piece of it that is handed over: "the Kestrel demo from"."""
        found = _PIECE.match(self.text, end)
        return found is not None and not (is_itself(found[1]) or found[1] in _NO_PIECE or found[1].endswith("ly"))

    def stance(self, start: int, end: int) -> str:
        """Say how a match is meant: "said", "ended", or "not" for negations, plans, rumours and questions."""
        return "not" if self.question else _stance(self.text, self.reading.code, start, end)


# As `FactTable.found_in`: short sentences differ in their names alone, which are numbers here.
@lru_cache(maxsize=4096)
def _references(part: str) -> tuple[int, ...]:
    return tuple(map(int, _REFERENCE.findall(part)))


@lru_cache(maxsize=4096)
def _is_taken_back(text: str, end: int) -> bool:
    return bool(_TAKEN_BACK.search(text, end))


@lru_cache(maxsize=4096)
def _is_past(said: str) -> bool:
    return bool(_WAS.search(said)) and not _SINCE_THEN.search(said)


@lru_cache(maxsize=4096)
def _is_beside(text: str, start: int, end: int, subject: int) -> bool:
    return bool(
        _BESIDE.search(text, start, end)
        or _TOO.match(text, end)
        or _ANOTHER.search(text[:subject])
        or _COPIES_OF.search(text[:start])
        or (text[subject : subject + 1] == "⟨" and is_theirs(text[:subject]))
        or is_not_here(text)
    )


@lru_cache(maxsize=4096)
def _stance(text: str, code: str, start: int, end: int) -> str:
    language = LANGUAGES[code]
    begin = max((match.end() for match in _CLAUSE.finditer(text, 0, start)), default=0)
    if text[start] in ",;:":
        begin = start  # "…, now lives in B": what was denied before the comma is another thing
    near = text[begin : end + 1]
    if _PAST.search(near):
        return "ended"
    if (
        _AHEAD.search(near)
        or _INFINITIVE.search(near)
        or _PASSING.match(text[end:])
        or " temporarily " in near
        or _is_for_a_while(text[:start], text[start:end])
        or _is_taken_back(text, end)
    ):
        return "not"
    found = set(near.split())
    if "plan" in found and _TARIFF.search(near):
        found.discard("plan")
    if (
        not _SOMEBODY.isdisjoint(text[begin:start].split())
        or found & language.negated
        or any(word.endswith("n't") for word in found)
        or _doubtful(text[:end], found, language)
    ):
        return "not"
    return "said"


def _is_for_a_while(before: str, said: str) -> bool:
    """Whether what stands before a match says that it is so for a while; what happened this week has happened."""
    return bool(_IS_SO.search(said) and (_AWAY.search(before) or _THIS_WEEK.match(before)))


# "if", "whether" and "thinking about" colour all that follows, other words their own clause.
_EVERYWHERE = words("if whether wenn falls ob si se als thinking question maybe heard rumour todo plan wishlist")


# "The Datadog plan costs $1,750": what one pays for.
_TARIFF = compiled(r"(?:⟩|\b[^\W\d_]+) plan (?:(?:now|is|went|has|'s|:) |costs?\b)")


def _doubtful(before: str, near: set[str], language: Language) -> bool:
    coloured = set(before.split()) & _EVERYWHERE & language.hypothetical
    if "plan" in coloured and _TARIFF.search(before):
        coloured.discard("plan")
    return bool(near & language.hypothetical) or bool(coloured)


def clauses(reading: Reading) -> Iterator[Clause]:
    """Yield the sentences of a memory.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> [clause.text for clause in clauses(read(Source("m1", Cleared("Tess moved to Leeds in May 2024. Why?"))))]
    ['⟨0⟩ moved to ⟨1⟩ in ⟦2⟧', 'why']
    """
    tokens, lower, marks, spans = reading.tokens, reading.lower, reading.marks, reading.spans
    parts: list[str] = []
    number, at, first = 0, 0, 0
    while True:
        while number < len(spans) and spans[number].start < at:
            number += 1
        # The words up to the next span, and then that one.
        until = spans[number].start if number < len(spans) else len(tokens)
        for place in range(at, until):
            if marks[place] in ".¶" or tokens[place] == ";":
                if parts and len(parts) <= LONGEST_SENTENCE:
                    yield Clause(" ".join(parts), reading, "?" in tokens[place], first)
                parts, first = [], number
                continue
            word = lower[place]
            if "'" in word or "’" in word:
                parts.extend(_words(word))
            else:
                parts.append(word)
        if number == len(spans):
            break
        span = spans[number]
        opening, closing = _BRACKETS.get(span.form, ("⟨", "⟩"))
        team = "team " if span.form == "name" and span.name.startswith(TEAMS) else ""
        parts.append(f"{opening}{team}{number}{closing}")
        if tokens[span.end - 1].endswith(("'s", "’s")) and span.form not in _BRACKETS and span.name[-2:] != "'s":
            parts.append("'s")
        while number + 1 < len(spans) and spans[number + 1].start < span.end:
            number += 1
            parts.append(f"⟨{number}⟩")
        at = span.end
    if parts and len(parts) <= LONGEST_SENTENCE:
        yield Clause(" ".join(parts), reading, False, first)


_PRONOUNS = words("i we they you he she it")


def _words(word: str) -> tuple[str, ...]:
    """A token's words: "she's" and "club's" are two."""
    if word.endswith(("'s", "’s")) and len(word) > 2:
        return word[:-2], "'s"
    if word.endswith(("'m", "’m")) and word[:-2] == "i":
        return "i", "'m"
    if word.endswith(("'ve", "’ve", "'ll", "’ll", "'re", "’re")) and word[:-3] in _PRONOUNS:
        return word[:-3], "'" + word[-2:]
    return (word,)
