"""CSV and TSV with a header, by a column map."""

from __future__ import annotations

import csv
import io
from collections import Counter

from hopgate.errors import HopgateError
from hopgate.sources.field_map import require_text, to_corpus
from hopgate.sources.source import Place, ReadOptions, Records, read_utf8

SUFFIXES = (".csv", ".tsv", ".tab")


def recognises(place: Place) -> bool:
    """Whether a file is a table by its name."""
    return place.is_file() and place.name.lower().endswith(SUFFIXES)


def records(place: Place, options: ReadOptions) -> Records:
    """Give the rows; the first line names the columns."""
    text = read_utf8(place)
    first = text.partition("\n")[0]
    # The sign that parts the header's names: a text may hold any of them, a column's name rarely.
    separator = "\t" if not place.name.lower().endswith(".csv") else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        counts = Counter(header)
        for name in header:
            if not name or counts[name] > 1:
                raise HopgateError(f"{place}, line 1: each column needs a name of its own, {name[:80]!r} is none")
        require_text(header, options.fields, str(place))
        begun = reader.line_num + 1
        for row in reader:
            where, begun = begun, reader.line_num + 1
            if not any(row):
                continue
            if len(row) != len(header):
                raise HopgateError(f"{place}, line {where}: {len(row)} cells, where the header has {len(header)}")
            cells = {name: cell for name, cell in zip(header, row, strict=True) if cell != "" or name == "text"}
            yield f"line {where}", to_corpus(cells, options.fields, place.name)
    except csv.Error as error:
        raise HopgateError(f"{place}, line {reader.line_num}: not CSV ({error})") from None
