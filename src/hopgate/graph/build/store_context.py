"""Sources that know of a store's other memories: of all for a backfill, of those that matter for an addition."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hopgate.extract.context import TURNS, known_to, thread_of, with_turns
from hopgate.extract.extraction import Source
from hopgate.extract.rules.lower_names import BARE, is_rare
from hopgate.extract.rules.survey import CorpusSurvey
from hopgate.graph.names import normalise
from hopgate.memory import Memory, cleared
from hopgate.store import clearance, memory_words, setting_rows, thread_rows
from hopgate.store.graph import name_rows

if TYPE_CHECKING:
    from psycopg import Connection


# Kinds of the names in lower case that the rules find: such a name is one wherever the word stands.
LOWER_KINDS = frozenset(("host", "service", "name"))
# A word that so many memories hold recurs; no more need be looked up.
RECURS = 3
MAX_CARRIED = 200


class StoreContext:
    """Fills in what sources cannot know by themselves, from one store.

    Parameters
    ----------
    surveys : mapping of scope to CorpusSurvey, optional
        What all memories show, for a backfill. Without it the store's names are looked up for each batch. Where scopes
        are shared there is one survey, under ""; else a scope learns nothing of another.
    """

    def __init__(self, surveys: Mapping[str, CorpusSurvey] | None = None) -> None:
        self._surveys = surveys

    def filled(self, connection: Connection[Any], batch: Sequence[Memory]) -> list[Source]:
        """Turn memories into sources with the turns before them and the names that others make known."""
        shared = setting_rows.scopes(connection) == setting_rows.SHARED
        scopes = {memory.external_id: graph_scope(memory, shared) for memory in batch}
        read = [
            replace(source, before=before) if before and not source.before else source
            for source, before in _turns(connection, batch)
        ]
        if self._surveys is not None:
            # A scope that came since was not surveyed, and shows nothing.
            surveys = {scope: self._surveys.get(scope) or CorpusSurvey() for scope in scopes.values()}
        else:
            surveys = {
                scope: _looked_up(
                    connection, [one for one in read if scopes[str(one.memory_id)] == scope], scope, shared
                )
                for scope in set(scopes.values())
            }
        return [replace(source, known=known_to(surveys[scopes[str(source.memory_id)]], source)) for source in read]


def read_alone(connection: Connection[Any], memory_ids: Collection[int]) -> dict[int, Source]:
    """Memories that may be read, by their ids, each without the others of its thread."""
    known = clearance.open_memories(connection, sorted(memory_ids)) if memory_ids else {}
    return {key: source for key, memory in known.items() for source in with_turns([memory])}


def graph_scope(memory: Memory, shared: bool) -> str:
    """The scope in which a memory's names are: its own, "" for none, and "" for all where scopes are shared."""
    return "" if shared else memory.scope or ""


def survey_page(surveys: dict[str, CorpusSurvey], page: Collection[Memory], shared: bool) -> None:
    """Add memories to their scopes' surveys, or to the one under "" where scopes are shared."""
    scopes = {memory.external_id: graph_scope(memory, shared) for memory in page}
    for source in with_turns(page):
        surveys.setdefault(scopes[str(source.memory_id)], CorpusSurvey()).add(source)


def _turns(connection: Connection[Any], batch: Sequence[Memory]) -> Iterator[tuple[Source, tuple[Any, ...]]]:
    """Sources with the turns before them in the batch; for a thread's first ones there, those in the store."""
    earlier: dict[str, tuple[Any, ...]] = {}
    seen: set[tuple[str, str]] = set()
    for memory in batch:
        thread = thread_of(memory)
        if thread and thread not in seen and memory.created_at and not memory.is_sensitive:
            seen.add(thread)
            before = thread_rows.turns_before(connection, memory.scope, thread[1], memory.created_at, limit=TURNS)
            earlier[memory.external_id] = tuple(text for _, text in cleared((turn, turn) for turn in before))
    for source in with_turns(batch):
        yield source, earlier.get(str(source.memory_id), ())


def _looked_up(connection: Connection[Any], batch: Sequence[Source], scope: str, shared: bool) -> CorpusSurvey:
    """Survey a scope's part of a batch together with what the store knows of its words, in that scope or in all."""
    survey = CorpusSurvey()
    for source in batch:
        survey.add(source)
    lower = [word for word in survey.words.lower if is_rare(word, "en", BARE)]
    # Of "Tola's" the store knows Tola.
    starts = {word.replace("’", "'").removesuffix("'s") for word in survey.words.starts}
    normals = {normalise(word): word for word in (*lower, *starts)}
    wanted = sorted(normals)
    for row in name_rows.by_normal(connection, wanted, [scope]):
        word = normals[row.normal]
        if row.kind == "person":
            survey.words.speakers[word] += 2
        if row.name[:1].isupper():
            survey.words.capitals[word] += 1 + survey.words.lower[word]
        elif row.kind in LOWER_KINDS:
            survey.words.introduced.setdefault(word, row.kind if row.kind != "name" else "")
    for _, number in memory_words.with_word(connection, lower, limit=RECURS, within=None if shared else scope):
        survey.words.lower[lower[number - 1]] += 1
    return survey


def carried(
    connection: Connection[Any], new: Iterable[name_rows.NameRow], but: Collection[int]
) -> list[tuple[int, int, str, str]]:
    """Mentions of new names in memories that were read before the names were known: (memory, name, spelling, kind)."""
    shared = setting_rows.scopes(connection) == setting_rows.SHARED
    made = []
    by_scope: dict[str, list[name_rows.NameRow]] = defaultdict(list)
    for row in new:
        if row.kind in LOWER_KINDS and row.name.islower() and " " not in row.name:
            by_scope[row.scope].append(row)
    for scope, rows in by_scope.items():
        words = [row.name for row in rows]
        found = memory_words.with_word(connection, words, limit=MAX_CARRIED + 1, within=None if shared else scope)
        often = Counter(number for _, number in found)
        made += [
            (memory, rows[number - 1].id, rows[number - 1].name, rows[number - 1].kind or "")
            for memory, number in found
            if memory not in but and often[number] <= MAX_CARRIED
        ]
    return made
