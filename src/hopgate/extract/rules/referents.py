"""Whom a pronoun means, who says "I", and which names are persons, hosts and services."""

from __future__ import annotations

import re
from functools import lru_cache

from hopgate.extract.extraction import Fact, Source
from hopgate.extract.rules.candidates import Span
from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import KIN
from hopgate.extract.rules.reading import Reading, person_kind, read
from hopgate.extract.rules.words import words

_FIRST = words("i my me we our wir ich mein meine meinen je j mon ma yo mi io mio mia ik mijn eu meu minha")
_MINE = words("my our mein meine meinen unser unsere mon ma notre mi mio mia mijn onze meu minha")
# "My sister Ruth lives in Wrexham and works at the Orthopaedic"
_MY_NAMED = compiled(r"[^\W\d_]+ (?:(?:[^\W\d_]+ )?(?P<kin>[^\W\d_]+) )?⟨(?P<number>\d+)⟩(?! 's)")
_FAMILY = KIN | words(
    """
    mum mom mother father dad brother sister son daughter wife husband partner nephew niece boss friend neighbour
    neighbor colleague landlord landlady cousin flatmate roommate mate freund freundin kollege kollegin nachbar
    nachbarin chef chefin
    """
)
_PERSON = words("he she him her his hers er sie ihn ihr il elle lui él ella lei hij zij ze haar hem ele ela")
_TOGETHER = compiled(r"⟨\d+⟩ (?:and|und|et|y|e|en) ⟨\d+⟩")
_THING = words("it es its")
_BOTH = words("both beide they them ils elles")
_OWNED = compiled(r"(?:⟨\d+⟩ : )?⟨\d+⟩ 's (?!last |first |new job |time |career )[^\W\d_]")
_TO_US = (
    _FIRST | _PERSON | _THING | _BOTH | words("we us wir uns nous nosotros noi wij this that one which who there here")
)
_OF_GOODS = frozenset(("bought from", "replaced by", "sold to", "costs"))
_AFTER_PREPOSITION = compiled(
    r"\b(?:at|in|from|for|of|with|near|to|on|off|onto|bei|im|in|von|mit|aus|für|à|"
    r"chez|en|de|da|di|bij|van|voor)(?: the| der| dem| la| le)? ⟨(\d+)⟩"
)
_OF_WORK = words(
    "job jobs work works worked working left quit resigned hired joined employer company career colleague boss manager "
    "office"
)
_INTRODUCED = compiled(
    r"(⟨\d+⟩) (?:is|becomes|became|ist|wird) (?:(?:now|our|my|the|an?|jetzt|unsere?|der|die|eine?) )+"
    r"(?:new |neue[rs]? )?(?:[^\W\d_]+ ){0,2}[^\W\d_]+ , (?:and |und )?$"
)
_POSSESSIVE = compiled(r"⟨(\d+)⟩ 's")
_NAME = compiled(r"(?<!\S)⟨(?:team )?(\d+)⟩")
_NAMED = frozenset(("name", "code", "host", "service", "person", "han", "quote", "note", "tag", "url"))


_LADIES, _GENTLEMEN = words("ms mrs miss frau mme mevrouw señora signora"), words("mr herr m. meneer señor signor")
_SHE, _HE = words("she her hers elle ella lei zij"), words("he him his il lui él hij hem")


def _is_of_other_sex(pronoun: str, name: str) -> bool:
    """Whether a title tells that somebody is not meant: Ms Okafor by "him"."""
    title = name.partition(" ")[0].lower().rstrip(".")
    return (title in _LADIES and pronoun in _HE) or (title in _GENTLEMEN and pronoun in _SHE)


class Referents:
    """Keeps, sentence by sentence, who and what was talked about last."""

    pronouns = _TO_US

    def __init__(self, reading: Reading, source: Source) -> None:
        self.reading, self.source = reading, source
        self.first_person = reading.speaker or source.owner
        self.written = source.created_at.date().isoformat() if source.created_at else None
        self.last_fact: Fact | None = None
        self._people: list[str] = []
        self._subjects: tuple[str, ...] = ()
        self._thing = reading.topic
        self._earlier: str | None = None
        self._noted = ""
        self._kinds = reading.kinds
        self._persons: dict[str, bool] = {}
        self._names = {span.name for span in reading.spans if span.form in _NAMED}

    @property
    def topic(self) -> str:
        """What a sentence without a subject is about: what the last one was about, or the title."""
        return self._subjects[0] if self._subjects else self.reading.topic

    def left_out(self, clause: Clause, at: int, *, near: bool) -> tuple[str, ...]:
        """Whom a verb without a subject is about: who opens the sentence, or for a participle the name before it."""
        opening = clause.text.split(" ", 1)[0]
        near = near or clause.text[at:].lstrip(" ,").startswith("who ")  # "our landlord is Mr Osei, who lives in …"
        if not near and opening in _MINE:
            mine = _MY_NAMED.match(clause.text[:at])
            named = mine if mine and (not mine["kin"] or mine["kin"] in _FAMILY) else None
            name = self._named(int(named["number"])) if named else ""
            kin = clause.text.split(" ", 2)[1]
            return (name,) if name and self.is_person(name) else (kin,) if kin in _FAMILY else ()
        if not near and (opening in _PERSON or opening in _FIRST) and (people := self.people_of(opening)):
            return people  # "She left Lyon and lives in Metz"
        if not near and opening in _PERSON and self._subjects == ():
            return ()  # "er arbeitet in Halle und wohnt in Landsberg": nobody knows who
        numbers = clause.spans(clause.text[:at])
        names = [name for number in numbers if (name := self._named(number)) and name != self.reading.speaker]
        names = self._subjects_of(clause, names) or names
        if not names:
            return (self.topic,) if self.topic else ()
        opens = clause.text.split(": ", 1)[-1].startswith("⟨")
        if opens and not near and _OWNED.match(clause.text):
            return ()  # "Ulrich's wife left Miele and now works at Gorenje"
        return (names[-1] if near or not opens else names[0],)

    def thing_left_out(self, clause: Clause, at: int) -> tuple[str, ...]:
        """What "costs £5" is about: what the last fact bought or replaced, the only thing named, or nothing."""
        last = self.last_fact
        if last and last.relation in _OF_GOODS:
            return (last.object if last.relation == "replaced by" else last.subject,)
        named = [self._named(number) for number in clause.spans(clause.text[:at])]
        names = [name for name in named if name and not self.is_person(name)]
        names = self._subjects_of(clause, names) or names
        if names:
            return (names[0],) if len(names) == 1 or clause.text.startswith("⟨") else ()
        return (self.topic,) if self.topic and not self.is_person(self.topic) else ()

    def _subjects_of(self, clause: Clause, names: list[str]) -> list[str]:
        """Those of a sentence's names that no preposition stands before: "the choir at St Mary's, led by …"."""
        beside = {self.reading.spans[number].name for number in _numbers(_AFTER_PREPOSITION, clause.text)}
        return [name for name in names if name not in beside] if beside else names

    def leave(self, clause: Clause) -> None:
        """Note who and what a sentence named."""
        spans, speaker = self.reading.spans, self.reading.speaker
        named = [spans[number] for number in clause.spans(clause.text)]
        people = [span.name for span in named if self.is_person(span.name) and span.name != speaker]
        if people:
            # Who is only an owner ("Moira's assistant") or stands after a preposition is not who the next "she" means.
            owners = {spans[number].name for number in _numbers(_POSSESSIVE, clause.text)}
            likely = [name for name in self._subjects_of(clause, people) if name not in owners]
            self._people = likely or people
        subjects = [span.name for span in named if span.form in _NAMED and span.name != speaker]
        if subjects:
            opening = clause.text.split(" , ", 1)[0]
            listed = [spans[number].name for number in clause.spans(opening)]
            joined = " and " in opening.split(" are ")[0] and len(listed) > 1
            self._subjects = tuple(name for name in listed[:2] if name in subjects) if joined else (subjects[0],)
            self._thing = next((name for name in subjects if not self.is_person(name)), self._thing)
        if self._noted and not self.is_person(self._noted):
            self._thing = self._noted
        elif self._noted:
            self._people = [self._noted]  # "Ann's boss is Kit. She …"
        self._noted = ""

    def note(self, fact: Fact) -> None:
        """Remember the last fact: "before that" refers to it, and a sentence without a subject to its subject."""
        self.last_fact = fact
        self._noted = fact.subject
        if self.is_person(fact.subject):
            self._people = [fact.subject]
        self._subjects = (fact.subject,)

    def names_of(self, part: str) -> tuple[str, ...]:
        """The names that a part of an encoded sentence refers to."""
        spans = self.reading.spans
        return tuple(
            [spans[number].name for number in _numbers(_NAME, part) if spans[number].form in _NAMED]
            if "⟨" in part
            else ()
        )

    def people_of(self, part: str | None, clause: Clause | None = None, at: int = 0) -> tuple[str, ...]:  # noqa: PLR0911
        """Whom a pronoun means, or nobody: somebody named in its sentence, in one before, or in the thread."""
        word = (part or "").strip()
        if word in _FIRST:
            return (self.first_person,)
        if word == "their":
            last = self.last_fact
            return (last.subject, last.object) if last and last.relation == "married to" else ()
        numbers = clause.spans(clause.text[:at]) if clause else []
        here = [
            name
            for number in numbers
            if (name := self._named(number)) and self.is_person(name) and name != self.reading.speaker
        ]
        if here and word in _PERSON:
            # "Bea no longer reports to Kit, she reports to Ann": who acts, not whom a preposition stands before.
            acting = self._subjects_of(clause, here) if clause else here
            if clause and len(acting) > 1 and _TOGETHER.search(clause.text[:at]):
                return ()  # "Tess and Owen divorced, and she married Bram": one of the two
            return ((acting or here)[-1],)
        if len(here) > 1 and word in _BOTH:
            return tuple(here[-2:])
        if word in _PERSON and clause and (new := _INTRODUCED.match(clause.text[:at])):
            return self.names_of(new[1])  # "Owain Pryce is the new manager, he came from Wrexham"
        if word in _PERSON:
            person = self._people[0] if self._people else self._from_thread()
            return (person,) if person and not _is_of_other_sex(word, person) else ()
        if word in _THING:
            # "Took mealie off onyx and put it on topaz": what the verb before has as its object.
            named = [name for number in numbers if (name := self._named(number)) and not self.is_person(name)]
            if clause and (own := self._subjects_of(clause, named)):
                return (own[0],)
            thing = self._thing or self._thing_of_thread()
            return (thing,) if thing else ()
        if word in _BOTH:
            return self._subjects if len(self._subjects) > 1 else tuple(self._people) if len(self._people) > 1 else ()
        return ()

    def is_person(self, name: str) -> bool:
        """Whether a name is known to be a person's."""
        known = self._persons.get(name)
        if known is None:
            known = self._persons[name] = (
                self._kinds.get(name) == "person" or name == self.first_person or bool(person_kind(name))
            )
        return known

    def may_be_person(self, name: str) -> bool:
        """Whether a name is a person's, or is a single capitalised one that nothing shows to be something else."""
        unknown = name[:1].isupper() and not name.isupper() and name.isalpha() and not self._kinds.get(name)
        return self.is_person(name) or unknown

    def speaks_of_work(self) -> bool:
        """Whether a memory has a word of jobs: "New job! I'm at Kitron now" is no visit."""
        return not _OF_WORK.isdisjoint(self.reading.lower)

    def kind(self, name: str) -> str:
        """What memories show a name to be: person, host, service, organisation, place, or nothing."""
        return self._kinds.get(name, "")

    def is_owner(self, name: str) -> bool:
        """Whether a name is that of who says "I"."""
        return name == self.first_person

    def is_host(self, name: str) -> bool:
        """Whether a name was introduced as a host, or has the form of one."""
        return self._kinds.get(name) == "host" or (name.islower() and name in self._names)

    def is_service(self, name: str) -> bool:
        """Whether a name was introduced as something that runs on hosts."""
        return self._kinds.get(name) == "service"

    def is_named(self, name: str) -> bool:
        """Whether a text is a name of this memory, and not a common noun."""
        return name in self._names

    def _named(self, number: int) -> str:
        span = self._span(number)
        return span.name if span.form in _NAMED else ""

    def _span(self, number: int) -> Span:
        return self.reading.spans[number]

    def _thing_of_thread(self) -> str:
        """The only service that the turn before was about: "where is gitea?", "it's on birch"."""
        for text in reversed(self.source.before[-2:]):
            turn = read(Source("before", text, known=self.source.known))
            things = {
                span.name
                for span in turn.spans
                if turn.kinds.get(span.name) == "service" or (span.name.islower() and not turn.kinds.get(span.name))
            }
            if things:
                return things.pop() if len(things) == 1 else ""
        return ""

    def _from_thread(self) -> str:
        """The last person of the turns before, but not who speaks now."""
        if self._earlier is None:
            self._earlier = ""
            for text in reversed(self.source.before):
                turn = read(Source("before", text, known=self.source.known))
                people = [span.name for span in turn.spans if span.name not in (turn.speaker, self.reading.speaker)
                          and (turn.kinds.get(span.name) == "person" or person_kind(span.name))]  # fmt: skip
                if people:
                    self._earlier = people[-1]
                    break
        return self._earlier


@lru_cache(maxsize=8192)  # as `FactTable.found_in`: of a sentence's parts few differ but in their names
def _numbers(pattern: re.Pattern[str], text: str) -> tuple[int, ...]:
    """The numbers that a pattern finds in an encoded text."""
    return tuple(map(int, pattern.findall(text)))
