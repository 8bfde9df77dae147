"""What one memory cannot show alone: names that others make known, and who the turns before it were about.

`with_context` reads memories together, as a backfill does. In a store that grows, `graph/build` asks the store instead.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from hopgate.extract.extraction import Source, sources
from hopgate.extract.rules.survey import Survey
from hopgate.extract.rules.words import is_room
from hopgate.memory import Cleared, Memory

_SPEAKER = re.compile(r"([^\W\d_][\w'’-]{0,30}):\s")
# A pronoun means somebody of these last turns, or nobody.
TURNS = 4


def with_context(memories: Sequence[Memory]) -> list[Source]:
    """Turn memories into sources that know of each other; sensitive ones neither pass nor tell anything.

    Examples
    --------
    >>> notes = [Memory("m1", "immich runs on cedar."), Memory("m2", "Rebooted cedar again.")]
    >>> [source.known for source in with_context(notes)]
    [(('cedar', 'host'), ('immich', 'service')), (('cedar', 'host'),)]
    """
    made = with_turns(memories)
    survey = Survey()
    for source in made:
        survey.add(source)
    return [replace(source, known=known_to(survey, source)) for source in made]


def known_to(survey: Survey, source: Source) -> tuple[tuple[str, str], ...]:
    """Join what a survey shows of a source's words and what is known of them already: who speaks."""
    # A rare word that several notes have is a name, but not where things are kept: "in the carport".
    shown = tuple((name, kind) for name, kind in survey.known(source) if kind or not is_room(name))
    return tuple(sorted((dict(shown) | dict(source.known)).items())) if source.known else shown


def speaker_of(turn: str) -> tuple[tuple[str, str], ...]:
    """Give who says a turn, as `Source.known` wants it: in a thread a name and a colon start one.

    Examples
    --------
    >>> speaker_of("Kit: I live in Leeds now")
    (('kit', 'person'),)
    """
    speaker = _SPEAKER.match(turn)
    return ((speaker[1].lower(), "person"),) if speaker else ()


def with_turns(memories: Iterable[Memory]) -> list[Source]:
    """Give each memory of a thread the turns before it, in the order in which they were written."""
    memories = list(memories)
    threads: dict[tuple[str, str], list[Source]] = defaultdict(list)
    made: dict[str | int, Source] = {source.memory_id: source for source in sources(memories)}
    for memory in memories:
        if (thread := thread_of(memory)) and (source := made.get(memory.external_id)):
            made[source.memory_id] = source = replace(source, known=speaker_of(source.text))
            threads[thread].append(source)
    for turns in threads.values():
        turns.sort(key=lambda source: source.created_at.timestamp() if source.created_at else 0.0)
        for at, source in enumerate(turns):
            before: tuple[Cleared, ...] = tuple(turn.text for turn in turns[max(0, at - TURNS) : at])
            made[source.memory_id] = replace(source, before=before)
    return list(made.values())


def thread_of(memory: Memory) -> tuple[str, str] | None:
    """Give a memory's scope and thread; None where it is a note by itself.

    Examples
    --------
    >>> thread_of(Memory("m1", "hi", scope="ada", thread="t1"))
    ('ada', 't1')
    """
    return (memory.scope or "", memory.thread) if memory.thread else None
