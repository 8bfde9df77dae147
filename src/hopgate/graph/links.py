"""Links that names make and no extractor sees: memories titled with a concept's name, and names inside names.

An extractor reads one memory at a time: a fact about "Bob Marsh" in one memory never meets the facts about "Robert
Marsh" in the memory titled "Bob Marsh", and one about "Mill Street, Norwich" never reaches "Norwich". Names close both
gaps. What they add to recall is measured in docs/measurements.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from hopgate.graph.names import LONGEST, can_be_found, name_index, name_words
from hopgate.memory import cleared
from hopgate.store import memories, setting_rows
from hopgate.store.graph import arrays, concept_rows, edge_rows, name_rows
from hopgate.store.graph.name_rows import NameKey, NameRow, of_small_groups
from hopgate.store.rows import Connection

# A mention that an extractor found weighs 1. Measured on dev: 6 to 10 are alike for titles, 0.25 to 0.5 for names
# inside names.
TITLE_WEIGHT = 6.0
INSIDE_WEIGHT = 0.5

# Memories, or concepts, linked in one statement, and how many memories or names a new name is carried to at most.
BATCH = 1000
MAX_CARRIED = 200


def without_addition(title: str) -> str:
    """A title without the bracketed addition at its end.

    Examples
    --------
    >>> without_addition("Mill Street (road)"), without_addition("A (b) c")
    ('Mill Street', 'A (b) c')
    """
    head, bracket, addition = title.rstrip().rpartition("(")
    return head.rstrip() if bracket and addition.find(")") == len(addition) - 1 else title


def inside_links(known: Iterable[NameRow], names: Iterable[NameRow]) -> list[tuple[int, int]]:
    """Give (concept, other concept) where the other's name, a known one, is inside one of the concept's names.

    One word counts only where it is a name there, too: Winter has nothing to do with winter tyres, nor 28 with 28-622.
    """
    index = name_index((row.name, row.concept_id) for row in known)
    links = {
        (row.concept_id, match.concept)
        for row in names
        for match in index.find(row.name, within=True)
        if match.concept != row.concept_id
        and (match.length > 1 or _is_name_in(name_words(row.name)[match.start], row.name))
    }
    return sorted(links)


def _is_name_in(word: str, name: str) -> bool:
    """Whether a word stands in a name with a capital, or in letters that have none."""
    letter = name[name.casefold().find(word) :][:1]
    return letter.isalpha() and not letter.islower()


def link_all(connection: Connection) -> None:
    """Link every memory to the concepts that it mentions and that its title names, and concepts to those in names."""
    link_memories(connection, memories.hold_open_ids(connection))
    concept_ids = arrays.concept_ids(connection).tolist()
    for start in range(0, len(concept_ids), BATCH):
        link_names(connection, concept_ids[start : start + BATCH])


def link_memories(connection: Connection, memory_ids: Sequence[int]) -> None:
    """Derive which concepts memories talk about: those that extractors mentioned, and the one that a title names.

    Only names that could be these memories' titles are looked up, so that adding a memory costs what the memory is
    long and not what the graph is large. Only whole titles: names found anywhere in a text add 0.02 to recall@5, but
    they would rebuild most of a graph whose triples are wrong, and no control would show it.
    """
    for start in range(0, len(memory_ids), BATCH):
        ids = memory_ids[start : start + BATCH]
        concept_rows.link_mentions(connection, ids)
        known = memories.fetch_by_id(connection, ids)
        scopes = name_rows.scopes_of(connection, known)
        titled: dict[NameKey, list[int]] = defaultdict(list)
        for key, text in cleared(known.items()):
            title = text.split("\n", 1)[0]
            for name in {title, without_addition(title)} if len(title) <= memories.MAX_TITLE else ():
                titled[scopes[key], " ".join(name_words(name))].append(key)
        rows = [row for row in name_rows.read(connection, keys=titled) if row.uses and can_be_found(row.normal.split())]
        links = sorted({(memory_id, row.concept_id) for row in rows for memory_id in titled[row.key]})
        concept_rows.link_titles(connection, links, TITLE_WEIGHT)


def link_names(connection: Connection, concept_ids: Sequence[int]) -> None:
    """Join concepts to those whose names are inside their own: "Mill Street, Norwich" to "Norwich"."""
    names: dict[str, list[NameRow]] = defaultdict(list)
    for row in name_rows.read(connection, concepts=concept_ids):
        names[row.scope].append(row)
    runs = [(scope, run) for scope, rows in names.items() for run in name_runs(row.name for row in rows)]
    inside: dict[str, list[NameRow]] = defaultdict(list)
    for row in name_rows.read(connection, keys=runs):
        inside[row.scope] += [row] if row.uses else []
    links = [link for scope, rows in names.items() for link in inside_links(inside[scope], rows)]
    edge_rows.replace_name_links(connection, concept_ids, links, INSIDE_WEIGHT)


def relink(connection: Connection, changed: Sequence[NameRow], *, leaving_out: Sequence[int] = ()) -> None:
    """Link anew what names touch that were added, removed or moved: memories titled so, and names that contain them.

    A name that more than `MAX_CARRIED` of them contain is a common word that says little about each, and to visit them
    all would make one memory's insertion cost what the store is large: the next rebuild links those.
    """
    rows = [row for row in changed if can_be_found(row.normal.split())]
    if not rows:
        return
    owners = {row.concept_id for row in rows} | set(
        name_rows.containing(connection, [row.key for row in rows], limit=MAX_CARRIED)
    )
    link_names(connection, sorted(owners))
    spelt = [row.key for row in rows] + [(row.scope, row.name) for row in rows if row.name.casefold() != row.normal]
    shared = setting_rows.shares_scopes(connection)
    wanted = [(None if shared else scope, name) for scope, name in spelt]
    titled = memories.holding(connection, wanted, limit=MAX_CARRIED + 1, titles=True)
    carriers = set(of_small_groups(titled, MAX_CARRIED))
    link_memories(connection, sorted(carriers - set(leaving_out)))


def concepts_in(text: str, names: Iterable[NameRow]) -> list[int]:
    """Find the concepts whose names are in a text, from left to right, the longest match first.

    Parameters
    ----------
    names : iterable of NameRow
        Those names whose normal form is one of `name_runs` of the text.
    """
    return [match.concept for match in name_index((row.name, row.concept_id) for row in names).find(text)]


def name_runs(texts: Iterable[str]) -> list[str]:
    """Give the normal forms that names in some texts may have: every run of up to eight words.

    Examples
    --------
    >>> name_runs(["Mill Street?"])
    ['mill', 'mill street', 'street']
    """
    runs = set()
    for text in texts:
        tokens = name_words(text)
        for at in range(len(tokens)):
            runs |= {" ".join(tokens[at : at + length]) for length in range(1, LONGEST + 1)}
    return sorted(runs)
