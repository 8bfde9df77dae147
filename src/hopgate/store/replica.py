"""A read replica of a store: that it is one, and how far behind it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopgate.errors import HopgateError
from hopgate.store.graph import arrays

if TYPE_CHECKING:
    from hopgate.store.store import Store


@dataclass(frozen=True, slots=True)
class ReplicaLag:
    """How far behind a replica is.

    Attributes
    ----------
    bytes : int
        Of the primary's log that the replica has not replayed.
    seconds : float
        Since the last transaction that it has replayed was committed; 0 where nothing is left to replay.

    Examples
    --------
    >>> print(ReplicaLag(0, 0.0), ReplicaLag(2_000_000, 1.5), sep="; ")
    up to date; 2,000,000 bytes and 1.5 s behind
    """

    bytes: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.bytes:,} bytes and {self.seconds:.1f} s behind" if self.bytes else "up to date"


def check(primary: Store, replica: Store) -> None:
    """Refuse an address that is no copy of the primary: answers would come from another store."""
    with primary.transaction() as connection:
        wanted = arrays.stamp(connection).database
    with replica.transaction() as connection:
        found = arrays.stamp(connection).database
    if found != wanted:
        raise HopgateError(
            "read_dsn is not a replica of this store (its cluster or database is another): give a physical standby's"
        )


def lag(primary: Store, replica: Store) -> ReplicaLag:
    """Ask both how far the replica is; a replica that is the primary itself is up to date."""
    with primary.transaction() as connection:
        row = connection.execute("SELECT pg_current_wal_lsn()::text").fetchone()
        assert row is not None
    with replica.transaction() as connection:
        found = connection.execute(
            "SELECT CASE WHEN pg_is_in_recovery() THEN greatest(pg_wal_lsn_diff(%s::pg_lsn, "
            "pg_last_wal_replay_lsn()), 0) ELSE 0 END, "
            "coalesce(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 0)",
            (row[0],),
        ).fetchone()
        assert found is not None
    return ReplicaLag(int(found[0]), float(found[1]) if found[0] else 0.0)
