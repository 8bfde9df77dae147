"""Sources that know of a store's other memories: of all for a backfill, of those that matter for an addition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hopgate.extract.context import TURNS, known_to, thread_of, with_turns
from hopgate.extract.extraction import Source
from hopgate.extract.rules.lower_names import BARE, is_rare
from hopgate.extract.rules.survey import CorpusSurvey
from hopgate.graph.names.normal import normalise
from hopgate.memory import Memory, cleared
from hopgate.store import memories, memory_words
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
    survey : CorpusSurvey, optional
        What all memories show, for a backfill. Without it the store's names are looked up for each batch.
    """

    def __init__(self, survey: CorpusSurvey | None = None) -> None:
        self._survey = survey

    def filled(self, connection: Connection[Any], batch: Sequence[Memory]) -> list[Source]:
        """Turn memories into sources with the turns before them and the names that others make known."""
        read = [replace(source, before=source.before or before) for source, before in _turns(connection, batch)]
        survey = self._survey or _looked_up(connection, read)
        return [replace(source, known=known_to(survey, source)) for source in read]


def surveyed_store(pages: Iterable[Sequence[Memory]]) -> StoreContext:
    """Survey every memory of a store, for a backfill."""
    survey = CorpusSurvey()
    for page in pages:
        for source in with_turns(page):
            survey.add(source)
    return StoreContext(survey)


def _turns(connection: Connection[Any], batch: Sequence[Memory]) -> Iterator[tuple[Source, tuple[Any, ...]]]:
    """Sources with the turns before them in the batch; for a thread's first ones there, those in the store."""
    earlier: dict[str, tuple[Any, ...]] = {}
    seen: set[tuple[str, str]] = set()
    for memory in batch:
        thread = thread_of(memory)
        if thread and thread not in seen and memory.created_at and not memory.is_sensitive:
            seen.add(thread)
            before = memories.turns_before(connection, memory.scope, thread[1], memory.created_at, limit=TURNS)
            earlier[memory.external_id] = tuple(text for _, text in cleared((turn, turn) for turn in before))
    for source in with_turns(batch):
        yield source, earlier.get(str(source.memory_id), ())


def _looked_up(connection: Connection[Any], batch: Sequence[Source]) -> CorpusSurvey:
    """Survey a batch together with what the store knows of its words."""
    survey = CorpusSurvey()
    for source in batch:
        survey.add(source)
    lower = [word for word in survey.words.lower if is_rare(word, "en", BARE)]
    normals = {normalise(word): word for word in (*lower, *survey.words.starts)}
    for row in name_rows.by_normal(connection, sorted(normals)):
        word = normals[row.normal]
        if row.kind == "person":
            survey.words.speakers[word] += 2
        if row.name[:1].isupper():
            survey.words.capitals[word] += 1 + survey.words.lower[word]
        elif row.kind in LOWER_KINDS:
            survey.words.introduced.setdefault(word, row.kind if row.kind != "name" else "")
    for _, number in memory_words.with_word(connection, lower, limit=RECURS):
        survey.words.lower[lower[number - 1]] += 1
    return survey


def carried(
    connection: Connection[Any], new: Sequence[name_rows.NameRow], but: Sequence[int]
) -> list[tuple[int, int, str, str]]:
    """Mentions of new names in memories that were read before the names were known: (memory, name, spelling, kind)."""
    rows = [row for row in new if row.kind in LOWER_KINDS and row.name.islower() and " " not in row.name]
    found = memory_words.with_word(connection, [row.name for row in rows], limit=MAX_CARRIED + 1)
    leaving_out = set(but)
    return [
        (memory, rows[number - 1].id, rows[number - 1].name, rows[number - 1].kind or "")
        for memory, number in found
        if memory not in leaving_out and sum(one == number for _, one in found) <= MAX_CARRIED
    ]
