"""Parquet files by a column map; what `hopgate export` writes needs none."""

from __future__ import annotations

from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.sources.field_map import require_text, to_corpus
from hopgate.sources.source import Place, ReadOptions, Records

SUFFIXES = (".parquet", ".pq")
# Rows that are read at once.
BATCH = 4096


def recognises(place: Place) -> bool:
    """Whether a file is Parquet by its name."""
    return place.is_file() and place.name.lower().endswith(SUFFIXES)


def records(place: Place, options: ReadOptions) -> Records:
    """Give the rows, a batch in memory at a time."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise HopgateError("Parquet needs pyarrow: pip install 'hopgate[parquet]'") from None
    if not isinstance(place, Path):
        raise HopgateError(f"{place} is inside an archive: take the Parquet file out of it")
    try:
        with pq.ParquetFile(place) as table:
            require_text(table.schema_arrow.names, options.fields, str(place))
            number = 0
            for batch in table.iter_batches(BATCH):
                for row in batch.to_pylist():
                    number += 1
                    cells = {name: cell for name, cell in row.items() if cell is not None}
                    yield f"row {number}", to_corpus(cells, options.fields, place.name)
    except pa.ArrowException as error:
        raise HopgateError(f"{place} is not Parquet ({' '.join(str(error).split())[:80]}): write it again") from None
