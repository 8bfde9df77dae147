"""Two notes, of which the second tells of a change in whatever words, or only seems to: what holds before and after."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hopgate.extract.context import with_context
from hopgate.extract.rules.phrases import Phrases
from hopgate.graph.temporal.precedence import EdgeVersion, Tentative, current_edges
from hopgate.memory import Memory
from hopgate.times import moment

WRITTEN = (datetime(2024, 2, 10, tzinfo=UTC), datetime(2024, 8, 20, tzinfo=UTC))
ASKED = (datetime(2024, 3, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC))


def held(notes: tuple[str, str], subject: str, relation: str) -> list[set[str]]:
    """The objects that a subject has as of a time after the first note, and as of one after the second."""
    memories = [
        Memory(f"m{number}", text, created_at=written)
        for number, (text, written) in enumerate(zip(notes, WRITTEN, strict=True))
    ]
    phrases = Phrases()
    facts = [
        EdgeVersion(
            fact.subject.lower(),
            fact.relation,
            fact.object.lower(),
            moment(fact.valid_from),
            moment(fact.valid_to),
            written,
            evidence=(memory.external_id,),
            tentative=Tentative.NO
            if fact.confidence > 0
            else Tentative.BESIDE
            if fact.confidence < 0
            else Tentative.ALONE,
        )
        for memory, written, found in zip(memories, WRITTEN, phrases.extract(with_context(memories)), strict=True)
        for fact in (*found.facts, *found.tentative)
    ]
    wanted = (subject, relation)
    edges = [edge for edge in current_edges(facts, phrases.single_valued) if (edge.src, edge.relation) == wanted]
    return [
        {
            str(edge.dst)
            for edge in edges
            if (edge.valid_from is None or edge.valid_from <= when) and (edge.valid_to is None or when < edge.valid_to)
        }
        for when in ASKED
    ]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        # a common noun, and another part of the sentence with a denial
        (
            "The wiki runs on larch.",
            "We ended up putting the wiki on rowan, larch could not cope.",
            "wiki|runs on|larch|rowan",
        ),
        (
            "The printer stands in room 204.",
            "The printer was moved to room 118.",
            "printer|located in|room 204|room 118",
        ),
        # the same by another of its names
        (
            "The Zigbee gateway runs on sprite.",
            "I reinstalled the Zigbee gateway on pixie.",
            "zigbee gateway|runs on|sprite|pixie",
        ),
        (
            "The Postgres database is on host delta1.",
            "The Postgres database was cut over to delta4.",
            "postgres|runs on|delta1|delta4",
        ),
        # a known service makes a host known
        (
            "forgejo runs on beaver.",
            "otter is where forgejo lives now, beaver ran out of disk.",
            "forgejo|runs on|beaver|otter",
        ),
        # who says "we", and a town
        ("We live in Utrecht.", "We moved to Zwolle on 1 September.", "i|lives in|utrecht|zwolle"),
        ("I live in Leeds.", "Moved to Sheffield last weekend!", "i|lives in|leeds|sheffield"),
        ("My sister lives in Norwich.", "My sister moved to Ipswich in May.", "sister|lives in|norwich|ipswich"),
        # work by its words, in another sentence of the note
        (
            "Hannah works for Northwind.",
            "Hannah handed in her notice; from August she's with Contoso.",
            "hannah|works at|northwind|contoso",
        ),
        ("Derek is an accountant at KPMG.", "Derek jumped ship to Deloitte.", "derek|works at|kpmg|deloitte"),
        # frames around what something has one of
        (
            "Lead of the mobile squad: Ingrid.",
            "The mobile squad has a new lead, Tariq.",
            "mobile squad|led by|ingrid|tariq",
        ),
        (
            "Amira's boss is Tobias.",
            "Tobias got promoted, so Amira answers to Ludmila now.",
            "amira|reports to|tobias|ludmila",
        ),
        # what is over leaves room for what is so since
        (
            "Jakub lives in Lublin.",
            "Jakub no longer lives in Lublin; he's in Radom now.",
            "jakub|lives in|lublin|radom",
        ),
        # one in another's place, without the word for the role
        (
            "Our dentist is Dr Kaplan.",
            "Dr Kaplan has retired, so now it's Dr Mbeki.",
            "i|has dentist|dr kaplan|dr mbeki",
        ),
        (
            "Our family doctor is Dr. Okoye.",
            "Our family doctor is no longer Dr. Okoye but Dr. Lund.",
            "i|has doctor|dr. okoye|dr. lund",
        ),
        # prices, dates and times in any words
        ("The rent is 780 EUR.", "They put the rent up to 820 EUR.", "rent|costs|780 eur|820 eur"),
        (
            "The grant report is due on 10 May 2024.",
            "They gave us until 24 May 2024 for the grant report.",
            "grant report|due|2024-05-10|2024-05-24",
        ),
        ("Standup is at 9:15.", "We changed standup to 10:00.", "standup|takes place|9:15|10:00"),
    ],
)
def test_a_change_told_in_any_words_ends_what_was_known(before: str, after: str, told: str) -> None:
    subject, relation, old, new = told.split("|")
    assert held((before, after), subject, relation) == [{old}, {new}]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("Our dentist is Dr Lindgren.", "The neighbours have a new dentist, Dr Popov.", "i|has dentist|dr lindgren"),
        (
            "The printer is in room 210.",
            "The printer was moved to room 305 for the open day.",
            "printer|located in|room 210",
        ),
        ("Gitea runs on birch.", "Gitea is slow since the new cron job on alder.", "gitea|runs on|birch"),
        ("Gitea runs on birch.", "New monitoring: rowan now pings Gitea every minute.", "gitea|runs on|birch"),
        ("Gitea runs on birch.", "Someone on the forum moved Gitea to oak.", "gitea|runs on|birch"),
        ("Pi-hole runs on willow.", "A second Pi-hole runs on aspen now.", "pi-hole|runs on|willow"),
        ("Plex runs on titan.", "New disk in titan, Plex library now on rhea's NFS share.", "plex|runs on|titan"),
        ("The passports are in the safe.", "Copies of the passports are in the desk now.", "passports|located in|safe"),
        ("The bike is in the shed.", "Took the bike to the workshop for new brakes.", "bike|located in|shed"),
        ("Elena lives in Malaga.", "Elena has a new boyfriend in Cadiz.", "elena|lives in|malaga"),
        ("Elena lives in Malaga.", "Elena moved her office to Cadiz.", "elena|lives in|malaga"),
        ("Elena lives in Malaga.", "Elena's parents have settled in Cadiz.", "elena|lives in|malaga"),
        ("The car is in the garage.", "My brother has a new car, a Tesla.", "car|located in|garage"),
        ("I live in Dresden.", "We moved to Zulip.", "i|lives in|dresden"),
        ("I live in Dresden.", "Moved to Leipzig in my dream last night.", "i|lives in|dresden"),
        ("Camille habite à Dijon.", "La sœur de Camille habite maintenant à Besançon.", "camille|lives in|dijon"),
        (
            "Farah leads Project Beacon.",
            "Colin leads Project Beacon while Farah is on leave.",
            "project beacon|led by|farah",
        ),
        ("Kestrel is led by Marta.", "While Marta is on holiday Dev leads Kestrel this week.", "kestrel|led by|marta"),
        ("Kestrel is led by Marta.", "While Marta is away, Dev leads Kestrel.", "kestrel|led by|marta"),
        ("Kestrel is led by Marta.", "This week Dev leads Kestrel.", "kestrel|led by|marta"),
        ("Kestrel is led by Marta.", "For now, Dev leads Kestrel.", "kestrel|led by|marta"),
        ("Gitea runs on birch.", "Gitea runs on alder this week.", "gitea|runs on|birch"),
        ("Gitea runs on birch.", "Until Friday Gitea runs on alder.", "gitea|runs on|birch"),
        ("Our dentist is Dr Lindgren.", "Our dentist is Dr Popov for now.", "i|has dentist|dr lindgren"),
        (
            "My dentist is Dr. Novak.",
            "Dr. Novak is out this week, Dr. Reyes covers for her.",
            "i|has dentist|dr. novak",
        ),
        ("My gym is FitX.", "Left FitX at nine and went to Aldi.", "i|has gym|fitx"),
        ("The rent is 780 EUR.", "Paid the rent, 5 EUR bank fee now.", "rent|costs|780 eur"),
        (
            "The report is due on 3 May 2024.",
            "The presentation of the report was moved to 17 May 2024.",
            "report|due|2024-05-03",
        ),
        (
            "The weekly sync is at 14:00.",
            "The weekly sync ended at 15:30, new agenda attached.",
            "weekly sync|takes place|14:00",
        ),
        ("vault runs on titan-1.", "vault is still on titan-1, change freeze until January.", "vault|runs on|titan-1"),
    ],
)
def test_what_only_seems_to_be_a_change_ends_nothing(before: str, after: str, told: str) -> None:
    subject, relation, old = told.split("|")
    assert held((before, after), subject, relation) == [{old}, {old}]


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("Mira Sand works at Korvex and lives in Linz. Aron Pohl is a friend of Mira Sand.", False),
        ("Mira Sand wohnt in Linz.", False),
        ("Mira Sand lives in Linz now, Graz was dull.", True),
        ("Leila has swapped Tabriz for Izmir.", True),
    ],
)
def test_a_state_that_is_read_tells_of_no_change(text: str, beside: bool) -> None:
    [found] = Phrases().extract(with_context([Memory("m1", text, created_at=WRITTEN[0])]))
    assert bool(found.tentative) is beside


@pytest.mark.parametrize("told", ["While we were out, Rosa moved to Braga.", "Rosa moved to Braga this week."])
def test_what_happened_meanwhile_has_happened(told: str) -> None:
    assert held(("Rosa lives in Porto.", told), "rosa", "lives in") == [{"porto"}, {"braga"}]
