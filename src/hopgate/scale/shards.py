"""What a backfill reads: paths, globs, folders and addresses become shards, and shards rows; in one order, always."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from glob import has_magic
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.redact import redacted
from hopgate.scale.kept_reason import without_values
from hopgate.sources.read import ADDRESSES, checked_memories
from hopgate.sources.source import ReadOptions

# The files of a folder that are shards.
SUFFIXES = (".jsonl", ".ndjson", ".parquet", ".pq")


class SourceRow(NamedTuple):
    """A row of a shard: a memory, or why it is none.

    Attributes
    ----------
    source, place : str
        The shard, and the line or row in it.
    """

    source: str
    place: str
    memory: Memory | None
    reason: str = ""


def shards(sources: Sequence[str | Path]) -> list[str]:
    """Resolve paths, globs, folders and addresses; what names nothing is refused.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> for name in ("b.jsonl", "a.jsonl", "notes.txt"):
    ...     _ = Path(folder.name, name).write_text("")
    >>> [Path(shard).name for shard in shards([folder.name])], len(shards([f"{folder.name}/*.txt"]))
    (['a.jsonl', 'b.jsonl'], 1)
    >>> folder.cleanup()
    """
    found: list[str] = []
    for source in map(str, sources):
        if source.startswith(ADDRESSES):
            found.append(source)
        elif Path(source).is_dir():
            inside = sorted(str(path) for path in Path(source).iterdir() if path.name.lower().endswith(SUFFIXES))
            if not inside:
                raise HopgateError(
                    f"{source} holds no shard ({', '.join(SUFFIXES)}): give its files, or hopgate ingest"
                )
            found += inside
        elif has_magic(source) and not Path(source).exists():
            found += _matched(Path(source))
        elif Path(source).exists():
            found.append(source)
        else:
            raise HopgateError(f"{source} cannot be read: there is no such file")
    return list(dict.fromkeys(found))


def _matched(pattern: Path) -> list[str]:
    """The files that a pattern names, in order."""
    fixed = next(part for part in pattern.parents if not has_magic(str(part)))
    found = sorted(str(path) for path in fixed.glob(str(pattern.relative_to(fixed))) if path.is_file())
    if not found:
        raise HopgateError(f"no file is called {pattern}: correct the pattern")
    return found


def rows(shard: str, form: str | None = None, options: ReadOptions | None = None) -> Iterator[SourceRow]:
    """Read a shard; a row that is no memory carries the reason."""
    name = redacted(shard)
    for place, read in checked_memories(shard, form, options):
        if isinstance(read, HopgateError):
            # Without where it lies, which stands beside it.
            yield SourceRow(name, place, None, without_values(str(read).removeprefix(f"{shard}, {place}: ")))
        else:
            yield SourceRow(name, place, read)


def batches(stream: Iterator[SourceRow], size: int) -> Iterator[list[SourceRow]]:
    """Cut a stream into lists of so many rows."""
    while batch := list(islice(stream, size)):
        yield batch
