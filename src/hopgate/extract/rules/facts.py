"""Facts as people note them: each sentence against the patterns of `tables/facts.toml`, with its dates and pronouns."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

from hopgate.extract.extraction import Fact, Source
from hopgate.extract.rules.names import Reading, person_kind, read
from hopgate.extract.rules.words import ENGLISH, LANGUAGES, Language, filled, is_room, needed_words, table, words

LONGEST_SENTENCE = 120
"""A sentence of more tokens is a list or a table, and patterns are not tried on it."""
LONGEST_WORD = 40
"""What is longer is no word."""
STATED, COMMON = 0.9, 0.7
"""How far facts between names, and those of a common noun, may be trusted: the shares right on labelled notes."""

_TABLE, _WORDS = table("facts"), table("phrases")
RELATIONS = tuple(name for name in _TABLE if name not in ("words", "slots", "move"))
SINGLE_VALUED = tuple(name for name in RELATIONS if _TABLE[name].get("single"))
"""The relations of the shipped patterns of which a concept has one object at a time."""

_ARTICLES = {code: words(text) for code, text in _WORDS["articles"].items()}
_ME, _ONE_PERSON, _IT, _THEY, _KIN = (words(_WORDS[key]) for key in ("me", "one_person", "it", "they", "kin"))
_ITSELF, _FIRMS, _VERBS, _PREPOSITIONS = (words(_WORDS[key]) for key in ("itself", "firms", "verbs", "prepositions"))
_WHOLE, _DOUBTFUL = words(_WORDS["whole"]), words(_WORDS["doubtful"])
_NOUN_ENDS = frozenset().union(*(one.function for one in LANGUAGES.values())) | words(_WORDS["no_nouns"])
_OLD_OR_NEW = frozenset(("old", "new", "alte", "neue", "alten", "neuen"))
_AHEAD, _GROUP = re.compile(_WORDS["ahead"]), re.compile(_WORDS["groups"])
_ENDED, _BESIDE, _NOW, _TURNED, _WAS = (
    re.compile(rf"(?<!\S)(?:{_WORDS[key]})(?!\S)") for key in ("ended", "beside", "from_now", "turned", "was")
)
_NO_ADVERBS = ENGLISH["nouns_in_ly"] | _DOUBTFUL | LANGUAGES["en"].hypothetical
_ADVERBS = re.compile(
    rf"(?<!\S)(?:{'|'.join(sorted(_WORDS['adverbs'].split(), reverse=True)).replace('_', ' ')}|"
    rf"(?!(?:{'|'.join(sorted(_NO_ADVERBS))})(?!\S))[^\W\d_]{{3,}}ly)(?!\S)"
)
_STILL_SO = re.compile(r"(?<!\S)(?:has|have|been|hat|haben|moved|joined|started)(?!\S)")
_BESIDE_DATES = {key: _WORDS[key] for key in ("since", "until", "on_a_day", "range")}
_DATE, _DATED = filled(_WORDS["date"], _BESIDE_DATES), re.compile(filled(_WORDS["dated"], _BESIDE_DATES))
_ASIDE = re.compile(rf"(?<!\S)(?:{_DATE}|[¬+*])(?!\S)")
_PART = re.compile(r"( (?:[,;:()]|and|und|et|y|but|aber|sondern|mais|pero|maar) )")
_REFERENCE = re.compile(r"[⟨⟦⟪](?:team )?(\d+)[⟩⟧⟫]")
_BULLETS = frozenset("-*+•–")
_BRACKETS = {"date": "⟦⟧", "amount": "⟪⟫"}
_NAMED = frozenset(("name", "code", "host", "service", "person", "han", "quote", "note", "tag", "url"))
_PLACES = frozenset(("move", "runs on", "lives in", "works at", "located in"))
"""Of these one more place ends no other: "gitea also runs on birch"."""
_STATES = frozenset(("runs on", "lives in", "works at", "owned by", "led by", "reports to", "located in"))
"""These are over where they are told in the past: "Rosa lived in Porto"."""

_SLOTS = _TABLE["slots"] | {"pronoun": "|".join(sorted(_ME | _ONE_PERSON | _IT | _THEY))}
_SLOT = re.compile(r"\{[A-Z]\??\}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as one string: names ⟨n⟩, dates ⟦n⟧, amounts ⟪n⟫, articles "_", no adverbs of time.

    `day` is the date that its line begins with, as in a log.
    """

    text: str
    is_question: bool
    day: str = ""

    def part(self, start: int, end: int) -> tuple[int, int]:
        """Where the part of the sentence begins and ends that a match is in, up to a comma or an "and"."""
        begins = max((part.end() for part in _PART.finditer(self.text, 0, start)), default=0)
        ends = next((part.start() for part in _PART.finditer(self.text, end)), len(self.text))
        return begins, ends


def sentences(reading: Reading) -> Iterator[Sentence]:
    """Yield the sentences of a memory."""
    spans = {span.start: (number, span) for number, span in reversed(list(enumerate(reading.spans)))}
    articles = _ARTICLES.get(reading.code, frozenset()) | _ARTICLES["en"]
    said: list[str] = []
    day, at, is_line_start = "", 0, True
    while at <= len(reading.tokens):
        mark = reading.marks[at : at + 1] or "¶"
        if (mark in ".¶" or reading.tokens[at] == ";") and at not in spans:
            if said and len(said) <= LONGEST_SENTENCE:
                is_question = at < len(reading.tokens) and "?" in reading.tokens[at]
                yield Sentence(_arranged(" ".join(said)), is_question, day)
            is_line_start = mark == "¶"
            day = "" if is_line_start else day
            said, at = [], at + 1
        elif is_line_start and reading.tokens[at] in _BULLETS:
            at += 1
        elif at in spans:
            number, span = spans[at]
            if is_line_start and span.form == "date" and reading.marks[span.end : span.end + 1] == ":":
                day = span.name
            is_line_start = False
            opening, closing = tuple(_BRACKETS.get(span.form, "⟨⟩"))
            team = "team " if span.form == "name" and _GROUP.match(span.name) else ""
            said.append(f"{opening}{team}{number}{closing}")
            if reading.tokens[span.end - 1].endswith(("'s", "’s")) and not span.name.endswith("'s"):
                said.append("'s")
            at = span.end
        else:
            said.append(_said(reading.lower[at], articles))
            at, is_line_start = at + 1, False


# What follows an apostrophe, as sentences have it.
_SHORT = {"s": "'s", "m": "am", "re": "are", "ve": "'ve", "ll": "'ll"}


def _said(word: str, articles: frozenset[str]) -> str:
    """A word as sentences have it: "she's" is two, an article "_"."""
    word = word.replace("’", "'")
    stem, _, ending = word.partition("'")
    if stem and ending in _SHORT:
        return f"{stem} {'is' if ending == 's' and stem in _IT | _ONE_PERSON else _SHORT[ending]}"
    return "_" if word in articles else word if len(word) <= LONGEST_WORD else "…"


@lru_cache(maxsize=4096)  # sentences differ in their names alone, which are numbers here
def _arranged(text: str) -> str:
    """Put dates, "no longer" (¬), "also" (+) and "now" (*) at the end of the part of the sentence that they are in."""
    text = re.sub(r"\( (⟦\d+⟧) \)", r"\1", text)
    text = " ".join(_ADVERBS.sub("", _NOW.sub("*", _BESIDE.sub("+", _ENDED.sub("¬", text)))).split())
    if not _ASIDE.search(text):
        return text
    arranged: list[str] = []
    waiting: list[str] = []
    parts = _PART.split(text)
    for at in range(0, len(parts), 2):
        aside = [*waiting, *_ASIDE.findall(parts[at])]
        rest = " ".join(_ASIDE.sub(" ", parts[at]).split())
        if not rest and at + 1 < len(parts):
            waiting = aside  # "In May, …"
            continue
        waiting = []
        arranged += [" ".join([rest, *aside]).strip(), parts[at + 1] if at + 1 < len(parts) else ""]
    return "".join(arranged).strip()


@cache
def _patterns() -> list[tuple[str, str, tuple[frozenset[str], ...]]]:
    """Each way in which people write a relation, with sets of words of each of which a sentence must have one."""
    return [
        (relation, raw, needed_words(filled(_SLOT.sub(" ", raw), _TABLE["words"])))
        for relation in ("move", *RELATIONS)
        for raw in _TABLE[relation]["patterns"]
    ]


@cache  # a pattern is compiled when a sentence first has its words
def _regex(raw: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\S){filled(raw, _TABLE['words'] | _SLOTS)}")


@lru_cache(maxsize=4096)
def _matches(text: str) -> tuple[tuple[str, re.Match[str]], ...]:
    said = set(text.split())
    return tuple(
        (relation, match)
        for relation, raw, needs in _patterns()
        if not any(map(said.isdisjoint, needs))
        for match in _regex(raw).finditer(text)
    )


class Talk:
    """Who says "I", and who and what was talked about last."""

    def __init__(self, reading: Reading, source: Source) -> None:
        self.reading, self.source = reading, source
        self.me = reading.speaker or source.owner
        self.written = source.created_at.date().isoformat() if source.created_at else None
        self._person = self._thing = self._topic = ""

    def name(self, number: int) -> str:
        """The name, the date or the amount of a reference."""
        return self.reading.spans[number].name

    def names(self, part: str) -> tuple[str, ...]:
        """The names that a part of a sentence refers to."""
        return tuple(self.name(int(number)) for number in _REFERENCE.findall(part) if "⟨" in part)

    def is_person(self, name: str) -> bool:
        """Whether a name is known to be a person's."""
        return name == self.me or self.kind(name) == "person" or name in _KIN or bool(person_kind(name))

    def kind(self, name: str) -> str:
        """What memories show a name to be: person, host, service, organisation, place, or nothing."""
        return self.reading.kinds.get(name, "")

    def subjects(self, match: re.Match[str], *, person: bool) -> tuple[tuple[str, ...], bool]:
        """Whom or what a match is about, and whether a common noun says so."""
        part = match.groupdict().get("s")
        if not part:
            before = self._before(match.string, match.start()) or [self._topic or self.reading.topic]
            if person:
                said = _ONE_PERSON.intersection(match.string[: match.start()].split())
                before = list(filter(self.is_person, before)) or (list(self._meant("she", "")) if said else before)
            return tuple(filter(None, before[:1])), False
        if "⟨" in part:
            names, after = self.names(part), part.rpartition("⟩ ")[2]
            if match.string[: match.start()].rstrip().rpartition(" ")[2] in _PREPOSITIONS:
                return names[1:], False  # "lives in Bristol and Priya works at …"
            if "⟩ " not in part or part.endswith("⟩"):
                return names, False
            nouns = _nouns(after)
            return names if not nouns or nouns in _ITSELF else (f"{names[0]} {nouns}",), False
        if part in _ME | _ONE_PERSON | _IT | _THEY:
            return self._meant(part, match.string[: match.start()]), False
        noun = _nouns(part)
        return ((noun,) if noun else ()), True

    def _before(self, text: str, at: int) -> list[str]:
        """The names of a sentence before a place that no preposition stands before, speakers left out."""
        found = []
        for reference in re.finditer(rf"(\S+ )?(?:_ )?({_SLOTS['one']})(?! 's)", text[:at]):
            if (reference[1] or "").strip() not in _PREPOSITIONS:
                found += [name for name in self.names(reference[2]) if name != self.reading.speaker]
        return found

    def _meant(self, word: str, before: str) -> tuple[str, ...]:
        """Whom a pronoun means: somebody or something of its sentence, of those before, or of the thread."""
        if word in _ME | _THEY:
            return (self.me,) if word in _ME else ()
        is_thing = word in _IT
        here = [name for name in self._before(before, len(before)) if self.is_person(name) != is_thing]
        if is_thing:
            name = here[0] if here else self._thing or self.reading.topic
        else:
            name = here[-1] if here else self._person
        name = name or self._of_thread(person=not is_thing)
        return (name,) if name else ()

    def _of_thread(self, *, person: bool) -> str:
        """The last person or thing of the turns before, but not who speaks now."""
        for text in reversed(self.source.before):
            turn = read(Source("before", text, known=self.source.known))
            for name in (span.name for span in reversed(turn.spans) if span.form in _NAMED):
                is_person = turn.kinds.get(name) == "person" or bool(person_kind(name))
                if is_person == person and name not in (turn.speaker, self.reading.speaker):
                    return name
        return ""

    def leave(self, sentence: Sentence, made: list[Fact]) -> None:
        """Note who and what a sentence was about."""
        named = self._before(sentence.text, len(sentence.text)) or list(self.names(sentence.text))
        names = [fact.subject for fact in made[:1]] or named
        self._topic = next(iter(names), self._topic)
        self._person = next((name for name in reversed(names) if self.is_person(name)), self._person)
        self._thing = next((name for name in names if not self.is_person(name)), self._thing)


def _nouns(part: str) -> str:
    """The common noun of a part of a sentence: what stands before the first word that is none."""
    words = part.split()
    end = next((at for at, word in enumerate(words) if word in _NOUN_ENDS or word.endswith("n't")), len(words))
    start = next((at for at, word in enumerate(words[:end]) if word not in _OLD_OR_NEW), end)
    return " ".join(words[start:end])


def facts(reading: Reading, source: Source) -> Iterator[Fact]:
    """Yield the facts of a memory, sentence by sentence."""
    talk = Talk(reading, source)
    language = LANGUAGES[reading.code]
    for sentence in sentences(reading):
        made: list[Fact] = []
        taken: list[tuple[str, int, int]] = []
        for relation, match in () if sentence.is_question else _matches(sentence.text):
            start, end = match.span()
            rivals = [row for row in taken if row[0] in ("move", relation) or relation == "located in"]
            is_taken = any(start < last and first < end for _, first, last in rivals)
            if is_taken or not _is_told(sentence, start, end, language):
                continue
            found = list(_of_match(relation, match, sentence, talk))
            if found:
                taken.append((relation, start, end))
                made += found
        yield from made
        talk.leave(sentence, made)


def _is_told(sentence: Sentence, start: int, end: int, language: Language) -> bool:
    """Whether a match is told as a fact, and not denied, planned, doubted or asked."""
    begins, ends = sentence.part(start, end)
    near = set(sentence.text[begins:ends].split())
    is_denied = not near.isdisjoint(language.negated) or any(word.endswith("n't") for word in near)
    is_doubted = not near.isdisjoint(language.hypothetical | _DOUBTFUL)
    # "If" and "whether" colour all that follows.
    is_in_doubt = not _WHOLE.isdisjoint(sentence.text[:end].split())
    return not (is_denied or is_doubted or is_in_doubt or _AHEAD.search(sentence.text[begins:ends]))


def _of_match(relation: str, match: re.Match[str], sentence: Sentence, talk: Talk) -> Iterator[Fact]:
    groups = match.groupdict()
    text, (begins, ends) = sentence.text, sentence.part(*match.span())
    tail, aside = text[match.end() : ends], text[begins:ends].split()
    if tail.startswith(" 's") or ("+" in aside and relation in _PLACES):
        return  # "lives in Mo's flat"; "also runs on"
    subjects, is_noun = talk.subjects(match, person="person" in _TABLE[relation].get("subject", ""))
    begin, until = _interval(text[match.start() : ends] if "d" not in groups else tail, talk)
    now = begin or sentence.day or talk.written
    if relation == "move":
        yield from _moved(match, subjects, is_noun, now, talk)
        return
    objects, is_plain = _objects(groups, match, talk)
    turned = "*" in aside or _TURNED.search(match[0]) or relation == "replaced by" or "room" in groups
    begin = begin or (now if turned and relation in SINGLE_VALUED else None)
    was = relation in _STATES and _WAS.search(match[0]) and not _STILL_SO.search(match[0])
    is_over = bool("¬" in aside or was) and relation != "replaced by"  # there "no longer" is said of the old thing
    for subject, target in product(subjects, objects):
        if subject == target or not _fits(relation, groups, (subject, is_noun), (target, is_plain), talk):
            continue
        trust = COMMON if is_noun or is_plain else STATED
        if not is_over:
            yield Fact(subject, relation, target, begin, until, trust)
        elif over := until or now:
            yield Fact(subject, relation, target, begin if until else None, over, trust)
        for former in _former(groups, talk):
            if now and not is_over and former != target:
                yield Fact(subject, relation, former, None, now, trust)


def _interval(tail: str, talk: Talk) -> tuple[str | None, str | None]:
    """From when and until when: the dates beside a match."""
    begin = until = None
    for dated in filter(None, map(_DATED.match, re.findall(_DATE, tail))):
        day, last = (talk.name(int(dated[key])) if dated[key] else None for key in ("day", "last"))
        if dated["until"]:
            until = until or day
        else:
            begin, until = begin or day, until or last
    return begin, until


def _objects(groups: dict[str, str | None], match: re.Match[str], talk: Talk) -> tuple[tuple[str, ...], bool]:
    """What a match says of its subject, and whether that is a common noun."""
    part = groups.get("m") or groups.get("d")
    if part:
        return tuple(talk.name(int(number)) for number in _REFERENCE.findall(part)), False
    part = groups.get("o") or ""
    if names := talk.names(part):
        follows = re.match(r" ([^\W\d_]+)", match.string[match.end("o") :])
        if len(names) > 1 and follows and (follows[1] in _VERBS or follows[1].endswith("ed")):
            names = names[:-1]  # "lives in Bristol and Priya works at …"
        return names, False
    if part in _ONE_PERSON | _ME:
        return talk._meant(part, match.string[: match.start("o")]), False
    noun = _nouns(part)
    return ((noun,) if noun else ()), True


def _former(groups: dict[str, str | None], talk: Talk) -> Iterable[str]:
    """What a match says to have been before: "up from £24 to …", "took over Atlas from Bea"."""
    if groups.get("ac"):
        return (groups["ac"] or "",)
    return (talk.name(int(number)) for key in ("a", "x") for number in _REFERENCE.findall(groups.get(key) or ""))


def _moved(
    match: re.Match[str], subjects: tuple[str, ...], is_noun: bool, now: str | None, talk: Talk
) -> Iterator[Fact]:
    """What moved is where it is now, and no longer where it was."""
    groups = match.groupdict()
    new = talk.names(groups["b"] or "")[0]
    former = [name for name in _former(groups, talk) if name != new]
    for subject in subjects:
        relation = _of_move(groups, subject, new, former, talk)
        vague = is_noun and (not former or "hand" in groups) and talk.kind(new) != "host"
        if vague or not relation or subject in (new, *former):
            continue
        yield Fact(subject, relation, new, now, None, STATED)
        if now:
            yield from (Fact(subject, relation, name, None, now, STATED) for name in former)


def _of_move(groups: dict[str, str | None], subject: str, new: str, former: list[str], talk: Talk) -> str:
    """What a move changes: a person's home or work, a service's host, a thing's place or its owner."""
    ends = (new, *former)
    is_capital = new[:1].isupper()
    if groups.get("hand") or (any(map(talk.is_person, ends)) and not talk.is_person(subject)):
        return ("led by" if _GROUP.search(subject) else "owned by") if is_capital else ""
    if _GROUP.match(new):
        return "part of"
    if talk.is_person(subject):
        # Whoever transfers changes work; "we switched from Telekom to congstar" is no move.
        is_job = groups.get("job") or (groups.get("transfer") and subject != talk.me)
        is_firm = any(name.rpartition(" ")[2].lower() in _FIRMS or talk.kind(name) == "organisation" for name in ends)
        is_home = is_capital and not (groups.get("transfer") or groups.get("swapped"))
        return "works at" if is_job or is_firm else "lives in" if is_home else ""
    if is_room(new):
        return "located in"
    is_software = talk.kind(subject) == "service" or talk.kind(new) == "host" or subject.islower() or new.islower()
    return "runs on" if is_software else "located in" if is_capital else ""


def _fits(
    relation: str, groups: dict[str, str | None], subject: tuple[str, bool], target: tuple[str, bool], talk: Talk
) -> bool:
    """Whether the ends of a fact are what their relation is said of."""
    row = _TABLE[relation]
    host = "host" not in groups or talk.kind(target[0]) == "host"
    room = "room" not in groups or is_room(target[0])
    if relation == "located in" and subject[1] and not target[1]:
        return False  # "mail is at Gmail"
    if groups.get("with") and talk.is_person(target[0]):
        return False  # "works with Ada"
    ends = ((row.get("subject", ""), subject), (row.get("object", ""), target))
    return host and room and all(_is(kind, *end, talk) for kinds, end in ends for kind in kinds.split())


def _is(kind: str, name: str, is_noun: bool, talk: Talk) -> bool:
    """Whether a name or a common noun is of a kind that a relation asks for."""
    is_capital, is_person, known = name[:1].isupper() and not is_noun, talk.is_person(name), talk.kind(name)
    is_machine = known in ("host", "service")
    return {
        "name": not is_noun,
        "thing": not is_person,
        "person": is_person or (is_capital and known in ("", "person") and not name.isupper()),
        "owner": is_capital and (is_person or bool(_GROUP.search(name))),
        "town": is_capital and not is_person and not is_machine,
        "firm": is_noun or (is_capital and not is_machine),
        # A room, or a name that is neither somebody's nor a machine's.
        "spot": is_room(name) if is_noun else not is_person and known != "host",
    }[kind]
