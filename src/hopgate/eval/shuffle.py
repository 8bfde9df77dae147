"""The control: the same facts with the concepts dealt out anew among the memories: degrees stay, structure goes."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from hopgate.extract.triples import Triple

# Passes that mend a concept dealt twice to one memory; each halves them or better, so few graphs need more than ten.
PASSES = 40


def shuffled(triples: Sequence[Triple], seed: int = 0) -> tuple[Triple, ...]:
    """Shuffle a graph, preserving degrees.

    Each memory keeps its relations and how many concepts it talks about; each concept keeps how many memories talk
    about it. Which concepts meet in which memory is lost, and with it every path. Concepts trade places only with such
    as stand in about as many facts of their memory, so that their degree among concepts stays about the same too.

    Parameters
    ----------
    triples : sequence of Triple
    seed : int
        The same seed gives the same shuffle.

    Examples
    --------
    >>> facts = [Triple("m1", "a", "owns", "b"), Triple("m2", "c", "owns", "d"), Triple("m3", "e", "owns", "f")]
    >>> sorted(name for fact in shuffled(facts) for name in (fact.subject, fact.object))
    ['a', 'b', 'c', 'd', 'e', 'f']
    """
    rng = random.Random(seed)
    stands: Counter[tuple[str, str]] = Counter()
    for triple in triples:
        stands.update({(triple.doc_id, name) for name in (triple.subject, triple.object) if name})
        stands[triple.doc_id, triple.subject] += triple.is_fact
    places = sorted(stands)
    alike: defaultdict[int, list[int]] = defaultdict(list)
    for place, key in enumerate(places):
        alike[stands[key].bit_length()].append(place)
    dealt = [name for _, name in places]
    for group in alike.values():
        names = [dealt[place] for place in group]
        rng.shuffle(names)
        for place, name in zip(group, names, strict=True):
            dealt[place] = name
    _mend([memory for memory, _ in places], dealt, {p: group for group in alike.values() for p in group}, rng)
    new = dict(zip(places, dealt, strict=True))
    return tuple(
        replace(
            triple,
            subject=new[triple.doc_id, triple.subject],
            object=new[triple.doc_id, triple.object] if triple.object else "",
        )
        for triple in triples
    )


def _mend(memories: Sequence[str], dealt: list[str], group: dict[int, list[int]], rng: random.Random) -> None:
    """Trade away concepts that were dealt twice to one memory: a repeat would count once and lower its degree."""
    for _ in range(PASSES):
        seen: set[tuple[str, str]] = set()
        repeated = []
        for place, pair in enumerate(zip(memories, dealt, strict=True)):
            if pair in seen:
                repeated.append(place)
            seen.add(pair)
        for place in repeated:
            other = rng.choice(group[place])
            dealt[place], dealt[other] = dealt[other], dealt[place]
        if not repeated:
            break
