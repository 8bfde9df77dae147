"""Changes that notes tell: what a later sentence ends becomes facts, of an earlier memory's or of its own.

By itself "Mr Dube has taken Edie on" tells of nothing; after "Edie's piano is with Mrs Lathom" it does. A short note is
compared as a whole with earlier ones of its scope; its sentences, and the lines of a longer one, with those before them
and with those of earlier notes. What names itself what was ("moved from Pune to Dublin") needs no other. Two facts are
written, of which each knows both memories: what was, with its end, and what is from then on. Their relation and names
are those of a fact of the earlier text where it has one of the former value, else "is" and the words themselves.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.errors import WithdrawnError
from hopgate.extract.changes import model
from hopgate.extract.changes.model import Compared
from hopgate.extract.changes.sentences import ReadNote, Sentence, day_in, is_short, read_note
from hopgate.extract.extraction import ExtractorIdentity, Fact, Source
from hopgate.extract.model.answer import MODEL_CONFIDENCE
from hopgate.extract.model.judge import Ended, Judge
from hopgate.graph.build.derive import rederive
from hopgate.graph.build.reading import read_alone
from hopgate.graph.build.sink import is_name, kind_of_value
from hopgate.graph.names import initials, normalise
from hopgate.guard import guarded
from hopgate.progress import Progress
from hopgate.store import extractions
from hopgate.store.graph import changes, fact_rows, name_rows
from hopgate.store.graph.changes import OpenFact, Rival
from hopgate.store.graph.fact_rows import FactRow, NamedFact
from hopgate.store.graph.version import share
from hopgate.times import moment

if TYPE_CHECKING:
    from datetime import datetime

    from psycopg import Connection

    from hopgate.store.store import Store

# Memories that are read in one transaction and written in another.
BATCH = 256
# With how many earlier texts each is compared, some 10 ms each: of 5,440 notes in one scope the one that a change is of
# is the first for 885 of 1,160, among three for 1,033, among six for 1,089 (docs/measurements.md).
MOST_EARLIER = 8
# So sure is the model of its words where one sentence tells a change alone: 49 of 141 changes and none of 59
# look-alikes of the tuning halves of sets 24 to 27.
CERTAIN = 0.9
# Below this a text tells of no change, whatever it is about.
NOTHING = 0.01
IS = "is"
"""The relation of a thing and its value where no fact of the earlier memory says another."""


class Place(NamedTuple):
    """A sentence, or a short note as a whole, of a memory."""

    memory_id: int
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Telling:
    """A text that tells of a change, what the model reads in it alone, and the texts that it is compared with.

    It is read alone after what it is about, `subject`, which is empty where the model is surer without.
    """

    place: Place
    is_whole: bool
    subject: str
    alone: Compared
    earlier: list[Place] = field(default_factory=list)

    @property
    def beside(self) -> str:
        """What it and earlier sentences are about, which makes the model surer that both are about one thing."""
        return self.subject or next(iter(self.place.sentence.subjects), "")

    @property
    def text(self) -> str:
        """As it is read beside others, which have the same subject before them."""
        return self.place.sentence.about(self.beside)

    def tells_all(self) -> bool:
        """Whether by itself it names what was and what is instead, as surely as the model can."""
        return self.alone.change >= model.THRESHOLD and _names_all(self.alone)


@dataclass(frozen=True, slots=True)
class Note:
    """One text of a pair: its words, when that was known, the names that its memory mentions and what that says."""

    text: str
    known: datetime
    names: Sequence[str] = ()
    facts: Sequence[NamedFact] = ()
    subject: str = ""


class Change(NamedTuple):
    """Of which thing by which relation what was is over, and what is instead, if any."""

    thing: str
    relation: str
    former: str
    value: str
    since: datetime


class Found(NamedTuple):
    """A change by the two places that tell it: one and the same, where the later one tells it alone."""

    earlier: Place
    later: Telling
    compared: Compared


@dataclass
class Batch:
    """Memories that wait, the facts of theirs that seem to end others, and all texts that are read with them."""

    waiting: Sequence[int]
    rivals: list[Rival]
    sources: dict[int, Source] = field(default_factory=dict)
    notes: dict[int, ReadNote] = field(default_factory=dict)

    def add(self, connection: Connection[Any], memory_ids: Collection[int]) -> None:
        """Read further memories, as far as they may be read."""
        read = read_alone(connection, {*memory_ids} - self.sources.keys())
        self.sources |= read
        self.notes |= {key: read_note(source) for key, source in read.items()}


def read_changes(store: Store, identity: ExtractorIdentity, show: Callable[[Progress], object] = str) -> None:
    """Read every memory that waits for it, by itself and beside earlier ones of its scope; edges follow at once."""
    began, progress = time.monotonic(), Progress(stage="reading changes")
    waiting = store.run(partial(_waiting, identity))
    for start in range(0, len(waiting), BATCH):
        batch = store.run(partial(_batch, waiting[start : start + BATCH]))
        store.run(partial(_write, batch, _found(store, batch), _refuted(batch)))
        done, seconds = start + len(batch.waiting), time.monotonic() - began
        progress = replace(progress, memories=done, total=len(waiting), seconds=seconds)
        show(progress)


def _waiting(identity: ExtractorIdentity, connection: Connection[Any]) -> list[int]:
    """The memories to read; those of a later day that may end what one says which arrived late are read once more."""
    waiting = changes.waiting(connection, identity.hash)
    late = read_alone(connection, changes.late_arrivals(connection, waiting))
    texts = [(key, source.text) for key, source in late.items()]
    later = {key for keys in changes.near(connection, texts, limit=MOST_EARLIER, later=True) for key in keys}
    if again := later - changes.with_changes(connection, sorted(later)):
        changes.set_compared(connection, sorted(again), None)
        return changes.waiting(connection, identity.hash)
    return waiting


def _batch(waiting: Sequence[int], connection: Connection[Any]) -> Batch:
    batch = Batch(waiting, changes.rivals(connection, waiting))
    batch.add(connection, {*waiting, *(rival.earlier_id for rival in batch.rivals)})
    return batch


def _found(store: Store, batch: Batch) -> list[Found]:
    """The change that each text tells: that of the likeliest pair, or its own where it names all of it.

    Where a short note as a whole ends what an earlier one says, its sentences say nothing more, and are not read.
    """
    places = list(_places(batch))
    wholes = _ends(store, batch, [place for place, is_whole in places if is_whole], is_whole=True)
    over = {each.place.memory_id for each, end in wholes if end}
    rest = [place for place, is_whole in places if not is_whole and place.memory_id not in over]
    parts = _ends(store, batch, rest, is_whole=False)
    several = {each.place.memory_id for each, _ in parts}
    wholes = [(each, end) for each, end in wholes if end or each.place.memory_id not in several]
    return [end or Found(each.place, each, each.alone) for each, end in (*wholes, *parts) if end or each.tells_all()]


def _ends(store: Store, batch: Batch, places: Sequence[Place], *, is_whole: bool) -> list[tuple[Telling, Found | None]]:
    """The texts that tell of a change, each with the likeliest end that it makes with an earlier one."""
    telling = [each for each in model.on_all_cores(partial(_read_alone, is_whole), places) if each]
    store.run(partial(_find_earlier, batch, telling))
    pairs = [(each, place) for each in telling for place in each.earlier]
    read = model.compared_all([(place.sentence.about(each.beside), each.text) for each, place in pairs])
    # Whole notes differ enough for the end alone to tell; sentences of one note are much alike.
    rank = (lambda pair: pair.end) if is_whole else _sureness
    best: dict[int, Found] = {}
    for (each, place), compared in zip(pairs, read, strict=True):
        known = best.get(id(each))
        if compared.end >= model.THRESHOLD and (known is None or rank(compared) > rank(known.compared)):
            best[id(each)] = Found(place, each, compared)
    return [(each, best.get(id(each))) for each in telling]


def _places(batch: Batch) -> Iterator[tuple[Place, bool]]:
    """Whole notes and sentences that may tell of a change by their words."""
    for key, note in ((key, batch.notes[key]) for key in batch.waiting if key in batch.notes):
        if note.whole:
            if not model.may_tell_change(note.whole.bare):
                continue
            yield Place(key, note.whole), True
        for sentence in note.sentences if len(note.sentences) > 1 or not note.whole else ():
            if model.may_tell_change(sentence.about("".join(sentence.subjects[:1]))):
                yield Place(key, sentence), False


def _read_alone(is_whole: bool, place: Place) -> Telling | None:
    """What a text tells by itself, about what it says most surely; None where it tells of no change."""
    best: Telling | None = None
    for subject in (*place.sentence.subjects, ""):
        alone = model.compared("", place.sentence.about(subject))
        if best is None or _sureness(alone) > _sureness(best.alone):
            change = max(alone.change, best.alone.change if best else 0)
            best = Telling(place, is_whole, subject, alone._replace(change=change))
        if alone.change < NOTHING or (alone.change >= model.THRESHOLD and _names_all(alone)):
            break  # what it is about makes no difference
    return best if best and best.alone.change >= model.TOLD else None


def _find_earlier(batch: Batch, telling: Sequence[Telling], connection: Connection[Any]) -> None:
    """Give each text that tells of a change those that it is compared with: of its own note, and of earlier ones."""
    beside = [each for each in telling if each.is_whole or not batch.notes[each.place.memory_id].whole]
    texts = [(each.place.memory_id, each.text) for each in beside]
    near = dict(zip(map(id, beside), changes.near(connection, texts, limit=MOST_EARLIER), strict=True))
    batch.add(connection, {key for keys in near.values() for key in keys})
    for each in telling:
        key, sentence = each.place
        if not each.is_whole and not each.tells_all():
            own = [Place(key, before) for before in _before(batch.notes[key].sentences, sentence)]
            each.earlier.extend(_nearest(sentence, own, MOST_EARLIER))
        for other, note in ((other, batch.notes[other]) for other in near.get(id(each), ()) if other in batch.notes):
            places = [Place(other, part) for part in ([note.whole] if note.whole else note.sentences)]
            each.earlier.extend(_nearest(sentence, places, 2))


def _before(sentences: Sequence[Sentence], later: Sentence) -> list[Sentence]:
    """The sentences of a note that are earlier than one: by their days, or where these say nothing by their place."""
    place = next(at for at, sentence in enumerate(sentences) if sentence is later)
    return [
        sentence
        for at, sentence in enumerate(sentences)
        if at != place
        and later.may_follow(sentence)
        and (sentence.day < later.day if sentence.day and later.day and sentence.day != later.day else at < place)
    ]


def _nearest(later: Sentence, places: Sequence[Place], limit: int) -> list[Place]:
    """Those places that share most of the rarer words with a sentence."""
    if len(places) <= limit:
        return list(places)
    words = [set(normalise(place.sentence.bare).split()) for place in places]
    held = Counter(word for some in words for word in some)
    mine = set(normalise(later.bare).split())
    shared = [sum(math.log(1 + len(places) / held[word]) for word in some & mine) for some in words]
    order = sorted(range(len(places)), key=lambda at: (-shared[at], -at))
    return [places[at] for at in order[:limit]]


def _names_all(compared: Compared) -> bool:
    sure = {span.label for span in compared.of_later if span.confidence >= CERTAIN}
    return {"former", "value"} <= sure


def _sureness(compared: Compared) -> float:
    """How sure the model is of a change and of its words together, as log-odds; of these half as much."""
    best: dict[str, float] = {}
    for span in (*compared.of_earlier, *compared.of_later):
        best.setdefault(span.label, span.confidence)
    parts = [max(compared.end, compared.change), *(best.get(label, 0.5) for label in ("thing", "former", "value"))]
    logits = [math.log(part / (1 - part)) for part in (min(max(part, 1e-4), 1 - 1e-4) for part in parts)]
    return logits[0] + sum(logits[1:]) / 2


def _refuted(batch: Batch) -> list[Rival]:
    """The facts that seem to end an earlier one, where the model says that nothing ends."""
    texts = {key: source.text for key, source in batch.sources.items() if is_short(source.text)}
    rivals = [rival for rival in batch.rivals if {rival.earlier_id, rival.later_id} <= texts.keys()]
    pairs = model.compared_all([(texts[rival.earlier_id], texts[rival.later_id]) for rival in rivals])
    alone = model.compared_all([("", texts[rival.later_id]) for rival in rivals])
    return [rival for rival, *read in zip(rivals, pairs, alone, strict=True) if model.refutes(*read)]


def _write(batch: Batch, found: Sequence[Found], refuted: Sequence[Rival], connection: Connection[Any]) -> None:
    """Write what was read of memories that are still what they were; the others wait on."""
    deriving = share(connection)
    # Every writer of both locks memories first and the graph second, so that no two wait for each other.
    known = {row.id: row.recorded_at for row in extractions.readable(connection, list(batch.sources.values())).values()}
    name_rows.lock(connection)
    refuted = [rival for rival in refuted if {rival.earlier_id, rival.later_id} <= known.keys()]
    changes.set_beside(connection, refuted)
    changed = {rival.later_id for rival in refuted}
    kept = [each for each in found if {each.earlier.memory_id, each.later.place.memory_id} <= known.keys()]
    told = [each.later.place.memory_id for each in kept]
    scopes = name_rows.scopes_of(connection, told)
    names = changes.names(connection, [*told, *(each.earlier.memory_id for each in kept)])

    def when(each: Found) -> tuple[datetime, int]:
        key, sentence = each.later.place
        return sentence.day or known[key], key

    # In the order of their days: what an earlier one was said to be is what a later one ends.
    for each in sorted(kept, key=when):
        key, is_alone = each.later.place.memory_id, each.earlier is each.later.place
        subject = each.later.subject if is_alone else each.later.beside
        earlier, later = (
            _note(place, subject, known[place.memory_id], names.get(place.memory_id, ()),
                  fact_rows.of_memory(connection, place.memory_id, counting=True))
            for place in (each.earlier, each.later.place)
        )  # fmt: skip
        if change := change_of(each.compared, earlier, later, alone=is_alone):
            _add(connection, each, change, known[key], scopes[key])
            changed.add(key)
    done = [key for key in batch.waiting if key in known or key not in batch.sources]
    changes.set_compared(connection, done, model.NAME)
    if deriving and changed:
        rederive_groups(connection, changed)


def rederive_groups(connection: Connection[Any], memory_ids: Collection[int]) -> None:
    """Derive anew what follows from the facts of some memories and from those that can end them."""
    groups = fact_rows.groups_of_memories(connection, sorted(memory_ids))
    concepts = {end for group in groups for end in (group.src_id, group.dst_id) if end is not None}
    rederive(connection, concept_ids=sorted(concepts), groups=groups)


def _note(place: Place, subject: str, recorded_at: datetime, names: Sequence[str], facts: Sequence[NamedFact]) -> Note:
    """A place with the names and facts of its memory: of a sentence those that it can say."""
    sentence, text = place.sentence, place.sentence.about(subject)
    if sentence.under or sentence.subjects or sentence.day:
        words = normalise(text)
        facts = [fact for fact in facts if normalise(fact.object) in words]
    known = sentence.day or day_in(sentence.bare, recorded_at) or recorded_at
    return Note(text, known, names, facts, subject or "".join(sentence.subjects[:1]))


def change_of(compared: Compared, earlier: Note, later: Note, *, alone: bool = False) -> Change | None:
    """What a pair tells, by the names that both have; None where neither says what was.

    Examples
    --------
    >>> from datetime import datetime
    >>> from hopgate.extract.changes.model import Span
    >>> of_earlier = [Span("thing", "Backups", 0, 1), Span("former", "B2", 14, 1)]
    >>> pair = Compared(0.99, of_earlier, [Span("value", "Wasabi", 4, 1)])
    >>> earlier, later = Note("Backups go to B2", datetime(2024, 1, 1)), Note("Now Wasabi", datetime(2024, 2, 1))
    >>> change_of(pair, earlier, later)[:4]
    ('Backups', 'is', 'B2', 'Wasabi')
    """
    named = compared.with_names(earlier.names, later.names, (earlier.text, later.text))
    # "From 2019 to 2021 she worked at BMW" is no news of where she works.
    if any(fact.valid_to and _shared(fact.object, named.value) for fact in later.facts):
        return None
    was, now = (None, None) if alone else _facts_of(named, earlier.facts, later.facts)
    subject = named.thing or later.subject or earlier.subject
    thing, relation, former = (was.subject, was.relation, was.object) if was else (subject, IS, named.former)
    if not was and (now := _stated(named, later.facts)):
        thing, relation = now.subject, now.relation
    # What the later note's own fact says need not be said again.
    value = named.value if not now else now.object if now.subject != thing else ""
    dates = (fact.valid_from for fact in later.facts if fact.valid_from and fact.valid_from > earlier.known)
    since = now.valid_from if now and now.valid_from else next(dates, later.known)
    normals = normalise(thing), normalise(former)
    if normals[0] == normals[1] or not (is_name(thing, normals[0]) and is_name(former, normals[1])):
        return None
    if not is_name(value, normalise(value)) or normalise(value) in normals:
        value = ""
    return Change(thing, relation, former, value, since)


def _facts_of(
    named: Compared, earlier: Sequence[NamedFact], later: Sequence[NamedFact]
) -> tuple[NamedFact | None, NamedFact | None]:
    """The fact of the earlier note that is over, and that of the later one which says what is instead.

    The first is the one whose object has most words of what was, and whose subject most of the thing; or where none has
    any, as of dates and amounts, one that a fact of the later note contradicts.
    """
    earlier, later = ([fact for fact in facts if not fact.valid_to] for facts in (earlier, later))

    def likeness(fact: NamedFact) -> tuple[float, float]:
        return _shared(fact.object, named.former), _shared(fact.subject, named.thing)

    def successor(fact: NamedFact) -> NamedFact | None:
        return next((one for one in later if one.relation == fact.relation and one.object != fact.object
                     and _shared(one.subject, fact.subject)), None)  # fmt: skip

    was = max((fact for fact in earlier if likeness(fact)[0]), key=likeness, default=None)
    was = was or next((fact for fact in earlier if _shared(fact.subject, named.thing) and successor(fact)), None)
    return was, was and successor(was)


def _stated(named: Compared, facts: Sequence[NamedFact]) -> NamedFact | None:
    """The fact of the later note that says of the thing what is instead."""

    def likeness(fact: NamedFact) -> float:
        return _shared(fact.object, named.value) * _shared(fact.subject, named.thing)

    return max((fact for fact in facts if not fact.valid_to and likeness(fact)), key=likeness, default=None)


def _shared(one: str, other: str) -> float:
    """The share of the words of two names that both have."""
    words, others = set(normalise(one).split()), set(normalise(other).split())
    return len(words & others) / (len(words | others) or 1)


def _add(connection: Connection[Any], found: Found, change: Change, recorded_at: datetime, scope: str) -> None:
    """Write a change as the end of what was, and the beginning of what is."""
    earlier_id, later_id = found.earlier.memory_id, found.later.place.memory_id
    names = {normalise(name): name for name in (change.thing, change.former, change.value) if name}
    wanted = {(scope, normal): (name, kind_of_value(name)) for normal, name in names.items()}
    known = name_rows.ensure(connection, wanted, {normal: initials(normal) for normal in names})
    thing, former = (known[scope, normalise(name)].id for name in (change.thing, change.former))
    relation = change.relation
    if relation == IS:
        # Another memory may have said what the thing is to what was, or to what is instead.
        others = [known[scope, normalise(name)].id for name in (change.former, change.value) if name]
        relation = next(filter(None, (changes.relation_between(connection, thing, other) for other in others)), IS)
    began = found.earlier.sentence.day if found.earlier is not found.later.place else None
    began = began if began and began < change.since else None

    def row(memory_id: int, value: int, start: datetime | None, end: datetime | None, other: int) -> FactRow:
        sure = max(found.compared.end, found.compared.change)
        return FactRow(memory_id, thing, relation, value, sure, start, end, recorded_at, scope, other)

    rows = [row(earlier_id, former, began, change.since, later_id)]
    if change.value:
        value = known[scope, normalise(change.value)].id
        rows.append(row(later_id, value, change.since, None, earlier_id))
    fact_rows.add_facts(connection, rows)


# Ends that a language model judges: which open facts of earlier memories no longer hold after a new one. "Moved to
# europa" ends "hosted on atlas" though no relation of theirs is the same. Each end is a fact that knows both memories.

# Memories of one call, and open facts that each is asked about.
TOGETHER, MOST_OPEN = 16, 10


def read_judged_ends(
    store: Store, judge: Judge, identity: ExtractorIdentity, show: Callable[[Progress], object] = str
) -> None:
    """Ask about every memory that waits for it, in the order of their days; edges follow at once.

    Those of which one may not be read any more by then, or about which the model gives no answer, wait for the next
    build.
    """
    began, progress = time.monotonic(), Progress(stage="judging changes")
    waiting = store.run(lambda connection: changes.waiting(connection, identity.hash))
    for start in range(0, len(waiting), TOGETHER):
        ids = waiting[start : start + TOGETHER]
        with store.transaction() as connection:
            sources, found = read_alone(connection, ids), changes.open_facts(connection, ids, limit=MOST_OPEN)
        asked = [key for key in sources if found.get(key)]
        read = [sources[key] for key in asked]
        facts = [[Fact(row.subject, row.relation, row.object) for row in found[key]] for key in asked]
        try:
            with guarded(extractions.guard(store, read)):
                answers = judge.ends(read, facts) if asked else []
        except WithdrawnError:
            continue
        ended = dict.fromkeys(sources, Ended()) | dict(zip(asked, answers, strict=True))
        store.run(partial(_write_ends, sources, found, ended))
        done, seconds = start + len(ids), time.monotonic() - began
        progress = replace(progress, memories=done, total=len(waiting), seconds=seconds)
        show(progress)


def _write_ends(
    sources: Mapping[int, Source],
    found: Mapping[int, Sequence[OpenFact]],
    ended: Mapping[int, Ended | None],
    connection: Connection[Any],
) -> None:
    """Write the ends that memories tell which are still what they were."""
    deriving = share(connection)
    known = {row.id: row.recorded_at for row in extractions.readable(connection, list(sources.values())).values()}
    name_rows.lock(connection)
    there = fact_rows.existing(connection, [row.id for rows in found.values() for row in rows])
    answered = {key: answer for key, answer in ended.items() if answer is not None and key in known}
    rows = []
    for key, answer in answered.items():
        since = moment(answer.since) or known[key]
        for fact in (found[key][place] for place in answer.places):
            start = fact.valid_from if fact.valid_from and fact.valid_from < since else None
            ends = FactRow(fact.memory_id, fact.subject_id, fact.relation, fact.object_id, MODEL_CONFIDENCE, start,
                           since, known[key], fact.scope, key)  # fmt: skip
            rows += [ends] if fact.id in there else []
    fact_rows.add_facts(connection, rows)
    changes.set_compared(connection, list(answered), "judge")
    if deriving and rows:
        rederive_groups(connection, [row.memory_id for row in rows])
