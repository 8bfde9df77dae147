"""Plain text: a line is a memory."""

from __future__ import annotations

from hopgate.sources.source import Place, ReadOptions, Records, Repeated, digest, read_utf8


def recognises(place: Place) -> bool:
    """Whether a file is a text by its name."""
    return place.is_file() and place.name.lower().endswith((".txt", ".text", ".log"))


def records(place: Place, _: ReadOptions) -> Records:
    """Give the lines that are not blank; a line keeps its id when others come before it."""
    numbered = Repeated()
    for number, line in enumerate(read_utf8(place).splitlines(), start=1):
        if text := line.strip():
            yield f"line {number}", {"_id": numbered(f"{place.name}#{digest(text)}"), "text": text}
