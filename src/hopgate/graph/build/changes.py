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
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from hopgate.errors import WithdrawnError
from hopgate.extract.changes import model
from hopgate.extract.changes.model import Compared
from hopgate.extract.changes.sentences import JOINT, ReadNote, Sentence, is_short, read_note
from hopgate.extract.extraction import ExtractorIdentity, Fact, Source
from hopgate.extract.model.answer import MODEL_CONFIDENCE
from hopgate.extract.model.judge import Ended, Judge
from hopgate.extract.rules.words import is_given
from hopgate.graph.build.derive import rederive
from hopgate.graph.build.reading import read_alone
from hopgate.graph.build.sink import is_name, kind_of_value
from hopgate.graph.names import initials, normalise
from hopgate.guard import guarded
from hopgate.progress import Progress
from hopgate.store import extractions
from hopgate.store.graph import changes, fact_rows, name_rows, version
from hopgate.store.graph.changes import OpenFact, Rival
from hopgate.store.graph.fact_rows import FactRow, NamedFact
from hopgate.store.graph.version import share
from hopgate.store.rows import Connection
from hopgate.times import moment

if TYPE_CHECKING:
    from hopgate.store.store import Store

# Memories that are read in one transaction and written in another.
BATCH = 256
# With how many earlier texts each is compared, some 10 ms each: of 5,440 notes in one scope the one that a change is of
# is the first for 885 of 1,160, among three for 1,033, among six for 1,089 (docs/measurements.md).
MOST_EARLIER = 8
# A log of hundreds of changes has fewer of them each: else one note of 400 lines takes 20 seconds.
MOST_PAIRS = 240
# So many of them are read whatever they say, the others where they have a word that is marked: that spares five of
# eight readings, and loses 13 of 567 changes in scopes of 366, 957 and 1,621 notes.
NEAREST = 1
# So sure is the model of its words where one sentence tells a change alone: 49 of 141 changes and none of 59
# look-alikes of the tuning halves of sets 24 to 27.
CERTAIN = 0.9

IS = "is"
"""The relation of a thing and its value where no fact of the earlier memory says another."""


class Place(NamedTuple):
    """A sentence, or a short note as a whole, of a memory."""

    memory_id: int
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Telling:
    """A text that tells of a change, what the model reads in it alone, and the texts before it."""

    place: Place
    alone: Compared
    earlier: list[Place] = field(default_factory=list)

    def words(self, *labels: str, least: float = 0.0) -> set[str]:
        """The words with one of these labels that the model reads in it alone, with so much confidence at least."""
        marked = [span for span in self.alone.of_later if span.label in labels and span.confidence >= least]
        return {word for span in marked for word in normalise(span.text).split()}

    @property
    def tells_all(self) -> bool:
        """Whether by itself it names what was and what is instead, as surely as the model can."""
        is_sure = all(self.words(label, least=CERTAIN) for label in ("former", "value"))
        return self.alone.change >= model.THRESHOLD and is_sure


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

    @property
    def is_in_one_note(self) -> bool:
        """Whether a memory tells the change by itself."""
        return self.earlier.memory_id == self.later.place.memory_id


@dataclass
class Batch:
    """Waiting memories in the order of their days, their facts that seem to end others, and by id every text read."""

    waiting: Sequence[int]
    rivals: list[Rival]
    sources: dict[int, Source] = field(default_factory=dict)
    notes: dict[int, ReadNote] = field(default_factory=dict)

    def add(self, connection: Connection, memory_ids: Collection[int]) -> None:
        """Read further memories, but for those that turned sensitive or went."""
        new_sources = read_alone(connection, {*memory_ids} - self.sources.keys())
        self.sources |= new_sources
        self.notes |= {key: read_note(source) for key, source in new_sources.items()}


def read_changes(store: Store, identity: ExtractorIdentity, show: Callable[[Progress], object] = str) -> None:
    """Read every memory that waits for it, by itself and beside earlier ones of its scope; edges follow at once."""
    for ids in _batches(store.run(partial(_waiting, identity)), BATCH, "reading changes", show):
        batch = store.run(partial(_read_batch, ids))
        store.run(partial(_write_changes, batch, _told_pairs(store, batch), _refuted_rivals(batch)))


def _batches(
    waiting: Sequence[int], size: int, stage: str, show: Callable[[Progress], object]
) -> Iterator[Sequence[int]]:
    """Cut memories into batches, and show after each how far the work is."""
    began = time.monotonic()
    for start in range(0, len(waiting), size):
        yield waiting[start : start + size]
        done, seconds = min(start + size, len(waiting)), time.monotonic() - began
        show(Progress(memories=done, total=len(waiting), seconds=seconds, stage=stage))


def _waiting(identity: ExtractorIdentity, connection: Connection) -> list[int]:
    """Ids of the memories to read, by day; after late arrivals the compared ones of later days near them wait again."""
    waiting = changes.waiting(connection, identity.hash)
    late_sources = read_alone(connection, changes.late_arrivals(connection, waiting))
    texts = [(key, source.text) for key, source in late_sources.items()]
    later_ids = {key for ids in changes.near(connection, texts, limit=MOST_EARLIER, later=True) for key in ids}
    if reopened := later_ids - changes.with_changes(connection, sorted(later_ids)):
        changes.set_compared(connection, sorted(reopened), None)
        return changes.waiting(connection, identity.hash)
    return waiting


def _read_batch(waiting: Sequence[int], connection: Connection) -> Batch:
    batch = Batch(waiting, changes.rivals(connection, waiting))
    batch.add(connection, {*waiting, *(rival.earlier_id for rival in batch.rivals)})
    return batch


def _told_pairs(store: Store, batch: Batch) -> list[Pair]:
    """For each text that tells a change its likeliest pair, or itself alone where it names all of the change.

    Whole notes come first. Where one ends what an earlier note says, its sentences are not read.
    """
    notes = [(key, batch.notes[key]) for key in batch.waiting if key in batch.notes]
    wholes = _pairs(store, batch, [Place(key, note.whole) for key, note in notes if note.whole], 0)
    ending_ids = {telling.place.memory_id for telling, pair in wholes if pair}
    cut_notes = [
        (key, note) for key, note in notes if key not in ending_ids and (len(note.sentences) > 1 or not note.whole)
    ]
    sentences = [Place(key, sentence) for key, note in cut_notes for sentence in note.sentences]
    parts = _pairs(store, batch, sentences, model.SURE_ACROSS)
    part_ids = {telling.place.memory_id for telling, _ in parts}
    wholes = [(telling, pair) for telling, pair in wholes if pair or telling.place.memory_id not in part_ids]
    return [
        pair or Pair(telling.place, telling, telling.alone)
        for telling, pair in (*wholes, *parts)
        if pair or telling.tells_all
    ]


def _pairs(
    store: Store, batch: Batch, places: Sequence[Place], sure_across: float
) -> list[tuple[Telling, Pair | None]]:
    """The texts that tell of a change, each with the likeliest pair in which it ends something; of equals the first.

    A text of another note is ended with so much sureness at least.
    """
    states = [place for place in places if place.sentence.is_state]
    likely = [
        Place(key, sentence)
        for key, sentence in places
        if not sentence.is_state and (sentence.is_dated or model.may_tell_change(sentence.text))
    ]
    alone = model.compared_all([("", place.sentence.text) for place in likely])
    tellings = [Telling(place, Compared(0, [], [])) for place in states]
    tellings += [Telling(*row) for row in zip(likely, alone, strict=True) if row[1].change >= model.TOLD]
    store.run(partial(_find_earlier, batch, tellings))
    pairs = [(telling, place) for telling in tellings for place in telling.earlier]
    readings = model.compared_all([(place.sentence.text, telling.place.sentence.text) for telling, place in pairs])
    ends: dict[int, list[Pair]] = defaultdict(list)
    for pair in (Pair(place, telling, compared) for (telling, place), compared in zip(pairs, readings, strict=True)):
        if _is_end(pair, model.SURE if pair.is_in_one_note else sure_across):
            ends[id(pair.later)].append(pair)
    best: dict[int, Pair] = {}
    ended: set[Place] = set()
    # A line of a log ends the one before it, and not one that was over by then.
    for telling in sorted(tellings, key=lambda telling: telling.place.sentence.day or datetime.max.replace(tzinfo=UTC)):
        open_ends = [pair for pair in ends[id(telling)] if pair.earlier not in ended]
        if open_ends:
            best[id(telling)] = pair = max(open_ends, key=lambda pair: pair.compared.sureness)
            ended |= {pair.earlier} if pair.is_in_one_note else set()
    return [(telling, best.get(id(telling))) for telling in tellings]


def _is_end(pair: Pair, sure: float) -> bool:
    """Whether the later text ends something of the earlier one: surely, what it says itself, and of the same thing."""
    if pair.compared.end < model.THRESHOLD or pair.compared.sureness < sure:
        return False
    former = {word for word in pair.later.words("former", least=CERTAIN) if word.isalpha()}
    if former and former.isdisjoint(normalise(pair.compared.former).split()):
        return False
    earlier, later = pair.earlier.sentence, pair.later.place.sentence
    things = [span.text for span in pair.compared.of_earlier if span.label == "thing"]
    # "My car is now a Zoe" says nothing of Tom's car.
    owners = {word for word in normalise(" ".join(things)).split() if is_given(word)}
    if owners and not pair.is_in_one_note and owners.isdisjoint(normalise(later.text).split()):
        return False
    # Lines of one note have a subject in common, which alone makes the model sure: "no onions", "with Bea since May".
    # It may be believed where both are lines of a log.
    is_log = earlier.is_dated and later.is_dated and pair.compared.sureness >= model.SURE_ACROSS
    is_alike = is_log or not pair.is_in_one_note or later.shares_words(earlier)
    return is_alike or model.compared(earlier.bare, later.bare).end >= model.TOLD


def _find_earlier(batch: Batch, tellings: Sequence[Telling], connection: Connection) -> None:
    """Fill `earlier` of each text: sentences of its own note first, then earlier notes for wholes and long notes."""
    wholes = {key: note.whole for key, note in batch.notes.items()}
    outward = [row for row in tellings if wholes[row.place.memory_id] in (None, row.place.sentence)]
    texts = [(telling.place.memory_id, telling.place.sentence.text) for telling in outward]
    near = dict(zip(map(id, outward), changes.near(connection, texts, limit=MOST_EARLIER), strict=True))
    batch.add(connection, {key for ids in near.values() for key in ids})
    lines_of = Counter(telling.place.memory_id for telling in tellings)
    for telling in tellings:
        key, sentence = telling.place
        own_places = [Place(key, before) for before in _earlier_sentences(batch.notes[key].sentences, sentence)]
        most = min(MOST_EARLIER, MOST_PAIRS // lines_of[key] + 1)
        telling.earlier.extend(_most_alike(sentence, own_places, most))
        marked_words = telling.words("thing", "former")
        near_notes = [(other, batch.notes[other]) for other in near.get(id(telling), ()) if other in batch.notes]
        for rank, (other, note) in enumerate(near_notes):
            parts = [note.whole] if note.whole else note.sentences
            written = batch.sources[other].created_at
            # A log's line ends nothing that was written after its day.
            is_past = sentence.is_dated and sentence.day and written and sentence.day < written
            parts = [part for part in parts if sentence.may_end(part) and (part.is_dated or not is_past)]
            places = _most_alike(sentence, [Place(other, part) for part in parts], 2)
            telling.earlier.extend(
                place
                for place in places
                if rank < NEAREST or not marked_words.isdisjoint(normalise(place.sentence.text).split())
            )


def _earlier_sentences(sentences: Sequence[Sentence], later: Sentence) -> list[Sentence]:
    """The sentences of a note that are earlier than one: by their days, or where these say nothing by their place."""
    later_at = next((at for at, sentence in enumerate(sentences) if sentence is later), 0)
    return [
        sentence
        for at, sentence in enumerate(sentences)
        if later.may_end(sentence)
        and later.may_follow(sentence)
        and (sentence.day < later.day if sentence.day and later.day and sentence.day != later.day else at < later_at)
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


def _refuted_rivals(batch: Batch) -> list[Rival]:
    """The facts that seem to end an earlier one, where the model says that nothing ends."""
    texts = {key: source.text for key, source in batch.sources.items() if is_short(source.text)}
    rivals = [rival for rival in batch.rivals if {rival.earlier_id, rival.later_id} <= texts.keys()]
    pairs = model.compared_all([(texts[rival.earlier_id], texts[rival.later_id]) for rival in rivals])
    alone = model.compared_all([("", texts[rival.later_id]) for rival in rivals])
    return [rival for rival, *compared in zip(rivals, pairs, alone, strict=True) if model.refutes(*compared)]


def _write_changes(batch: Batch, pairs: Sequence[Pair], refuted: Sequence[Rival], connection: Connection) -> None:
    """Write what was read of memories that did not change or turn sensitive meanwhile; the others wait on."""
    deriving = share(connection)
    recorded_by_id = _locked(connection, batch.sources)
    refuted = [rival for rival in refuted if {rival.earlier_id, rival.later_id} <= recorded_by_id.keys()]
    changes.set_beside(connection, refuted)
    changed_ids = {rival.later_id for rival in refuted}
    pairs = [pair for pair in pairs if {pair.earlier.memory_id, pair.later.place.memory_id} <= recorded_by_id.keys()]
    later_ids = [pair.later.place.memory_id for pair in pairs]
    scopes = name_rows.scopes_of(connection, later_ids)

    def when(pair: Pair) -> tuple[datetime, int]:
        key, sentence = pair.later.place
        return sentence.day or recorded_by_id[key], key

    # In the order of their days: what an earlier one was said to be is what a later one ends.
    for pair in sorted(pairs, key=when):
        key = pair.later.place.memory_id
        earlier, later = (
            [fact for fact in fact_rows.of_memory(connection, memory_id, counting=True) if not fact.valid_to]
            for memory_id in (pair.earlier.memory_id, key)
        )
        subject = next(iter(pair.later.place.sentence.subjects or pair.earlier.sentence.subjects), "")
        is_alone = pair.earlier is pair.later.place
        if change := change_of(pair.compared, [] if is_alone else earlier, later, subject, when(pair)[0]):
            _add_facts(connection, pair, change, recorded_by_id[key], scopes[key])
            changed_ids.add(key)
    compared_ids = [key for key in batch.waiting if key in recorded_by_id or key not in batch.sources]
    changes.set_compared(connection, compared_ids, model.NAME)
    if deriving and changed_ids:
        rederive_groups(connection, changed_ids)


def _locked(connection: Connection, sources: Mapping[int, Source]) -> dict[int, datetime]:
    """Lock the graph; give by id when those memories were recorded that are still what was read."""
    # Every writer of both locks memories first and the graph second, so that no two wait for each other.
    readable = extractions.readable(connection, list(sources.values())).values()
    version.lock(connection)
    return {row.id: row.recorded_at for row in readable}


def rederive_groups(connection: Connection, memory_ids: Collection[int]) -> None:
    """Derive anew what follows from the facts of some memories and from those that can end them."""
    rederive(connection, groups=fact_rows.groups(connection, memories=sorted(memory_ids)))


def change_of(
    compared: Compared, earlier: Sequence[NamedFact], later: Sequence[NamedFact], subject: str, told_at: datetime
) -> StatedChange | None:
    """The change that a pair tells, in the names of its notes' open facts; None where neither names the former value.

    Relation and names are those of the earlier note's fact with most words of the former value, else those of the later
    note's fact that has words of the new value, else the words themselves, or the subject that both have.
    """

    def likeness(fact: NamedFact) -> tuple[float, float]:
        return _overlap(fact.object, compared.former), _overlap(fact.subject, compared.thing)

    ended = max((fact for fact in earlier if likeness(fact)[0]), key=likeness, default=None)
    named = (fact for fact in later if _overlap(fact.subject, ended.subject if ended else compared.thing))
    if ended:
        newer = next((fact for fact in named if fact.relation == ended.relation and fact.object != ended.object), None)
    else:
        newer = next((fact for fact in named if _overlap(fact.object, compared.value)), None)
    known = ended or newer
    thing, relation = (known.subject, known.relation) if known else (compared.thing, IS)
    if JOINT in thing or {*normalise(thing).split()} <= {*normalise(subject).split()}:
        thing = subject  # of "Tilda Brenner: …" the model may mark a part
    former, value = ended.object if ended else compared.former, newer.object if newer else compared.value
    normals = normalise(thing), normalise(former)
    if normals[0] == normals[1] or not (is_name(thing, normals[0]) and is_name(former, normals[1])):
        return None
    # What the later note's own fact says need not be said again.
    is_said = newer is not None and newer.subject == thing
    if is_said or not is_name(value, normalise(value)) or normalise(value) in normals:
        value = ""
    return StatedChange(thing, relation, former, value, newer.valid_from if newer and newer.valid_from else told_at)


def _overlap(one: str, other: str) -> float:
    """The share of the words of two names that both have, in 0..1."""
    words, others = set(normalise(one).split()), set(normalise(other).split())
    return len(words & others) / (len(words | others) or 1)


def _add_facts(connection: Connection, pair: Pair, change: StatedChange, recorded_at: datetime, scope: str) -> None:
    """Write a change as two facts: the former value with its end, and the new value, if any, with its beginning."""
    earlier_id, later_id = pair.earlier.memory_id, pair.later.place.memory_id
    spellings = {normalise(name): name for name in (change.thing, change.former, change.value) if name}
    wanted = {(scope, normal): (name, kind_of_value(name)) for normal, name in spellings.items()}
    rows_by_name = name_rows.ensure(connection, wanted, initials)
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
    waiting = store.run(lambda connection: changes.waiting(connection, identity.hash))
    for ids in _batches(waiting, TOGETHER, "judging changes", show):
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


def _write_judged_ends(
    sources: Mapping[int, Source],
    open_facts: Mapping[int, Sequence[OpenFact]],
    answer_by_id: Mapping[int, Ended | None],
    connection: Connection,
) -> None:
    """Write the ends told by memories that did not change or turn sensitive meanwhile."""
    deriving = share(connection)
    recorded_by_id = _locked(connection, sources)
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
