"""A store's memories become a file of statements that a model wrote, group by group; a stopped run goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hopgate.errors import HopgateError, WithdrawnError
from hopgate.extract.extraction import Source
from hopgate.extract.files import Statement, read_statements
from hopgate.graph.build.sink import StoreContext
from hopgate.guard import guarded
from hopgate.memory import Memory
from hopgate.store import extractions, memories

if TYPE_CHECKING:
    from hopgate.extract.model.judge import StatementWriter
    from hopgate.store.store import Store


@dataclass(frozen=True)
class StatementRun:
    """The count of a run: memories asked about, those done before, those without an answer, and statements written.

    Examples
    --------
    >>> str(StatementRun(memories=12, statements=20))
    '20 statements about 12 memories'
    """

    memories: int = 0
    skipped: int = 0
    unanswered: int = 0
    statements: int = 0

    def __str__(self) -> str:
        done = f", {self.skipped:,} were done before" if self.skipped else ""
        left = f", {self.unanswered:,} without an answer" if self.unanswered else ""
        return f"{self.statements:,} statements about {self.memories:,} memories{left}{done}"


def write_statements(
    store: Store,
    writer: StatementWriter,
    path: Path,
    *,
    together: int,
    limit: int | None = None,
    show: Callable[[StatementRun], object] = str,
) -> StatementRun:
    """Ask about every memory that the file says nothing of yet, and add what the model states to it.

    Whether they may be read is asked again right before each request and before its answer is written: one that turned
    sensitive, changed or was deleted meanwhile is left out.
    """
    done = {one.doc_id for one in read_statements(path)} if path.exists() else set()
    run = StatementRun(skipped=len(done))
    with _appended(path) as add:
        for group in _groups(store, done, together):
            if limit is not None and run.memories >= limit:
                break
            part = group[: limit - run.memories] if limit is not None else group
            sources, found = _stated(store, writer, part)
            with store.transaction() as connection:
                # Held until the lines are written: what was withdrawn meanwhile is not, and who marks one now waits.
                known = extractions.readable(connection, sources) if sources else {}
                kept = [one for one in found if one.doc_id in known]
                add(kept)
            run = StatementRun(run.memories + len(known), len(done), writer.unanswered, run.statements + len(kept))
            show(run)
    return run


def _stated(store: Store, writer: StatementWriter, group: Sequence[Memory]) -> tuple[list[Source], list[Statement]]:
    """Ask about those of a group that may be read; where one of them is withdrawn on the way, about the others."""
    while True:
        with store.transaction() as connection:
            filled = StoreContext().filled(connection, group)
            known = extractions.readable(connection, filled, lock=False) if filled else {}
        sources = [source for source in filled if str(source.memory_id) in known]
        if not sources:
            return [], []
        try:
            with guarded(extractions.guard(store, sources)):
                return sources, writer.write(sources)
        except WithdrawnError:
            continue


def _groups(store: Store, done: Collection[str], size: int) -> Iterator[list[Memory]]:
    """Memories that are not done and not sensitive, at most so many at a time."""
    last = 0
    while True:
        with store.transaction() as connection:
            page = memories.page(connection, after=last, limit=size)
        if not page:
            return
        last = max(page)
        if group := [one for one in page.values() if one.external_id not in done and not one.is_sensitive]:
            yield group


@contextmanager
def _appended(path: Path) -> Iterator[Callable[[Sequence[Statement]], None]]:
    """A file that only its owner reads, and a function that adds a group's lines to it in one piece."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise HopgateError(f"{path} cannot be written ({error.strerror}): name another file after --out") from error

    def add(found: Sequence[Statement]) -> None:
        os.write(handle, "".join(f"{line}\n" for line in map(_line, found)).encode())

    try:
        yield add
    finally:
        os.close(handle)


def _line(one: Statement) -> str:
    return json.dumps({key: value for key, value in asdict(one).items() if value not in (None, "")}, ensure_ascii=False)
