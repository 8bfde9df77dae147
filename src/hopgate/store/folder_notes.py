"""Which memories are notes of which folder: what is gone there is found by it."""

from collections.abc import Collection

from hopgate.store import rows
from hopgate.store.rows import Connection


def folders(connection: Connection) -> list[str]:
    """The folders that notes came from."""
    return rows.values(connection, "SELECT DISTINCT folder FROM folder_notes")


def record(connection: Connection, folder: str, external_ids: Collection[str]) -> None:
    """Note that these memories are notes of a folder."""
    connection.execute(
        "INSERT INTO folder_notes AS known SELECT id, %s FROM memories WHERE external_id = ANY(%s) "
        "ON CONFLICT (memory_id) DO UPDATE SET folder = excluded.folder WHERE known.folder <> excluded.folder",
        (folder, list(external_ids)),
    )


def gone(connection: Connection, place: str, external_ids: Collection[str], files: Collection[str]) -> list[str]:
    """The external ids of notes of a folder, or of one below or above it, that lie in this place no more.

    `external_ids` were read there; of `files` that are there and could not be read all notes stay.
    """
    return rows.values(
        connection,
        "SELECT external_id FROM folder_notes JOIN memories ON id = memory_id, "
        "LATERAL (SELECT folder || '/' || external_id AS file) AS placed "
        "WHERE starts_with(file, %(place)s || '/') AND external_id <> ALL(%(read)s) "
        "AND split_part(file, '#', 1) <> ALL(%(files)s) ORDER BY id",
        {"place": place, "read": list(external_ids), "files": [name.partition("#")[0] for name in files]},
    )
