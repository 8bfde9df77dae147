"""What a short sentence says of one thing in any words: that backups go to Backblaze, that the rent is 870 a month.

The graph keeps it aside until another memory of the same scope tells of a change of the same thing
(`graph/temporal/joint_facts.py`), so that it need not be sure: nothing follows from a sentence of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hopgate.extract.extraction import OWNER, Fact, Stated
from hopgate.extract.rules.change_words import changes_what_it_states, is_doubtful, moves_something
from hopgate.extract.rules.clauses import STATES, Clause
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.plain_wording import without_asides
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.role_table import ROLE_RELATIONS, with_role_words
from hopgate.extract.rules.small_words import has_small_words, in_english
from hopgate.extract.rules.stated_beside import beside_others, other_names, with_what_is_over
from hopgate.extract.rules.stated_changes import OF_OTHERS
from hopgate.extract.rules.stated_parts import BY
from hopgate.extract.rules.stated_sentence import statement_of
from hopgate.extract.rules.stated_turns import passed_on, was_and_is
from hopgate.extract.rules.stated_wording import in_known_words
from hopgate.extract.rules.timetable import TAKES_PLACE
from hopgate.extract.rules.words import words

# A longer note is no place where one thing is said of one thing.
MOST_TOKENS, MOST_SENTENCES, MOST_FACTS, MOST_CHARACTERS = 60, 4, 2, 240
LITERAL = frozenset(("costs", "due", TAKES_PLACE))
"""Relations whose object is an amount or a day."""
_TYPED = STATES | LITERAL | frozenset(ROLE_RELATIONS)
# A short note of few words may be taken for another language: "CI runs through Jenkins".
_ENGLISH = words("the is are our my now from goes runs through with to we")
_AT_ONCE = compiled(r"(?<!\S)(?:now|already|today)(?!\S)")
_ON = compiled(r"\b(?:on|in|since|from|of) (⟦\d+⟧)")
_REFERENCE = compiled(r"[⟨⟦⟪](\d+)[⟩⟧⟫]")
_PUT = compiled(r"(?:⟨\d+⟩ : )?(?:(?:i|we)(?: have| 've)? )?(?:just |finally )?(?:put|hung|stuck|parked|stored) ")
_MAY_NAME_BOTH = words("from instead not no rather -> → replaced took longer aren't isn't")
# "will be on Tuesdays from now on"
_WILL_BE = compiled(r" will be (?=[^;]*\bfrom now on\b)")
# "Doreen next door has my spare key"
_NEIGHBOUR = compiled(r"(?<=⟩) (?:next door|across the (?:road|street)|down the (?:road|street)|downstairs|upstairs)\b")
_MINE = compiled(r" (?:my|our) ")
_ANYBODYS = words("fee fees price prices rate charge subscription dues premium beitrag gebühr preis")
_GOES_ON = words("it they he she that this now")
_IS_THE = compiled(r"⟩ is (?:the|our) [^\W\d_]+ (?:at|of|for|in) ")  # "is the warden at Cluain Bheag"
# Of whom or what is told is said, and it is not us: "Tanja's sister has moved", "I transferred 200 pounds from A to B"
_OF_ANOTHER = compiled(
    r"(?:⟨\d+⟩ : )?(?:⟨\d+⟩ 's [^\W\d_]+ |(?:the|die|our|my|unsere|meine) (?:neighbou?rs?|nachbarn|colleagues|kollegen|"
    r"others|school|schule|office) |(?:i|we) transferred ⟪)"
)
_HOLDS_ROLE = compiled(r"^⟨\d+⟩ is (?:now |again |still )?(?:my|our) [^\s⟨,;]+(?: (?!and\b)[^\s⟨,;]+)?(?= (?:,|and) )")
_ELIDED = compiled(r"^(?:[ld]|qu)['’]")


def stated_values(
    sentences: Sequence[Clause], reading: Reading, facts: Sequence[Fact], owner: str = OWNER
) -> Iterator[Stated]:
    """Yield what the sentences of a short note say of things, and what they say to have changed.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.clauses import clauses
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> reading = read(Source("m1", Cleared("Backups go to Wasabi now.")))
    >>> for one in stated_values(list(clauses(reading)), reading, ()):
    ...     print(one.thing, "|", one.relation, "|", one.value, "|", one.is_change)
    backups | kept at | Wasabi | True
    """
    if (
        len(reading.lower) > MOST_TOKENS
        or len(sentences) > MOST_SENTENCES
        or not (reading.code == "en" or has_small_words(reading.code) or not _ENGLISH.isdisjoint(reading.lower))
    ):
        return
    typed = {fact.object.lower(): fact for fact in facts if fact.valid_to is None and fact.relation in _TYPED}
    found: list[Stated] = []
    # Where all was read that there is to read, nothing more is looked for.
    all_read = typed and len(sentences) == 1 and _MAY_NAME_BOTH.isdisjoint(reading.lower)
    if not all_read or _IS_THE.search(sentences[0].text):
        found = list(_of_clauses(sentences, reading, reading.speaker or owner))
        if len(reading.spans) > 1 and not any(one.former for one in found):
            found = with_what_is_over(found, sentences, reading)
    found += _replacements(facts, found, reading)
    ends = {end for fact in typed.values() for end in (fact.subject, fact.object)}
    others = [name for name in other_names(sentences, reading) if name not in ends]
    for one in found:
        if one.former and one.value.startswith(f"{one.former} "):
            continue  # "mit der Schach-AG aufgehört": nothing new
        # "Sunday" is a part of "Sunday 10am".
        part = f"{one.value.lower()} "
        whole = [value for value, fact in typed.items() if fact.relation in LITERAL and value.startswith(part)]
        fact = typed.pop(whole[0] if whole else one.value.lower(), None)
        yield from beside_others(one if fact is None else _as_fact(fact, one), others)
    if typed and len(typed) <= MOST_FACTS:
        told = any(map(changes_what_it_states, sentences)) or any(map(_puts, sentences))
        for fact in typed.values():
            # In a talk a thing is its speaker's, whoever read it; and a new date or price says from when on it is so.
            owned = f"{reading.speaker}'s {fact.subject}" if reading.speaker and fact.subject.islower() else ""
            since = fact.valid_from is not None and fact.relation in LITERAL
            stated = _as_fact(fact, Stated(owned, "", fact.object, _former(fact, facts), is_change=told or since))
            yield from beside_others(stated, others)


def _former(fact: Fact, facts: Sequence[Fact]) -> str:
    """What a note says to be over as something else begins: "the rent goes up from 320 to 350"."""
    over = [
        one.object
        for one in facts
        if one.valid_to is not None and (one.subject, one.relation) == (fact.subject, fact.relation)
    ]
    anybodys = fact.subject in _ANYBODYS  # "Netflix raises the fee"
    return over[0] if len(over) == 1 and fact.relation in LITERAL and not anybodys else ""


def _puts(clause: Clause) -> bool:
    """Whether a sentence tells where something was put: "put my bike in the cellar"."""
    return bool(_PUT.match(clause.text))


def _replacements(facts: Sequence[Fact], found: Sequence[Stated], reading: Reading) -> list[Stated]:
    """What a note says to be replaced, and by nobody else: of whatever had it, another note has told."""
    if not any(fact.relation == "replaced by" for fact in facts) or not OF_OTHERS.isdisjoint(reading.lower):
        return []
    ends = {end for fact in facts for end in (fact.subject, fact.object)}
    if any(reading.kinds.get(span.name) == "person" and span.name not in ends for span in reading.spans):
        return []
    told = {(one.former, one.value) for one in found}
    return [
        Stated("", BY, fact.object, fact.subject, is_change=True, valid_from=fact.valid_from)
        for fact in facts
        if fact.relation == "replaced by" and (fact.subject, fact.object) not in told
    ]


def _of_clauses(sentences: Sequence[Clause], reading: Reading, owner: str) -> Iterator[Stated]:
    """What each sentence says; one of "it" goes with the one before that says what was."""
    before = ""
    for clause in sentences:
        text = _plain(clause, reading)
        if not text or clause.question or len(text) > MOST_CHARACTERS:
            before = ""
            continue
        one = statement_of(text, reading.code)
        if one is None and (told := text.partition(" because "))[1]:
            one = statement_of(told[0], reading.code)  # what is denied there is the reason
        if one is None and " , " in text:
            # What was and what is, and then whatever there is to say: "moved from A to B, the old box was full".
            part = _plain(replace(clause, text=clause.text.partition(" , ")[0]), reading)
            first = statement_of(part, reading.code)
            one = first if first and first.is_change and first.former and not is_doubtful(clause) else None
        if one is None and (role := _HOLDS_ROLE.match(text)):
            one = statement_of(role[0], reading.code)  # "Emil is our captain and gives short speeches"
        if one is None and " : " in text and " , " in text:
            yield from (_of_reading(more, text, reading, owner) for more in _listed(text, reading.code))
        if before and (passed := passed_on(f"{before} , {text}")):
            one = passed
        if one is None and before and text.split()[0] in _GOES_ON:
            one = was_and_is(f"{before} , {text}")
        before = text
        if one and one.former and _is_of_another(one, clause, text):
            one = None
        if one is not None:
            yield _of_reading(one, text, reading, owner)
            if not one.is_change and " , " in text:
                yield from (_of_reading(more, text, reading, owner) for more in _more(text, one, reading.code))


def _is_of_another(one: Stated, clause: Clause, text: str) -> bool:
    """Whether what was and what is are not of the thing: of somebody's sister, of an office, of a room in a house."""
    if not one.thing and _OF_ANOTHER.match(clause.text):
        return True
    if moves_something(clause.text) and one.thing and clause.text.startswith(one.thing):
        return True  # "Mona moved her office from Porto to Braga": not she
    return any(f"{one.value} {at} {one.former}" in text for at in ("at", "in", "of"))  # "a bigger room at Willow Court"


def _listed(text: str, code: str) -> Iterator[Stated]:
    """What a list says of each that it names: "the team: Dana owns quotes, Anjali owns docks, Caleb is our drummer"."""
    for part in text.partition(" : ")[2].split(" , "):
        said = part.removeprefix("and ")
        one = statement_of(said, code) if said[:1] == "⟨" else None
        if one and not one.is_change and one.thing and one.value == said.partition(" ")[0]:
            yield one


def _more(text: str, one: Stated, code: str) -> Iterator[Stated]:
    """What the other parts of a sentence say to be so: "our account is at the Sparkasse, contact there is Mr Nolte"."""
    for part in text.split(" , ")[1:]:
        said = part.removeprefix("and ").replace(" there is ", " is ").replace(" dort is ", " is ")
        other = statement_of(said, code) if " is " in said else None
        if other and not other.is_change and other.value[:1] == "⟨" and other.value != one.value and other.thing:
            yield other


def _plain(clause: Clause, reading: Reading) -> str:
    """The text of a sentence without its speaker and asides, its small words in English."""
    text = clause.text
    if "⟨team " in text:
        text = text.replace("⟨team ", "⟨")
    if reading.speaker and text[0] == "⟨":
        text = text.partition(" : ")[2] or text
    if "( " in text:
        text = without_asides(text)
    text = in_known_words(with_role_words(text, reading), reading)
    if reading.code != "en" and has_small_words(reading.code):
        text = in_english(text, reading.code)
    if " will be " in text:
        text = _WILL_BE.sub(" is ", text)
    if "⟩ " in text:
        text = _NEIGHBOUR.sub("", text)
    return text.replace(" takes place", " is").replace(" take place", " are") if " place" in text else text


def _of_reading(one: Stated, text: str, reading: Reading, owner: str) -> Stated:
    """What a sentence says, with the names, dates and amounts of its note."""
    since = _since(text, one) if one.is_change and "⟦" in text else None
    parts = (_filled(part, reading) for part in (one.thing, one.value, one.former))
    thing, value, former = (_as_written(part, reading) for part in parts)
    about = ""
    if thing and reading.speaker:  # where several speak, things are told apart by who speaks of them
        about = f"{reading.speaker}'s {thing}"
        thing = about if _MINE.search(f" {text}") else thing
    begin = _filled(since, reading) if since else None
    value = owner if value == OWNER else value
    return Stated(thing, one.relation, value, former, one.is_change, begin, about)


def _as_written(part: str, reading: Reading) -> str:
    """A text of another language as it stands in its note: small words were put into English, and all in lower case."""
    words_ = part.lower().split()
    if reading.code == "en" or not words_:
        return part
    places = [
        (end - at, at)
        for at, word in enumerate(reading.lower)
        if word == words_[0]
        for end in range(at + 1, at + len(words_) + 3)
        if reading.lower[end - 1 : end] and _ELIDED.sub("", reading.lower[end - 1]) == words_[-1]
    ]
    if not places:
        return part
    length, at = min(places)
    text = " ".join(reading.tokens[at : at + length])
    is_start = at == 0 or reading.marks[at - 1] in ".¶:"
    return text[0].lower() + text[1:] if is_start and reading.code != "de" and part[0].islower() else text


def _filled(part: str, reading: Reading) -> str:
    """A part of an encoded sentence with its names, dates and amounts."""
    if part and (part[-1] in "⟩⟧⟫" or "⟨" in part):
        part = _REFERENCE.sub(lambda found: reading.spans[int(found[1])].name, part)
    return part


def _since(text: str, one: Stated) -> str | None:
    """From when on a change is told to be so: the reference of a date that is no value.

    "Mr Reed is the landlord now, rent is 1215 from July": he is that now.
    """
    said = next((part for part in text.split(" , ") if one.value and one.value in part), "")
    text = said if _AT_ONCE.search(said) else text
    return next((date for date in _ON.findall(text) if date not in (one.value, one.former)), None)


def _as_fact(fact: Fact, one: Stated) -> Stated:
    """What a sentence says, by the fact that a pattern made of it: what follows it is such a fact, too."""
    about = fact.relation.removeprefix("has ") if fact.relation in ROLE_RELATIONS else ""
    return Stated(
        fact.subject,
        fact.relation,
        fact.object,
        one.former,
        one.is_change,
        fact.valid_from or one.valid_from,
        about or one.about or one.thing,
    )
