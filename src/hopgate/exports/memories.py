"""Memories as files of other programs: CSV and Parquet tables that `hopgate ingest` reads back, an Obsidian vault."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hopgate.corpus import COLUMNS, EXTRA, READERS, no_formula
from hopgate.errors import HopgateError
from hopgate.files import private_folder, private_opener
from hopgate.memory import Memory, cleared

if TYPE_CHECKING:
    from hopgate.store.graph.concept_rows import Concept
    from hopgate.store.graph.edge_rows import Edge

# Rows of a Parquet file that are written at once.
BATCH = 10_000


def flat_row(memory: Memory) -> dict[str, Any]:
    """A memory by its columns; what it has beyond them is JSON in `extra`."""
    row: dict[str, Any] = {"_id": memory.external_id, "title": memory.title or None, "text": memory.text}
    row |= {name: getattr(memory, name) for name in READERS}
    return row | {EXTRA: json.dumps(memory.extra, ensure_ascii=False) if memory.extra else None}


def write_csv(memories: Iterable[Memory], out: IO[str]) -> int:
    """Write memories as CSV with a header; give how many."""
    # With this end of a line both of its signs are quoted inside a cell.
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    count = 0
    for memory in memories:
        writer.writerow([_cell(value) for value in flat_row(memory).values()])
        count += 1
    return count


def write_parquet(memories: Iterable[Memory], path: Path) -> int:
    """Write memories as one Parquet file; give how many."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise HopgateError("Parquet needs pyarrow: pip install 'hopgate[parquet]'") from None
    texts, time = pa.list_(pa.string()), pa.timestamp("us", tz="UTC")
    types = {"tags": texts, "expanded_keywords": texts, "importance": pa.float64(), "is_sensitive": pa.bool_()}
    types |= {"created_at": time, "superseded_at": time}
    schema = pa.schema([(name, types.get(name, pa.string())) for name in COLUMNS])
    count = 0
    with open(path, "wb", opener=private_opener) as stream, pq.ParquetWriter(stream, schema) as writer:
        remaining = iter(memories)
        while rows := [flat_row(memory) for memory in islice(remaining, BATCH)]:
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            count += len(rows)
    return count


def _cell(value: Any) -> str:
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(list(value), ensure_ascii=False) if isinstance(value, tuple) else no_formula(str(value))


# A vault: a page a concept and a page a memory, with links between them; nothing sensitive.

# What a file's name or an Obsidian link cannot hold.
_FORBIDDEN = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f]+')
MAX_NAME = 100
# File systems take 255 bytes; so much is left for a number that tells namesakes apart, and for .md.
MAX_NAME_BYTES = 240


def write_vault(
    out: Path,
    memories: Iterable[Memory],
    concepts: Sequence[Concept],
    edges: Iterable[Edge],
    mentions: Mapping[str, Sequence[str]],
) -> tuple[int, int]:
    """Write a new vault, with the names of the concepts that each memory mentions; give how many of both it has."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise HopgateError(f"{out} is not empty: give a new folder")
    for folder in (out, *(out / name for name in ("Concepts", "Memories", ".obsidian"))):
        private_folder(folder)
    open_ones = list(cleared((memory, memory) for memory in memories))
    taken: set[str] = set()
    of_concept = {concept.name: _file_name(concept.name, taken) for concept in concepts}
    of_memory = {memory.external_id: _file_name(memory.title or memory.external_id, taken) for memory, _ in open_ones}
    about: dict[str, list[str]] = {}
    for memory, _ in open_ones:
        linked = [name for name in mentions.get(memory.external_id, ()) if name in of_concept]
        for name in linked:
            about.setdefault(name, []).append(memory.external_id)
        text = "\n".join(_memory_page(memory, [of_concept[name] for name in linked], of_memory))
        (out / "Memories" / f"{of_memory[memory.external_id]}.md").write_text(text, encoding="utf-8")
    stated: dict[int, list[Edge]] = {}
    for edge in edges:
        # No memory says of two names that one stands in the other.
        if edge.evidence:
            for end in {edge.source_id, edge.target_id}:
                stated.setdefault(end, []).append(edge)
    for concept in concepts:
        page = _concept_page(concept, stated.get(concept.id, ()), of_concept, of_memory)
        memories_of = [f"- [[{of_memory[key]}]]" for key in about.get(concept.name, ())]
        text = "\n".join([*page, *(["\n## Memories\n", *memories_of] if memories_of else []), ""])
        (out / "Concepts" / f"{of_concept[concept.name]}.md").write_text(text, encoding="utf-8")
    return len(concepts), len(open_ones)


def _file_name(name: str, taken: set[str]) -> str:
    """A file's name that no other page has, whatever the case of its letters."""
    plain = _cut(" ".join(_FORBIDDEN.sub(" ", name).split()).strip(". ")) or "unnamed"
    made, number = plain, 1
    while made.casefold() in taken:
        number += 1
        made = f"{plain} {number}"
    taken.add(made.casefold())
    return made


def _cut(name: str) -> str:
    """Cut a name to what a file system takes, between two characters."""
    return name[:MAX_NAME].encode("utf-8")[:MAX_NAME_BYTES].decode("utf-8", "ignore").rstrip(". ")


def _memory_page(memory: Memory, linked: Sequence[str], memories: Mapping[str, str]) -> Iterator[str]:
    yield "---"
    yield f"id: {yaml_text(memory.external_id)}"
    if memory.created_at:
        yield f"created: {memory.created_at.isoformat()}"
    if memory.tags:
        yield f"tags: {yaml_text(list(memory.tags))}"
    for name in ("category", "scope", "thread"):
        if value := getattr(memory, name):
            yield f"{name}: {yaml_text(value)}"
    yield "---"
    if memory.title:
        yield f"# {escaped_markdown(memory.title)}\n"
    yield memory.text
    if memory.superseded_by is not None and memory.superseded_by in memories:
        yield f"\nSuperseded by [[{memories[memory.superseded_by]}]]"
    if linked:
        yield "\nMentions: " + ", ".join(f"[[{name}]]" for name in linked)
    yield ""


def _concept_page(
    concept: Concept, edges: Iterable[Edge], concepts: Mapping[str, str], memories: Mapping[str, str]
) -> Iterator[str]:
    yield "---"
    if aliases := [alias for alias in concept.aliases if alias != concept.name]:
        yield f"aliases: {yaml_text(aliases)}"
    if concept.kind:
        yield f"kind: {yaml_text(concept.kind)}"
    yield f"---\n# {escaped_markdown(concept.name)}\n"
    for edge in edges:
        outgoing = edge.source_id == concept.id
        other = edge.target if outgoing else edge.source
        link = f"[[{concepts[other]}]]" if other in concepts else escaped_markdown(other)
        named = escaped_markdown(edge.relation)
        sentence = f"{named} {link}" if outgoing else f"{link} {named} it"
        shown = [f"[[{memories[key]}]]" for key in edge.evidence if key in memories]
        yield f"- {sentence}" + (f" ({', '.join(shown)})" if shown else "")


# Somebody's words inside a page of Markdown: shown, and not obeyed.

# Links, images, HTML and the bar of a table. Emphasis is left alone: it hides nothing and leads nowhere.
_MEANING = re.compile(r"[\\\[\]<|]")
# What YAML takes for the end of a line, and what a terminal obeys.
_NOT_PLAIN = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")


def escaped_markdown(text: str) -> str:
    """Give a text for one line of Markdown."""
    flat = " ".join(text.split())
    return _MEANING.sub(lambda match: "&lt;" if match[0] == "<" else f"\\{match[0]}", flat)


def yaml_text(value: str | list[str]) -> str:
    """Give a value for front matter: JSON, which YAML reads as it is."""
    return _NOT_PLAIN.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))
