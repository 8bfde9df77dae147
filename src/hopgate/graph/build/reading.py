"""What extractors read: memories with the turns before them and the names that others show, in batches by workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.extract.extraction import ContextualExtractor, Extractor, ExtractorIdentity, Source, sources
from hopgate.extract.files import WithStatements
from hopgate.extract.rules.survey import RARE, TURNS, Survey, is_rare, with_turns
from hopgate.extract.runner import Extracted, Run, Sink
from hopgate.graph.names import normalise
from hopgate.memory import Memory, cleared, thread_of
from hopgate.store import clearance, extractions, memories, setting_rows
from hopgate.store.graph import name_rows
from hopgate.store.rows import Connection

if TYPE_CHECKING:
    from hopgate.store.store import Store

# Kinds of the names in lower case that the rules find: such a name is one wherever the word stands.
LOWER_KINDS = frozenset(("host", "service", "name"))
# A word that so many memories hold recurs; no more need be looked up.
RECURS = 3

Surveys = Mapping[str, Survey]
"""What memories show of their words, by scope; under "" where scopes are shared, or there is none."""


def text_reader(extractor: Extractor) -> Extractor:
    """The extractor that reads texts, where one that adds statements stands before it."""
    return extractor.extractor if isinstance(extractor, WithStatements) else extractor


def read_alone(connection: Connection, memory_ids: Collection[int]) -> dict[int, Source]:
    """Memories that are not sensitive, by id, each without the others of its thread."""
    open_memories = clearance.open_memories(connection, sorted(memory_ids)) if memory_ids else {}
    return {key: source for key, memory in open_memories.items() for source in with_turns([memory])}


def shared_or(connection: Connection, scope: str) -> str | None:
    """Whose words count beside those of a scope: its own alone, or all where scopes are shared."""
    return None if setting_rows.shares_scopes(connection) else scope


# What workers do.


def survey(store: Store, ids: Sequence[int]) -> dict[str, Survey]:
    """Survey some memories, each scope's apart."""
    surveys: dict[str, Survey] = defaultdict(Survey)
    with store.transaction() as connection:
        open_memories = clearance.open_memories(connection, ids)
        scopes = _scopes(connection, open_memories)
    for source in with_turns(open_memories.values()):
        surveys[scopes[source.memory_id]].add(source)
    return surveys


def _scopes(connection: Connection, batch: Mapping[int, Memory]) -> dict[str | int, str]:
    """The scope in which the names of each memory are, by its external id."""
    scopes = name_rows.scopes_of(connection, batch)
    return {memory.external_id: scopes[key] for key, memory in batch.items()}


@dataclass(frozen=True)
class Reader:
    """Reads batches of memories, whatever else was read: here or in another process.

    For a first build there are surveys, by scope, of what all memories show; else the store's names are looked up for
    each batch.
    """

    store: Store
    extractor: Extractor
    surveys: Surveys | None

    def read(self, ids: Sequence[int]) -> Read:
        """Extract from those of the memories that are not done; no transaction is held while a model reads."""
        with self.store.transaction() as connection:
            open_memories = clearance.open_memories(connection, ids)
            is_final = extractions.recorded(connection, list(open_memories), self.extractor.identity)
            unfinished = {key: memory for key, memory in open_memories.items() if not is_final.get(key)}
            contextual = isinstance(text_reader(self.extractor), ContextualExtractor)
            unread = self._in_context(connection, unfinished) if contextual else list(sources(unfinished.values()))
        outcome = Read(sum(is_final.values()))
        guard = partial(extractions.guard, self.store)
        if stopped := Run(batch=max(1, len(unread))).over(unread, self.extractor, outcome, guard=guard).stopped:
            raise HopgateError(stopped)
        return outcome

    def _in_context(self, connection: Connection, batch: Mapping[int, Memory]) -> list[Source]:
        """Turn memories into sources with the turns before them and the names that others of their scope show."""
        scopes, texts = _scopes(connection, batch), list(with_stored_turns(connection, batch))
        of_scope: dict[str, list[Source]] = defaultdict(list)
        for source in texts:
            of_scope[scopes[source.memory_id]].append(source)
        # A scope that came since was not surveyed, and shows nothing.
        surveys = {
            scope: _looked_up(connection, part, scope) if self.surveys is None else self.surveys.get(scope, Survey())
            for scope, part in of_scope.items()
        }
        return [replace(source, known=surveys[scopes[source.memory_id]].known(source)) for source in texts]


@dataclass
class Read(Sink):
    """What was read of a batch, and how many of its memories were done already."""

    skipped: int
    extracted: list[Extracted] = field(default_factory=list)

    def write(self, batch: Sequence[Extracted], identity: ExtractorIdentity) -> None:  # noqa: ARG002
        """Keep results until they are written."""
        self.extracted += batch


def with_stored_turns(connection: Connection, batch: Mapping[int, Memory]) -> Iterator[Source]:
    """Sources with the turns before them in the batch; for a thread's first one there, those in the store."""
    earlier: dict[str, tuple[Any, ...]] = {}
    threads: set[tuple[str | None, str]] = set()
    for key, memory in sorted(batch.items(), key=lambda item: (item[1].created_at, item[0])):
        thread = thread_of(memory)
        if thread and (memory.scope, thread) not in threads:
            threads.add((memory.scope, thread))
            before = memories.turns_before(connection, key, limit=TURNS)
            earlier[memory.external_id] = tuple(text for _, text in cleared((turn, turn) for turn in before))
    for source in with_turns(batch.values()):
        yield replace(source, before=source.before or earlier.get(str(source.memory_id), ()))


def _looked_up(connection: Connection, batch: Sequence[Source], scope: str) -> Survey:
    """Survey a scope's part of a batch together with what the store knows of its words."""
    survey = Survey()
    for source in batch:
        survey.add(source)
    lower = [word for word in survey.lower if is_rare(word, "en", RARE)]
    # Of "Tola's" the store knows Tola.
    starts = {word.replace("’", "'").removesuffix("'s") for word in survey.starts}
    normals = {normalise(word): word for word in (*lower, *starts)}
    for row in name_rows.read(connection, normals=sorted(normals), scopes=[scope]):
        word = normals[row.normal]
        if row.kind == "person":
            survey.introduced.setdefault(word, "person")
        if row.name[:1].isupper():
            survey.capitals[word] += 1 + survey.lower[word]
        elif row.kind in LOWER_KINDS:
            survey.introduced.setdefault(word, row.kind if row.kind != "name" else "")
    within = shared_or(connection, scope)
    for _, number in memories.holding(connection, [(within, word) for word in lower], limit=RECURS, common=True):
        survey.lower[lower[number - 1]] += 1
    return survey
