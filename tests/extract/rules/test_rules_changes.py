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
        # any verb, where a service and its hosts are known by their places
        ("authelia got bumped from beryl to jade.", "authelia|runs on|jade", "authelia|runs on|beryl"),
        ("Took authelia down on beryl and brought it back up on jade.", "authelia|runs on|jade", ""),
        ("jade is now running authelia", "authelia|runs on|jade", ""),
        ("Finished migrating authelia from beryl to jade.", "authelia|runs on|jade", "authelia|runs on|beryl"),
        # patterns whose words are not all needed: a group that may be missing, a word that another begins
        ("Got the lamp from Lichthaus.", "lamp|bought from|Lichthaus", ""),
        ("Ingrid started working for Kitron in May.", "Ingrid|works at|Kitron", ""),
        ("plum runs mealie and nothing else", "mealie|runs on|plum", ""),
        ("Heads up: we shifted authelia over to jade last night.", "authelia|runs on|jade", ""),
        ("Ingrid, my cousin, lives in Vaasa.", "Ingrid|lives in|Vaasa", ""),
        # who acts in the sentence is who the next pronoun means
        ("Ingrid doesn't report to Oscar any more, she reports to Bea.", "Ingrid|reports to|Bea", ""),
        (
            "Ingrid's manager used to be Oscar. Her new manager is Bea.",
            "Ingrid|reports to|Bea",
            "Ingrid|reports to|Oscar",
        ),
        # a role and a colon, a role that changes hands
        ("Search Squad lead: Oscar", "Search Squad|led by|Oscar", ""),
        ("OPS-9: assignee Ingrid -> Oscar", "OPS-9|owned by|Oscar", "OPS-9|owned by|Ingrid"),
        ("Oscar took OPS-9 over from Ingrid.", "OPS-9|owned by|Oscar", "OPS-9|owned by|Ingrid"),
        # work that ends
        ("Ingrid lost her job at Simrad.", "", "Ingrid|works at|Simrad"),
        ("I left Kitron, I'm at Simrad now.", "I|works at|Simrad", "I|works at|Kitron"),
        # one thing in another's place
        ("Traded in the Golf for a Passat.", "Golf|replaced by|Passat", ""),
        ("Wir haben Nagios durch Icinga ersetzt.", "Nagios|replaced by|Icinga", ""),
        # dates that move
        ("Deadline of OPS-9 moved from 1 July 2024 to 31 July 2024.", "OPS-9|due|2024-07-31", "OPS-9|due|2024-07-01"),
        # where things are in the house
        (
            "Dragged the cello out of the cellar and into the garage.",
            "cello|located in|garage",
            "cello|located in|cellar",
        ),
        ("The cello is no longer in the study, it's in the loft.", "cello|located in|loft", "cello|located in|study"),
        ("We've moved the cello to the loft.", "cello|located in|loft", ""),
    ],
)
def test_a_change_is_told_in_many_ways(text: str, holds: str, over: str) -> None:
    now, gone = told(text)
    assert not holds or tuple(holds.split("|")) in now
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
        "authelia also runs on jade.",
        "Tested authelia on jade for a day.",
        "rsync from beryl to jade",
        "TODO: authelia -> jade",
        "authelia refuses to run on jade.",
        "Kirsten thinks authelia runs on jade.",
        "Ingrid went from Turku to Vaasa by train.",
        "Ingrid handed the salt to Oscar.",
        "Ingrid used to live in Oulu when she was a student.",
        "Ingrid left for Vaasa this morning.",
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


def test_where_somebody_works_tells_what_a_move_is() -> None:
    notes = ["Ingrid works at Kitron.", "Ingrid moved from Kitron to Simrad.", "Ingrid went to Oslo."]
    found = Phrases().extract(with_context([Memory(str(at), text) for at, text in enumerate(notes)]))
    assert [(fact.relation, fact.object) for fact in found[1].facts][:1] == [("works at", "Simrad")]
    assert "lives in" not in {fact.relation for fact in found[2].facts}


def test_it_is_the_service_that_the_turn_before_asked_about() -> None:
    turns = [
        Memory(str(at), text, scope="x", thread="t", created_at=datetime(2024, 8, 10, 9, at))
        for at, text in enumerate(("Ana: which box has authelia?", "Luis: it's on jade"))
    ]
    [_, answer] = Phrases().extract(with_context(turns))
    assert [(fact.subject, fact.relation, fact.object) for fact in answer.facts] == [("authelia", "runs on", "jade")]


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
