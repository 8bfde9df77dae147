"""What a relation needs to be told in memories and asked for in queries."""

from __future__ import annotations

from dataclasses import dataclass

from hopgate.demo.world import Group


@dataclass(frozen=True, slots=True)
class WorldRelation:
    """A typed relation, with the words it is told in and the other words it is asked for in.

    The two sets of words are kept apart, and apart from those of every relation it is chained with, so that a
    multi-hop query can only be followed through the concepts. Slots: ``{s}`` subject, ``{o}`` object, ``{p}`` the
    object before, ``{d}`` the day of a change, ``{x}`` the subject or the noun phrase that leads to it.

    Parameters
    ----------
    tells : tuple of str
        Ways to tell it with no day.
    begins, changes, lates : tuple of str
        Ways to tell the day of the first object, a change on its day, and a change that is learned of later.
    asides : tuple of str
        Sentences that may follow, in words of this relation's own.
    nouns : tuple of str
        Noun phrases for the object, to put a query about it into a longer one.
    asks, past_asks : tuple of str
        Questions for the object today, and on a day.
    movers : int
        How many subjects see it change.
    limit : int, optional
        How many subjects of a group it is told of; all when None.
    """

    name: str
    subject_type: str
    object_type: str
    category: str
    tags: tuple[str, ...]
    keywords: tuple[str, ...]
    groups: tuple[Group, ...]
    tells: tuple[str, ...]
    nouns: tuple[str, ...]
    asks: tuple[str, ...]
    begins: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    lates: tuple[str, ...] = ()
    past_asks: tuple[str, ...] = ()
    asides: tuple[str, ...] = ()
    movers: int = 0
    limit: int | None = None
    single_valued: bool = True
