"""From mentions to concepts, and what the result can be asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.canonicalise import Canonicaliser, ContextMention, Scoring, canonicalise_relations
from hopgate.graph.canonicalise.result import Canonicalisation


def fit(*names: str, **settings: object) -> Canonicalisation:
    return Canonicaliser(**settings).fit([ContextMention(name) for name in names])  # type: ignore[arg-type]


def together(result: Canonicalisation, first: str, second: str) -> bool:
    return result.why(first, second).merged


@pytest.mark.parametrize(
    "names",
    [
        ("I", "I (home)"),
        ("I (alice smith)", "I (alice smyth)"),
        ("I (team-a)", "I (team-b)"),
        ("I (lab)", "I (lab notes)"),
    ],
    ids=" and ".join,
)
def test_whoever_says_i_in_two_scopes_is_two(names: tuple[str, str]) -> None:
    assert not together(fit(*names, *names, "Berlin"), *names)
    assert together(fit(*names, f"{names[0]} "), names[0], f"{names[0]} ")


def test_names_of_one_thing_become_one_concept() -> None:
    result = fit(*["Bill Gates"] * 5, "Gates", "bill gates", "Gates, Bill", "BILL GATES", "Berlin")
    assert result.labels_.tolist() == [0] * 9 + [1]
    assert result.clusters()[0].canonical == "Bill Gates"
    assert result.clusters()[0].mentions == 9


def test_a_short_name_goes_with_the_one_most_often_meant() -> None:
    result = fit(*["Marilyn Monroe"] * 6, *["James Monroe"] * 2, *["Monroe"] * 3)
    assert together(result, "Monroe", "Marilyn Monroe")
    assert not together(result, "Marilyn Monroe", "James Monroe")


def test_a_short_name_of_too_many_goes_with_none() -> None:
    result = fit("Adam Smith", "Will Smith", "John Smith", "Patti Smith", "Smith")
    assert len(result.clusters()) == 5


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("World War I", "World War II"),
        ("England", "New England"),
        ("Windows 95", "Windows 98"),
        ("January 1842", "March 1842"),
        ("Austria", "Australia"),
    ],
)
def test_things_told_apart_by_a_word_stay_apart(first: str, second: str) -> None:
    assert not together(fit(first, second), first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("World War II", "Second World War"),
        ("FDA", "Food and Drug Administration"),
        ("President Obama", "Obama"),
        ("Apple Inc.", "Apple"),
        ("Wal-Mart", "Walmart"),
        ("Barack Obama", "Barak Obama"),
    ],
)
def test_ways_to_write_one_name_merge(first: str, second: str) -> None:
    assert together(fit(first, second), first, second)


def test_kinds_are_soft_evidence() -> None:
    def names(kind: str | None) -> list[ContextMention]:
        return [ContextMention("Paris", kind), ContextMention("Paris", "place")]

    assert len(Canonicaliser().fit(names(None)).clusters()) == 1
    assert len(Canonicaliser().fit(names("city")).clusters()) == 1  # extractors name kinds differently
    strict = Canonicaliser(scoring=Scoring(other_kind=0.4))
    assert len(strict.fit(names("person")).clusters()) == 2


def test_shared_context_adds() -> None:
    said = (("wrote", "note g"), ("born in", "london"))
    alone = Canonicaliser().fit([ContextMention("Ada King"), ContextMention("Ada Byron")])
    beside = Canonicaliser().fit([ContextMention("Ada King", None, said), ContextMention("Ada Byron", None, said)])
    assert (beside.why("Ada King", "Ada Byron").direct or 0) > (alone.why("Ada King", "Ada Byron").direct or 0)


def test_embeddings_find_what_strings_cannot() -> None:
    names = ["NYC", "The Big Apple", *(f"other {letter}" for letter in "abcdefghijklmnopqrstuvwxyz")]

    def embed(texts: list[str]) -> np.ndarray:
        rows = np.eye(len(names), dtype=np.float32)[[names.index(text) for text in texts]]
        rows[[text == "The Big Apple" for text in texts]] = np.eye(len(names), dtype=np.float32)[0]
        return rows

    mentions = [ContextMention(name) for name in names]
    assert not together(Canonicaliser().fit(mentions), "NYC", "The Big Apple")
    assert together(Canonicaliser().fit(mentions, embed), "NYC", "The Big Apple")  # type: ignore[arg-type]
    with pytest.raises(HopgateError, match="one finite row a name"):
        Canonicaliser().fit(mentions, lambda texts: np.zeros((1, 3), np.float32))


def test_the_result_answers() -> None:
    result = fit(*["Ada Lovelace"] * 3, "Lovelace", "Ada King Lovelace", "Charles Babbage")
    why = result.why("Lovelace", "Ada Lovelace")
    assert why.merged
    assert why.joined_at is not None
    assert why.evidence["expansion"] == 1
    assert result.why("Lovelace", "Charles Babbage").joined_at is None
    first, second, score = result.least_similar(0)
    assert first != second
    assert 0 <= score <= 1
    assert result.rethreshold(1.01).labels_.tolist() == result.units.of_mention.tolist()
    assert "6 mentions, 4 names, 2 concepts" in str(result)
    with pytest.raises(HopgateError, match="no mention is called"):
        result.why("Nobody", "Lovelace")
    with pytest.raises(HopgateError, match="fewer than two names"):
        result.least_similar(1)


def test_nothing_and_little() -> None:
    assert fit().labels_.tolist() == []
    assert fit().clusters() == []
    assert fit("x").labels_.tolist() == [0]
    with pytest.raises(HopgateError, match="empty name"):
        fit("")


def test_the_same_input_gives_the_same_result_and_its_order_only_renumbers() -> None:
    names = ["Ada Lovelace", "Lovelace", "Berlin", "Berlin, Germany", "Germany", "Lovelace", "IBM"]
    forward, backward = fit(*names), fit(*names[::-1])
    pairs = set(zip(forward.labels_.tolist(), backward.labels_.tolist()[::-1], strict=True))
    assert len(pairs) == len(forward.clusters()) == len(backward.clusters())


def test_relations_are_brought_together_and_the_raw_ones_kept() -> None:
    raw = ["was born in", "born in", "be born in", "was born in", "is the parent of", "works at", "worked for"]

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        """One direction for the two that mean employment, and one for each of the others."""
        rows = [0 if "work" in text else number for number, text in enumerate(texts, start=1)]
        return np.eye(len(texts) + 1, dtype=np.float32)[rows]

    found = canonicalise_relations(raw, embed)
    born = {name for name, canonical in found.canonical.items() if canonical == "was born in"}
    assert born == {"was born in", "born in", "be born in"}
    assert found.canonical["worked for"] == found.canonical["works at"]
    assert set(found.canonical) == set(raw)
    assert found.scores["was born in"] == 1
    assert canonicalise_relations([]).canonical == {}


def test_relations_turned_around_stay_apart() -> None:
    found = canonicalise_relations(["directed", "directed by", "is married", "is not married"])
    assert len(set(found.canonical.values())) == 4


def test_two_things_that_one_has_stay_apart_however_alike_their_words() -> None:
    roles = ["has insurance", "has health insurance", "has teacher", "has class teacher"]
    same = np.ones((len(roles), 1), dtype=np.float32)
    found = canonicalise_relations(roles, embed=lambda _: same)
    assert dict(found.canonical) == {role: role for role in roles}


def test_a_thing_is_neither_what_its_name_begins_with_nor_where_it_is() -> None:
    facts = {
        "Christmas boxes": (("located in", "loft"),),
        "Figma seat": (("costs", "12 euros"),),
        "bike": (("located in", "bike cellar"),),
        "Nile river": (("located in", "Africa"),),
    }
    names = (*facts, "Christmas", "Figma", "bike cellar", "Nile", "Christmas", "Figma", "bike cellar", "Nile")
    result = Canonicaliser().fit([ContextMention(name, context=facts.get(name, ())) for name in names])
    for name, short in (("Christmas boxes", "Christmas"), ("Figma seat", "Figma"), ("bike", "bike cellar")):
        assert not together(result, name, short)
    assert together(result, "Nile river", "Nile")
