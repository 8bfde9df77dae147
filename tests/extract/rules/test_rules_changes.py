"""Changes as people note them, by mechanism: frames around classes of verbs, slots for names, and what is no change."""

from __future__ import annotations

from datetime import datetime

import pytest

from hopgate.extract.context import with_context
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Memory

WRITTEN = "2024-08-10"
Fact = tuple[str, str, str]


def told(text: str) -> tuple[set[Fact], set[Fact]]:
    """What a note says to hold, and what it says to be over."""
    [found] = Phrases().extract(with_context([Memory("m1", text, created_at=datetime(2024, 8, 10, 9))]))
    facts = [((fact.subject, fact.relation, fact.object), fact.valid_to) for fact in found.facts]
    return {fact for fact, end in facts if not end}, {fact for fact, end in facts if end}


@pytest.mark.parametrize(
    ("text", "holds", "over"),
    [
        # a verb of moving, its object, where from and where to, in either order
        ("Shifted authelia off beryl and onto jade.", "authelia|runs on|jade", "authelia|runs on|beryl"),
        ("Ported authelia to jade from beryl.", "authelia|runs on|jade", "authelia|runs on|beryl"),
        ("authelia was moved by Ines from beryl to jade.", "authelia|runs on|jade", "authelia|runs on|beryl"),
        ("authelia has moved: beryl -> jade", "authelia|runs on|jade", "authelia|runs on|beryl"),
        ("Migration of authelia from beryl to jade done.", "authelia|runs on|jade", "authelia|runs on|beryl"),
        # a place and no verb, or only "to be"
        ("authelia now on jade.", "authelia|runs on|jade", ""),
        ("As of June authelia is on jade.", "authelia|runs on|jade", ""),
        ("New home of authelia is opal.", "authelia|runs on|opal", ""),
        # what holds instead, told by a preposition alone
        ("Renate wohnt nicht mehr in Celle, sondern in Uelzen.", "Renate|lives in|Uelzen", "Renate|lives in|Celle"),
        ("Oscar no longer lives in Deal, he's in Hythe now.", "Oscar|lives in|Hythe", "Oscar|lives in|Deal"),
        # a subject left out after "and", a pronoun for a thing of the same sentence
        ("Met Ingrid. She left Turku in May and lives in Vaasa now.", "Ingrid|lives in|Vaasa", ""),
        ("Took authelia off beryl today and put it on jade.", "authelia|runs on|jade", ""),
        # work
        ("Ingrid left Norsk Data and joined Simrad.", "Ingrid|works at|Simrad", "Ingrid|works at|Norsk Data"),
        ("Ingrid switched jobs, from Simrad to Kitron.", "Ingrid|works at|Kitron", "Ingrid|works at|Simrad"),
        ("Ingrid ist bei Simrad angestellt.", "Ingrid|works at|Simrad", ""),
        # hands
        ("Ingrid handed Team Otter over to Oscar.", "Team Otter|led by|Oscar", "Team Otter|led by|Ingrid"),
        ("Reassigned OPS-9 from Ingrid to Oscar.", "OPS-9|owned by|Oscar", "OPS-9|owned by|Ingrid"),
        ("Ingrid moved from Team Otter to Team Lynx.", "Ingrid|part of|Team Lynx", "Ingrid|part of|Team Otter"),
        ("Boss of Ingrid is Oscar.", "Ingrid|reports to|Oscar", ""),
        ("Ingrid has a new manager, Oscar.", "Ingrid|reports to|Oscar", ""),
        # one thing in another's place
        ("Dropped Nagios in favour of Icinga.", "Nagios|replaced by|Icinga", ""),
        ("Ditched Nagios, using Icinga now.", "Nagios|replaced by|Icinga", ""),
        ("We no longer use Nagios, we use Icinga.", "Nagios|replaced by|Icinga", ""),
        ("I have switched from Nagios to Icinga.", "Nagios|replaced by|Icinga", ""),
        ("Hemos sustituido Nagios por Icinga.", "Nagios|replaced by|Icinga", ""),
        # where things are in the house
        ("We've moved the cello to the loft.", "cello|located in|loft", ""),
    ],
)
def test_a_change_is_told_in_many_ways(text: str, holds: str, over: str) -> None:
    now, gone = told(text)
    assert tuple(holds.split("|")) in now
    assert not over or tuple(over.split("|")) in gone


@pytest.mark.parametrize(
    "text",
    [
        "Oscar is moving to Leeds next month.",
        "I'll move authelia to jade.",
        "authelia temporarily runs on jade until Friday.",
        "authelia runs on jade until beryl is repaired.",
        "Once the disks arrive, authelia moves to jade.",
        "We're replacing Nagios with Icinga next year.",
        "Should I move authelia from beryl to jade?",
        "authelia is not moving to jade.",
        "Authelia soll irgendwann auf jade umziehen.",
        "Mail is at Mailbox.",
        "The problem is in the details.",
    ],
)
def test_plans_visits_and_doubts_are_no_changes(text: str) -> None:
    assert told(text) == (set(), set())


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Installed homer on beryl today.", {"homer", "beryl"}),
        ("On beryl I run homer and dozzle.", {"beryl", "homer", "dozzle"}),
        ("The owner of ledger-api is Ingrid.", {"ledger-api", "Ingrid"}),
        ("Acme Home → Lemonade", {"Acme Home", "Lemonade"}),
        ("Ingrid wohnt in Passau.", {"Ingrid", "Passau"}),
    ],
)
def test_names_are_found_where_they_stand(text: str, names: set[str]) -> None:
    [found] = Phrases().extract(with_context([Memory("m1", text)]))
    assert names <= {mention.name for mention in found.mentions}


@pytest.mark.parametrize("text", ["It runs on backup duty.", "Put dinner on the table.", "She is on antibiotics."])
def test_other_words_after_on_are_no_hosts(text: str) -> None:
    [found] = Phrases().extract(with_context([Memory("m1", text)]))
    assert found.mentions == ()


def test_a_number_with_a_word_is_no_date() -> None:
    [found] = Phrases().extract(with_context([Memory("m1", "A 1500-place hall opened in 2019-05.")]))
    assert "1500-place" not in {fact.object for fact in found.facts}


def test_an_event_begins_when_it_is_told() -> None:
    [found] = Phrases().extract(
        with_context([Memory("m1", "Icinga replaced Nagios.", created_at=datetime(2024, 8, 10))])
    )
    assert [fact.valid_from for fact in found.facts] == [WRITTEN]
