"""States and changes in words that no pattern knows: what is told together is read, look-alikes end nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hopgate.extract.context import with_context
from hopgate.extract.rules.phrases import Phrases
from hopgate.graph.build.derive import tentativeness
from hopgate.graph.names.normal import normalise
from hopgate.graph.temporal.precedence import EdgeVersion, current_edges
from hopgate.memory import Memory
from hopgate.store.graph.fact_rows import CanonicalFact
from hopgate.times import moment

BEFORE, AFTER = datetime(2024, 3, 20, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)


def held(texts: list[str], when: datetime, value: str) -> set[tuple[str, str]]:
    """What has a value as of a time, by what the texts say two months apart."""
    rules = Phrases()
    memories = [
        Memory(f"m{at}", text, created_at=datetime(2024, 3 + 2 * at, 5, 9, tzinfo=UTC)) for at, text in enumerate(texts)
    ]
    facts = []
    for memory, made in zip(memories, rules.extract(with_context(memories)), strict=True):
        for one in (*made.facts, *made.tentative):
            row = CanonicalFact(1, one.relation, 2, one.confidence, None, None, BEFORE, 3)
            assert memory.created_at is not None
            facts.append(
                EdgeVersion(
                    normalise(one.subject),
                    one.relation,
                    normalise(one.object),
                    moment(one.valid_from),
                    moment(one.valid_to),
                    memory.created_at,
                    evidence=(memory.external_id,),
                    tentative=tentativeness(row),
                )
            )
    return {
        (str(edge.src), edge.relation)
        for edge in current_edges(facts, rules.single_valued)
        if edge.dst == normalise(value)
        and (edge.valid_from is None or edge.valid_from <= when)
        and (edge.valid_to is None or edge.valid_to > when)
    }


@pytest.mark.parametrize(
    ("first", "second", "old", "new"),
    [
        ("Backups go to Backblaze.", "Backups now go to Wasabi instead of Backblaze.", "Backblaze", "Wasabi"),
        ("Greta has the on-call phone.", "Paulo has the on-call phone now.", "Greta", "Paulo"),
        ("We use Trello for planning.", "We now use Linear for planning.", "Trello", "Linear"),
        ("Payroll is handled by ADP.", "Payroll is now handled by Personio.", "ADP", "Personio"),
        ("Wifi password: rose77", "New wifi password: tulip88", "rose77", "tulip88"),
        ("The thermostat is set to 20.", "The thermostat is set to 19 now.", "20", "19"),
        ("Rent is 870 a month.", "The rent went up to 925 in May.", "870", "925"),
        ("The router sits in the cupboard under the stairs.", "The router has been moved to the top of the bookcase.",
         "cupboard under the stairs", "top of the bookcase"),
        ("The treasurer is Colm.", "Colm stepped down, Aoife is the new treasurer.", "Colm", "Aoife"),
        ("My bank is ING.", "I switched from ING to Triodos.", "ING", "Triodos"),
    ],
)  # fmt: skip
def test_what_is_said_counts_once_a_change_is_told(first: str, second: str, old: str, new: str) -> None:
    was = held([first, second], BEFORE, old)
    assert was and was.isdisjoint(held([first, second], AFTER, old)), held([first, second], AFTER, old)
    assert was & held([first, second], AFTER, new)
    assert not held([first, second], BEFORE, new)


@pytest.mark.parametrize("text", ["Backups go to Backblaze.", "Greta has the on-call phone.", "Wifi password: rose77"])
def test_what_is_only_said_makes_no_fact(text: str) -> None:
    made = Phrases().extract(with_context([Memory("m1", text, created_at=BEFORE)]))[0]
    assert not made.facts and made.tentative
    assert {fact.confidence for fact in made.tentative} == {-2.0}


def test_a_change_that_names_what_it_ends_needs_no_earlier_note() -> None:
    told = ["Rain today.", "Lotte has replaced Mirjam as our babysitter."]
    assert ("babysitter", "is with") in held(told, BEFORE, "Mirjam")
    assert ("babysitter", "is with") in held(told, AFTER, "Lotte") and not held(told, AFTER, "Mirjam")


@pytest.mark.parametrize(
    ("first", "second", "old"),
    [
        ("Backups go to Backblaze.", "Backups now also go to Wasabi.", "Backblaze"),
        ("Backups go to Backblaze.", "Backups now run with restic.", "Backblaze"),
        ("We use Trello for planning.", "We might use Linear for planning next year.", "Trello"),
        ("We use Trello for planning.", "The marketing team now uses Asana for planning.", "Trello"),
        ("The spare key is with Olga.", "Is the spare key with Pavel now?", "Olga"),
        ("The dog stays with Marta.", "The dog is with Jens now until Sunday.", "Marta"),
        ("The newsletter goes out through Mailchimp.", "The newsletter is now in Dutch.", "Mailchimp"),
        ("The band rehearses at Studio 9.", "The band has a gig at Klangwerk now.", "Studio 9"),
        ("Greta has the on-call phone.", "Paulo now has an on-call phone as well.", "Greta"),
        ("Our electricity is with Octopus.", "Dad switched his electricity from Octopus to OVO.", "Octopus"),
        ("Our GP is Dr Hale.", "Saw Dr Moreau today instead of Dr Hale.", "Dr Hale"),
        ("Our vet is Dr Hale.", "Dr Moreau is now the vet at the zoo.", "Dr Hale"),
        ("Eva works for Bosch.", "Eva's husband now works for Zeiss.", "Bosch"),
        ("Eva works for Bosch.", "Eva now works on Zeiss lenses.", "Bosch"),
        ("The bakery opens at 8.", "The bakery opens at 10 on Sundays now.", "8"),
        ("The invoice is with Dana.", "The invoice from May is now with Rolf.", "Dana"),
        ("The red suitcase is in the attic.", "Put the blue suitcase down in the cellar.", "attic"),
    ],
)
def test_what_only_looks_like_a_change_ends_nothing(first: str, second: str, old: str) -> None:
    assert held([first, second], BEFORE, old) <= held([first, second], AFTER, old)


def test_of_several_things_that_were_said_a_change_ends_none_that_it_does_not_name() -> None:
    texts = ["The spare key is with Olga.", "The spare key is with Tom."]
    assert not held([*texts, "The spare key is with Pavel now."], datetime(2024, 8, 1, tzinfo=UTC), "Pavel")
