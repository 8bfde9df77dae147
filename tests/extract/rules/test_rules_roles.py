"""What somebody or something has one of, when something takes place, and what only looks like a change of either."""

from __future__ import annotations

from datetime import datetime

import pytest

from hopgate.extract.context import with_context
from hopgate.extract.rules.phrases import Phrases
from hopgate.graph.names import normalise
from hopgate.graph.temporal.precedence import EdgeVersion, Tentative, current_edges
from hopgate.memory import Memory
from hopgate.times import moment

Edge = tuple[str, str, str]


def facts(text: str) -> set[Edge]:
    """What a note states to hold."""
    [found] = Phrases().extract(with_context([Memory("m1", text, created_at=datetime(2024, 8, 10, 9))]))
    return {(fact.subject, fact.relation, fact.object) for fact in found.facts if not fact.valid_to}


def held(*notes: str) -> set[Edge]:
    """What holds after some notes, three months apart, without a store."""
    memories = [Memory(str(at), text, created_at=datetime(2024, 1 + 3 * at, 5)) for at, text in enumerate(notes)]
    told = []
    for memory, found in zip(memories, Phrases().extract(with_context(memories)), strict=True):
        for fact in (*found.facts, *found.tentative):
            begin, end = moment(fact.valid_from), moment(fact.valid_to)
            how = Tentative.NO if fact.confidence > 0 else Tentative(1 - round(fact.confidence))
            src, dst = normalise(fact.subject), normalise(fact.object)
            assert memory.created_at
            told.append(
                EdgeVersion(src, fact.relation, dst, begin, end, memory.created_at, None, (memory.external_id,), how)
            )
    return {
        (str(edge.src), edge.relation, str(edge.dst))
        for edge in current_edges(told, Phrases().single_valued)
        if edge.valid_to is None
    }


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("My dentist is Dr. Kaya.", "I|has dentist|Dr. Kaya"),
        ("Our GP is Dr. Holm.", "I|has doctor|Dr. Holm"),
        ("Goran is our dog walker now.", "I|has pet sitter|Goran"),
        ("Emma's new boyfriend is Luis.", "Emma|has partner|Luis"),
        ("Unsere Krankenkasse ist die AOK.", "I|has health insurance|AOK"),
        ("Mi nuevo banco es Bankinter.", "I|has bank|Bankinter"),
        ("We changed our internet provider from Telia to Fiberix.", "I|has internet|Fiberix"),
        ("I bank with Monzo.", "I|has bank|Monzo"),
        ("We drive a Skoda Fabia.", "I|has car|Skoda Fabia"),
        ("Mia goes to Oakfield Primary.", "Mia|has school|Oakfield Primary"),
        ("My desk is 4.12, next to the plants.", "I|has desk|4.12"),
        ("traefik listens on port 8443", "traefik|has port|8443"),
        ("traefik's IP changed, it's 10.0.0.7 now", "traefik|has ip|10.0.0.7"),
        ("Upgraded traefik from 2.11 to 3.1", "traefik|has version|3.1"),
        ("The weekly sync is on Tuesdays at 10:00.", "weekly sync|takes place|tuesday 10:00"),
        ("Choir practice moved to Fridays.", "choir practice|takes place|friday"),
        ("Die Chorprobe ist jetzt am Freitag um 19 Uhr.", "chorprobe|takes place|freitag 19 uhr"),
        ("The quarterly review is on 12 April 2025.", "quarterly review|takes place|2025-04-12"),
    ],
)
def test_a_role_or_a_time_is_told(text: str, fact: str) -> None:
    assert tuple(fact.split("|")) in facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "My therapist is German.",
        "My phone is at Tom's.",
        "my sister's dentist is Dr. Holm",
        "My dentist is not Dr. Holm.",
        "I also bank with Monzo.",
        "We might switch our bank to Monzo.",
        "Choir practice moved to Friday this week.",
        "Choir practice is on Fridays too.",
        "Changed the battery of my phone to a Samsung.",
        "Dr. Lee is our doctor while Dr. Shah is away.",
        "traefik v3.1 is out",
    ],
)
def test_other_peoples_plans_and_more_of_a_kind_are_no_roles(text: str) -> None:
    assert not {fact for fact in facts(text) if fact[1].startswith("has ") or fact[1] == "takes place"}


@pytest.mark.parametrize(
    ("first", "second", "after"),
    [
        ("My dentist is Dr. Kaya.", "Changed dentists, I go to Dr. Holm now.", "i|has dentist|dr holm"),
        ("My phone contract is with Telia.", "Moved my phone from Telia to Fiberix.", "i|has phone contract|fiberix"),
        (
            "Our internet is Telia.",
            "We are with Fiberix now, the Telia contract is cancelled.",
            "i|has internet|fiberix",
        ),
        (
            "The review is on 12 April 2024.",
            "Dana rescheduled the review to 19 April 2024.",
            "review|takes place|2024 04 19",
        ),
        ("Release 4.2 is due on 1 June 2024.", "Release 4.2 slips to 15 June 2024.", "release 4.2|due|2024 06 15"),
        ("CI runs on Jenkins.", "We switched CI from Jenkins to GitLab.", "ci|runs on|gitlab"),
        (
            "Gabriel reports to Wanjiru.",
            "Gabriel moved under Ludmila, he was under Wanjiru.",
            "gabriel|reports to|ludmila",
        ),
        ("I live in Turin.", "Greetings from my new flat in Genoa.", "i|lives in|genoa"),
    ],
)
def test_a_later_note_supersedes(first: str, second: str, after: str) -> None:
    subject, relation, target = after.split("|")
    assert {edge for edge in held(first, second) if edge[:2] == (subject, relation)} == {(subject, relation, target)}


@pytest.mark.parametrize(
    ("first", "second", "holds"),
    [
        (
            "Julia lives in Turin.",
            "Dad says Julia moved to Genoa, but she laughed and said no.",
            "julia|lives in|turin",
        ),
        ("Julia lives in Turin.", "Julia now prefers Genoa over Turin.", "julia|lives in|turin"),
        ("Julia works at Fiat.", "Julia started a course at Ferrari.", "julia|works at|fiat"),
        ("Julia works at Fiat.", "Thea moved the offsite from Fiat to Villa Rosa.", "julia|works at|fiat"),
        ("gitea runs on cedar", "someone on reddit moved gitea from cedar-like boxes to a nuc", "gitea|runs on|cedar"),
        ("gitea runs on cedar", "Spun up gitea on larch just to test the upgrade.", "gitea|runs on|cedar"),
        ("gitea runs on cedar", "moved gitea to larch and back to cedar again", "gitea|runs on|cedar"),
        ("gitea runs on cedar", "moved gitea to larch for a test", "gitea|runs on|cedar"),
        ("Julia leads Orion.", "Paolo joined Orion as a developer, Julia is happy.", "orion|led by|julia"),
        ("Julia leads Orion.", "Paolo now works on Orion with Julia.", "orion|led by|julia"),
        ("My dentist is Dr. Kaya.", "New dentist in town: Dr. Holm, met her at the fair.", "i|has dentist|dr kaya"),
        (
            "Our car is insured with Allianz.",
            "My brother's car insurance is with HUK now.",
            "i|has car insurance|allianz",
        ),
        ("We drive a Skoda Fabia.", "We drive a Fiat Panda.", "i|has car|skoda fabia"),
        ("Yoga is on Mondays.", "Yoga is on Fridays.", "yoga|takes place|monday"),
    ],
)
def test_what_only_looks_like_a_change_ends_nothing(first: str, second: str, holds: str) -> None:
    assert tuple(holds.split("|")) in held(first, second)


@pytest.mark.parametrize(
    "told",
    [
        "Since 2024-04-09 the Metabase snapshots land on bramble.",
        "The Metabase logs end up on bramble.",
        "Metabase alerts fire on bramble.",
        "The Metabase dumps now sit on bramble.",
    ],
)
def test_what_a_service_leaves_on_a_machine_does_not_say_where_it_runs(told: str) -> None:
    notes = [told, "Loki runs on bramble.", "Moved Miniflux to bramble in May 2024."]
    found = Phrases().extract(with_context([Memory(str(at), text) for at, text in enumerate(notes)]))
    assert ("Metabase", "runs on") not in {(fact.subject, fact.relation) for fact in found[0].facts}
    assert ("Loki", "runs on") in {(fact.subject, fact.relation) for fact in found[1].facts}


def test_a_reference_of_the_encoding_is_no_name_and_a_version_no_host() -> None:
    assert not {fact for fact in facts("pihole has 192.168.1.5, set as DNS on the router") if "⟨" in fact[0]}
    assert "runs on" not in {fact[1] for fact in facts("traefik v2.11 => v3.1, labels rewritten")}


def test_je_ends_in_no_and() -> None:
    assert ("Lille", "lives in", "Bordeaux") not in facts("Hugo: je n'habite plus à Lille, j'habite à Bordeaux")


@pytest.mark.parametrize(
    ("mine", "theirs", "holds"),
    [
        ("Our dentist is Dr. Aebi.", "My sister has a new dentist, Dr. Lind.", "i|has dentist|dr aebi"),
        ("Our dentist is Dr. Aebi.", "Mum has a new dentist, Dr. Lind.", "i|has dentist|dr aebi"),
        ("Our dentist is Dr. Aebi.", "Dr. Lind is the new dentist of my sister.", "i|has dentist|dr aebi"),
        ("Our car is a Skoda.", "My brother has a new car, a Tesla.", "i|has car|skoda"),
        ("Our car is a Skoda.", "My sister bought a new car, a Tesla.", "i|has car|skoda"),
        ("Our bank is Revolut.", "My sister has a new bank, Triodos.", "i|has bank|revolut"),
        ("Our bank is Revolut.", "My sister switched banks, she's with Triodos now.", "i|has bank|revolut"),
        ("Unser Hausarzt ist Dr. Aebi.", "Papa hat einen neuen Hausarzt, Dr. Lind.", "i|has doctor|dr aebi"),
        (
            "Unser Stromanbieter ist EWZ.",
            "Meine Eltern haben einen neuen Stromanbieter, EKZ.",
            "i|has electricity|ewz",
        ),
    ],
)
def test_what_others_have_is_not_mine(mine: str, theirs: str, holds: str) -> None:
    wanted = tuple(holds.split("|"))
    assert {edge for edge in held(mine, theirs) if edge[:2] == wanted[:2]} == {wanted}


def test_what_others_and_i_have_is_mine() -> None:
    told = held("Our dentist is Dr. Aebi.", "My wife and I have a new dentist, Dr. Lind.")
    assert ("i", "has dentist", "dr lind") in told
    assert ("i", "has dentist", "dr aebi") not in told
