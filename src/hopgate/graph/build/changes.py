"""Changes that notes state themselves: ends of facts that follow from no rule of `graph/temporal.py`.

By itself "Mr Dube has taken Edie on" tells of nothing; after "Edie's piano is with Mrs Lathom" it does. A short note is
compared as a whole with earlier ones of its scope; its sentences, and the lines of a longer one, with those before them
and with those of earlier notes. A text that itself names the former value ("moved from Pune to Dublin") needs no other.
Two facts are written, each with the ids of both memories: the former value with its end, and the new one from then on.
Relation and names are those of the earlier text's fact of the former value, else "is" and the words themselves.
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

    When it is read alone `subject` is put before it, which is empty where the model is surer without.
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
    """One text of a pair: its words, when they were known, the names and the facts of its memory, and its subject."""

    text: str
    known_at: datetime
    names: Sequence[str] = ()
    facts: Sequence[NamedFact] = ()
    subject: str = ""


class StatedChange(NamedTuple):
    """A relation of a thing whose former value is over since then, and the new value, "" where none is named."""

    thing: str
    relation: str
    former: str
    value: str
    since: datetime


class Pair(NamedTuple):
    """The two places that tell a change: the same one twice where the later one tells it alone."""

    earlier: Place
    later: Telling
    compared: Compared


@dataclass
class Batch:
    """Waiting memories in the order of their days, their facts that seem to end others, and by id every text read."""

    waiting: Sequence[int]
    rivals: list[Rival]
    sources: dict[int, Source] = field(default_factory=dict)
    notes: dict[int, ReadNote] = field(default_factory=dict)

    def add(self, connection: Connection[Any], memory_ids: Collection[int]) -> None:
        """Read further memories, but for those that turned sensitive or went."""
        new_sources = read_alone(connection, {*memory_ids} - self.sources.keys())
        self.sources |= new_sources
        self.notes |= {key: read_note(source) for key, source in new_sources.items()}


def read_changes(store: Store, identity: ExtractorIdentity, show: Callable[[Progress], object] = str) -> None:
    """Read every memory that waits for it, by itself and beside earlier ones of its scope; edges follow at once."""
    began, progress = time.monotonic(), Progress(stage="reading changes")
    waiting = store.run(partial(_waiting, identity))
    for start in range(0, len(waiting), BATCH):
        batch = store.run(partial(_read_batch, waiting[start : start + BATCH]))
        store.run(partial(_write_changes, batch, _told_pairs(store, batch), _refuted_rivals(batch)))
        done, seconds = start + len(batch.waiting), time.monotonic() - began
        progress = replace(progress, memories=done, total=len(waiting), seconds=seconds)
        show(progress)


def _waiting(identity: ExtractorIdentity, connection: Connection[Any]) -> list[int]:
    """Ids of the memories to read, by day; after late arrivals the compared ones of later days near them wait again."""
    waiting = changes.waiting(connection, identity.hash)
    late_sources = read_alone(connection, changes.late_arrivals(connection, waiting))
    texts = [(key, source.text) for key, source in late_sources.items()]
    later_ids = {key for ids in changes.near(connection, texts, limit=MOST_EARLIER, later=True) for key in ids}
    if reopened := later_ids - changes.with_changes(connection, sorted(later_ids)):
        changes.set_compared(connection, sorted(reopened), None)
        return changes.waiting(connection, identity.hash)
    return waiting


def _read_batch(waiting: Sequence[int], connection: Connection[Any]) -> Batch:
    batch = Batch(waiting, changes.rivals(connection, waiting))
    batch.add(connection, {*waiting, *(rival.earlier_id for rival in batch.rivals)})
    return batch


def _told_pairs(store: Store, batch: Batch) -> list[Pair]:
    """For each text that tells a change its likeliest pair, or itself alone where it names all of the change.

    Whole notes come first. Where one ends what an earlier note says, its sentences are not read.
    """
    places = list(_places(batch))
    wholes = _pairs(store, batch, [place for place, is_whole in places if is_whole], is_whole=True)
    ending_ids = {each.place.memory_id for each, pair in wholes if pair}
    other_places = [place for place, is_whole in places if not is_whole and place.memory_id not in ending_ids]
    parts = _pairs(store, batch, other_places, is_whole=False)
    ids_of_parts = {each.place.memory_id for each, _ in parts}
    wholes = [(each, pair) for each, pair in wholes if pair or each.place.memory_id not in ids_of_parts]
    return [pair or Pair(each.place, each, each.alone) for each, pair in (*wholes, *parts) if pair or each.tells_all()]


def _pairs(store: Store, batch: Batch, places: Sequence[Place], *, is_whole: bool) -> list[tuple[Telling, Pair | None]]:
    """The texts that tell of a change, each with the likeliest pair in which it ends something; of equals the first."""
    tellings = [telling for telling in model.on_all_cores(partial(_read_alone, is_whole), places) if telling]
    store.run(partial(_find_earlier, batch, tellings))
    pairs = [(telling, place) for telling in tellings for place in telling.earlier]
    readings = model.compared_all([(place.sentence.about(telling.beside), telling.text) for telling, place in pairs])
    best: dict[int, Pair] = {}
    for (telling, place), compared in zip(pairs, readings, strict=True):
        best_yet = best.get(id(telling))
        if compared.is_end and (best_yet is None or compared.sureness > best_yet.compared.sureness):
            best[id(telling)] = Pair(place, telling, compared)
    return [(telling, best.get(id(telling))) for telling in tellings]


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
    """Read a text by itself, after the subject with which the model is surest; None where it tells of no change."""
    best: Telling | None = None
    for subject in (*place.sentence.subjects, ""):
        alone = model.compared("", place.sentence.about(subject))
        if best is None or alone.sureness > best.alone.sureness:
            change = max(alone.change, best.alone.change if best else 0)
            best = Telling(place, is_whole, subject, alone._replace(change=change))
        if alone.change < NOTHING or (alone.change >= model.THRESHOLD and _names_all(alone)):
            break  # what it is about makes no difference
    return best if best and best.alone.change >= model.TOLD else None


def _find_earlier(batch: Batch, tellings: Sequence[Telling], connection: Connection[Any]) -> None:
    """Fill `earlier` of each text that tells of a change: places of its own note first, then of earlier ones."""
    outward = [telling for telling in tellings if telling.is_whole or not batch.notes[telling.place.memory_id].whole]
    texts = [(telling.place.memory_id, telling.text) for telling in outward]
    near = dict(zip(map(id, outward), changes.near(connection, texts, limit=MOST_EARLIER), strict=True))
    batch.add(connection, {key for ids in near.values() for key in ids})
    for telling in tellings:
        key, sentence = telling.place
        if not telling.is_whole and not telling.tells_all():
            own = [Place(key, before) for before in _earlier_sentences(batch.notes[key].sentences, sentence)]
            telling.earlier.extend(_most_alike(sentence, own, MOST_EARLIER))
        for other, note in ((other, batch.notes[other]) for other in near.get(id(telling), ()) if other in batch.notes):
            places = [Place(other, part) for part in ([note.whole] if note.whole else note.sentences)]
            telling.earlier.extend(_most_alike(sentence, places, 2))


def _earlier_sentences(sentences: Sequence[Sentence], later: Sentence) -> list[Sentence]:
    """The sentences of a note that are earlier than one: by their days, or where these say nothing by their place."""
    own_at = next(at for at, sentence in enumerate(sentences) if sentence is later)
    return [
        sentence
        for at, sentence in enumerate(sentences)
        if at != own_at
        and later.may_follow(sentence)
        and (sentence.day < later.day if sentence.day and later.day and sentence.day != later.day else at < own_at)
    ]


def _most_alike(later: Sentence, places: Sequence[Place], limit: int) -> list[Place]:
    """The places that share most of the rarer words with a sentence, best first, of equals the last; all, if few."""
    if len(places) <= limit:
        return list(places)
    word_sets = [set(normalise(place.sentence.bare).split()) for place in places]
    holders = Counter(word for words in word_sets for word in words)
    later_words = set(normalise(later.bare).split())
    overlaps = [sum(math.log(1 + len(places) / holders[word]) for word in words & later_words) for words in word_sets]
    order = sorted(range(len(places)), key=lambda at: (-overlaps[at], -at))
    return [places[at] for at in order[:limit]]


def _names_all(compared: Compared) -> bool:
    sure_labels = {span.label for span in compared.of_later if span.confidence >= CERTAIN}
    return {"former", "value"} <= sure_labels


def _refuted_rivals(batch: Batch) -> list[Rival]:
    """The facts that seem to end an earlier one, where the model says that nothing ends."""
    texts = {key: source.text for key, source in batch.sources.items() if is_short(source.text)}
    rivals = [rival for rival in batch.rivals if {rival.earlier_id, rival.later_id} <= texts.keys()]
    pairs = model.compared_all([(texts[rival.earlier_id], texts[rival.later_id]) for rival in rivals])
    alone = model.compared_all([("", texts[rival.later_id]) for rival in rivals])
    return [rival for rival, *compared in zip(rivals, pairs, alone, strict=True) if model.refutes(*compared)]


def _write_changes(batch: Batch, pairs: Sequence[Pair], refuted: Sequence[Rival], connection: Connection[Any]) -> None:
    """Write what was read of memories that did not change or turn sensitive meanwhile; the others wait on."""
    deriving = share(connection)
    # Every writer of both locks memories first and the graph second, so that no two wait for each other.
    readable = extractions.readable(connection, list(batch.sources.values())).values()
    recorded_by_id = {row.id: row.recorded_at for row in readable}
    name_rows.lock(connection)
    refuted = [rival for rival in refuted if {rival.earlier_id, rival.later_id} <= recorded_by_id.keys()]
    changes.set_beside(connection, refuted)
    changed_ids = {rival.later_id for rival in refuted}
    pairs = [pair for pair in pairs if {pair.earlier.memory_id, pair.later.place.memory_id} <= recorded_by_id.keys()]
    later_ids = [pair.later.place.memory_id for pair in pairs]
    scopes = name_rows.scopes_of(connection, later_ids)
    names = changes.names(connection, [*later_ids, *(pair.earlier.memory_id for pair in pairs)])

    def when(pair: Pair) -> tuple[datetime, int]:
        key, sentence = pair.later.place
        return sentence.day or recorded_by_id[key], key

    # In the order of their days: what an earlier one was said to be is what a later one ends.
    for pair in sorted(pairs, key=when):
        key, is_alone = pair.later.place.memory_id, pair.earlier is pair.later.place
        subject = pair.later.subject if is_alone else pair.later.beside
        earlier, later = (
            _note(place, subject, recorded_by_id[place.memory_id], names.get(place.memory_id, ()),
                  fact_rows.of_memory(connection, place.memory_id, counting=True))
            for place in (pair.earlier, pair.later.place)
        )  # fmt: skip
        if change := change_of(pair.compared, earlier, later, alone=is_alone):
            _add_facts(connection, pair, change, recorded_by_id[key], scopes[key])
            changed_ids.add(key)
    compared_ids = [key for key in batch.waiting if key in recorded_by_id or key not in batch.sources]
    changes.set_compared(connection, compared_ids, model.NAME)
    if deriving and changed_ids:
        rederive_groups(connection, changed_ids)


def rederive_groups(connection: Connection[Any], memory_ids: Collection[int]) -> None:
    """Derive anew what follows from the facts of some memories and from those that can end them."""
    groups = fact_rows.groups_of_memories(connection, sorted(memory_ids))
    concepts = {end for group in groups for end in (group.src_id, group.dst_id) if end is not None}
    rederive(connection, concept_ids=sorted(concepts), groups=groups)


def _note(place: Place, subject: str, recorded_at: datetime, names: Sequence[str], facts: Sequence[NamedFact]) -> Note:
    """A place with its memory's names and facts; of a sentence only the facts whose object it names."""
    sentence, text = place.sentence, place.sentence.about(subject)
    if sentence.under or sentence.subjects or sentence.day:
        words = normalise(text)
        facts = [fact for fact in facts if normalise(fact.object) in words]
    known_at = sentence.day or day_in(sentence.bare, recorded_at) or recorded_at
    return Note(text, known_at, names, facts, subject or "".join(sentence.subjects[:1]))


def change_of(compared: Compared, earlier: Note, later: Note, *, alone: bool = False) -> StatedChange | None:
    """The change that a pair tells, in its notes' own names; None where neither names the former value.

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
    if any(fact.valid_to and _overlap(fact.object, named.value) for fact in later.facts):
        return None
    ended, newer = (None, None) if alone else _ended_and_newer(named, earlier.facts, later.facts)
    subject = named.thing or later.subject or earlier.subject
    thing, relation, former = (ended.subject, ended.relation, ended.object) if ended else (subject, IS, named.former)
    if not ended and (newer := _fact_of_value(named, later.facts)):
        thing, relation = newer.subject, newer.relation
    # What the later note's own fact says need not be said again.
    value = named.value if not newer else newer.object if newer.subject != thing else ""
    dates = (fact.valid_from for fact in later.facts if fact.valid_from and fact.valid_from > earlier.known_at)
    since = newer.valid_from if newer and newer.valid_from else next(dates, later.known_at)
    normals = normalise(thing), normalise(former)
    if normals[0] == normals[1] or not (is_name(thing, normals[0]) and is_name(former, normals[1])):
        return None
    if not is_name(value, normalise(value)) or normalise(value) in normals:
        value = ""
    return StatedChange(thing, relation, former, value, since)


def _ended_and_newer(
    named: Compared, earlier: Sequence[NamedFact], later: Sequence[NamedFact]
) -> tuple[NamedFact | None, NamedFact | None]:
    """The earlier note's fact that is over, and the later note's fact of the same relation with the new value.

    The first is the open fact whose object has most words of the former value and whose subject most of the thing; or
    where none has any, as of dates and amounts, the first that a fact of the later note contradicts.
    """
    earlier, later = ([fact for fact in facts if not fact.valid_to] for facts in (earlier, later))

    def likeness(fact: NamedFact) -> tuple[float, float]:
        return _overlap(fact.object, named.former), _overlap(fact.subject, named.thing)

    def successor(fact: NamedFact) -> NamedFact | None:
        return next((new for new in later if new.relation == fact.relation and new.object != fact.object
                     and _overlap(new.subject, fact.subject)), None)  # fmt: skip

    ended = max((fact for fact in earlier if likeness(fact)[0]), key=likeness, default=None)
    ended = ended or next((fact for fact in earlier if _overlap(fact.subject, named.thing) and successor(fact)), None)
    return ended, ended and successor(ended)


def _fact_of_value(named: Compared, facts: Sequence[NamedFact]) -> NamedFact | None:
    """The later note's open fact that gives the thing its new value."""

    def likeness(fact: NamedFact) -> float:
        return _overlap(fact.object, named.value) * _overlap(fact.subject, named.thing)

    return max((fact for fact in facts if not fact.valid_to and likeness(fact)), key=likeness, default=None)


def _overlap(one: str, other: str) -> float:
    """The share of the words of two names that both have, in 0..1."""
    words, others = set(normalise(one).split()), set(normalise(other).split())
    return len(words & others) / (len(words | others) or 1)


def _add_facts(
    connection: Connection[Any], pair: Pair, change: StatedChange, recorded_at: datetime, scope: str
) -> None:
    """Write a change as two facts: the former value with its end, and the new value, if any, with its beginning."""
    earlier_id, later_id = pair.earlier.memory_id, pair.later.place.memory_id
    spellings = {normalise(name): name for name in (change.thing, change.former, change.value) if name}
    wanted = {(scope, normal): (name, kind_of_value(name)) for normal, name in spellings.items()}
    rows_by_name = name_rows.ensure(connection, wanted, {normal: initials(normal) for normal in spellings})
    thing, former = (rows_by_name[scope, normalise(name)].id for name in (change.thing, change.former))
    relation = change.relation
    if relation == IS:
        # Another memory may have said what the thing is to what was, or to what is instead.
        other_ids = [rows_by_name[scope, normalise(name)].id for name in (change.former, change.value) if name]
        relation = next(filter(None, (changes.relation_between(connection, thing, other) for other in other_ids)), IS)
    began = pair.earlier.sentence.day if pair.earlier is not pair.later.place else None
    began = began if began and began < change.since else None

    def row(memory_id: int, value: int, start: datetime | None, end: datetime | None, other: int) -> FactRow:
        confidence = max(pair.compared.end, pair.compared.change)
        return FactRow(memory_id, thing, relation, value, confidence, start, end, recorded_at, scope, other)

    rows = [row(earlier_id, former, began, change.since, later_id)]
    if change.value:
        value = rows_by_name[scope, normalise(change.value)].id
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

    A batch of which one memory turned sensitive or went by then waits for the next build, as does a memory about which
    the model gives no answer.
    """
    began, progress = time.monotonic(), Progress(stage="judging changes")
    waiting = store.run(lambda connection: changes.waiting(connection, identity.hash))
    for start in range(0, len(waiting), TOGETHER):
        ids = waiting[start : start + TOGETHER]
        with store.transaction() as connection:
            sources, open_facts = read_alone(connection, ids), changes.open_facts(connection, ids, limit=MOST_OPEN)
        asked_ids = [key for key in sources if open_facts.get(key)]
        asked_sources = [sources[key] for key in asked_ids]
        facts = [[Fact(row.subject, row.relation, row.object) for row in open_facts[key]] for key in asked_ids]
        try:
            with guarded(extractions.guard(store, asked_sources)):
                answers = judge.ends(asked_sources, facts) if asked_ids else []
        except WithdrawnError:
            continue
        answer_by_id = dict.fromkeys(sources, Ended()) | dict(zip(asked_ids, answers, strict=True))
        store.run(partial(_write_judged_ends, sources, open_facts, answer_by_id))
        done, seconds = start + len(ids), time.monotonic() - began
        progress = replace(progress, memories=done, total=len(waiting), seconds=seconds)
        show(progress)


def _write_judged_ends(
    sources: Mapping[int, Source],
    open_facts: Mapping[int, Sequence[OpenFact]],
    answer_by_id: Mapping[int, Ended | None],
    connection: Connection[Any],
) -> None:
    """Write the ends told by memories that did not change or turn sensitive meanwhile."""
    deriving = share(connection)
    readable = extractions.readable(connection, list(sources.values())).values()
    recorded_by_id = {row.id: row.recorded_at for row in readable}
    name_rows.lock(connection)
    existing_ids = fact_rows.existing(connection, [row.id for rows in open_facts.values() for row in rows])
    answered = {key: answer for key, answer in answer_by_id.items() if answer is not None and key in recorded_by_id}
    rows = []
    for key, answer in answered.items():
        since = moment(answer.since) or recorded_by_id[key]
        for fact in (open_facts[key][place] for place in answer.places):
            start = fact.valid_from if fact.valid_from and fact.valid_from < since else None
            end = FactRow(fact.memory_id, fact.subject_id, fact.relation, fact.object_id, MODEL_CONFIDENCE, start,
                          since, recorded_by_id[key], fact.scope, key)  # fmt: skip
            rows += [end] if fact.id in existing_ids else []
    fact_rows.add_facts(connection, rows)
    changes.set_compared(connection, list(answered), "judge")
    if deriving and rows:
        rederive_groups(connection, [row.memory_id for row in rows])
