"""Incremental resolution: three bands, and agreement with a rebuild."""

from __future__ import annotations

import numpy as np
import pytest

from hopgate.errors import HopgateError
from hopgate.graph.canonicalise import Canonicaliser, ContextMention
from hopgate.graph.canonicalise.incremental import Candidate, Resolver
from hopgate.graph.names.normal import normalise, tokens

MONROES = [Candidate(1, ("Marilyn Monroe", "Marilyn"), "person", 9), Candidate(2, ("James Monroe",), "person", 1)]


def test_an_exact_alias_decides() -> None:
    decision = Resolver().resolve(ContextMention("MARILYN"), MONROES)
    assert (decision.action, decision.concept, decision.score) == ("merge", 1, 1.0)


def test_namesakes_are_asked_about() -> None:
    twins = [Candidate(1, ("Paris",), "place", 2), Candidate(2, ("Paris",), "person", 9)]
    decision = Resolver().resolve(ContextMention("Paris", "place"), twins)
    assert (decision.action, decision.concept) == ("ask", 1)


def test_a_short_name_goes_with_the_one_most_often_meant() -> None:
    decision = Resolver().resolve(ContextMention("Monroe"), MONROES)
    assert (decision.action, decision.concept) == ("merge", 1)


def test_no_neighbour_is_a_new_concept() -> None:
    assert Resolver().resolve(ContextMention("Berlin"), []).action == "new"
    assert Resolver().resolve(ContextMention("Berlin"), MONROES).action == "new"


def test_between_the_thresholds_is_asked_and_two_near_ones_too() -> None:
    even = [Candidate(1, ("Marilyn Monroe",), mentions=5), Candidate(2, ("James Monroe",), mentions=6)]
    assert Resolver(merge=0.9).resolve(ContextMention("Monroe"), even).action == "ask"
    close = [Candidate(1, ("Big Apple",), closeness=0.9), Candidate(2, ("Gotham",), closeness=0.8)]
    assert Resolver().resolve(ContextMention("NYC"), close).action == "ask"
    assert Resolver().resolve(ContextMention("NYC"), close[:1]).concept == 1


def test_thresholds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(HopgateError, match="ask <= merge"):
        Resolver(merge=0.2, ask=0.3)


def test_a_graph_that_grew_agrees_with_one_that_was_rebuilt() -> None:
    random = np.random.default_rng(0)
    people = [(f"First{random.integers(60)}", f"Last{number % 70}") for number in range(120)]
    said = []
    for _ in range(900):
        first, last = people[int(random.zipf(1.5)) % len(people)]
        said.append(ContextMention(str(random.choice([f"{first} {last}", f"{first} {last}", last]))))
    rebuilt = Canonicaliser().fit(said).labels_
    concepts: list[dict[str, int]] = []
    grown = []
    for mention in said:
        wanted = set(tokens(normalise(mention.name)))
        near = [
            Candidate(at, tuple(sorted(names, key=lambda name: -names[name])), mentions=sum(names.values()))
            for at, names in enumerate(concepts)
            if any(wanted & set(tokens(normalise(name))) for name in names)
        ]
        decision = Resolver().resolve(mention, near)
        if decision.action == "merge":
            at = int(str(decision.concept))
        else:
            at = len(concepts)
            concepts.append({})
        concepts[at][mention.name] = concepts[at].get(mention.name, 0) + 1
        grown.append(at)
    same = [np.equal.outer(labels, labels)[np.triu_indices(len(said), 1)] for labels in (rebuilt, np.array(grown))]
    assert (same[0] == same[1]).mean() >= 0.95
    # Most pairs are apart whatever one does: of those that either joins, too, most are joined by both.
    assert (same[0] & same[1]).sum() / (same[0] | same[1]).sum() >= 0.9


@pytest.mark.parametrize(
    ("known", "new", "apart"),
    [
        ("Karl", "Karl-Heinz", True),
        ("Karl-Heinz", "Karl", True),
        ("Anna", "Anna\u2011Lena", True),
        ("Pi", "Pi-hole", True),
        ("Mike", "Mike's Bikes", True),
        ("Ada", "Ada Lovelace-King", False),
        ("Wi-Fi", "Wi-Fi router", False),
        ("Jean-Paul Sartre", "Sartre", False),
        ("Monroe", "Marilyn Monroe", False),
    ],
)
def test_half_of_what_a_hyphen_joins_is_another_name(known, new, apart):
    decision = Resolver(merge=0.8, ask=0.5).resolve(ContextMention(new), [Candidate(1, (known,))])
    assert (decision.action == "merge") is not apart, decision
