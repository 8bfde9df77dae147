"""Facts as people note them: one sentence each, with names that no tuning note has."""

from __future__ import annotations

from datetime import datetime

import pytest

from hopgate.extract.context import with_context
from hopgate.extract.extraction import Extraction
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Memory

Row = tuple[str, str, str, str | None, str | None]


def extract(*texts: str, thread: str = "") -> list[Extraction]:
    notes = [
        Memory(f"m{number}", text, created_at=datetime(2024, 8, 10, number), thread=thread)
        for number, text in enumerate(texts)
    ]
    return Phrases().extract(with_context(notes))


def rows(extraction: Extraction) -> list[Row]:
    return [(fact.subject, fact.relation, fact.object, fact.valid_from, fact.valid_to) for fact in extraction.facts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # "husb-and works" is no "and works", and Ms is no millisecond.
        ("Ines's husband works for Brandt Optics.", []),
        ("Ms Adeyemi lives in Trier.", [("Ms Adeyemi", "lives in", "Trier", None, None)]),
        ("plex runs on quartz, port 32400.", [("plex", "runs on", "quartz", None, None)]),
        ("Set up jellyfin tonight. jellyfin runs on quartz.", [("jellyfin", "runs on", "quartz", None, None)]),
        (
            "Moved jellyfin from quartz to onyx on 4 June 2024. Took an hour.",
            [
                ("jellyfin", "runs on", "onyx", "2024-06-04", None),
                ("jellyfin", "runs on", "quartz", None, "2024-06-04"),
            ],
        ),
        ("radarr now lives on onyx", [("radarr", "runs on", "onyx", "2024-08-10", None)]),
        ("Since March 2024 Gitea runs on birch.", [("Gitea", "runs on", "birch", "2024-03", None)]),
        ("Migrated prowlarr to onyx last night.", [("prowlarr", "runs on", "onyx", "2024-08-10", None)]),
        (
            "prowlarr: quartz -> onyx",
            [
                ("prowlarr", "runs on", "onyx", "2024-08-10", None),
                ("prowlarr", "runs on", "quartz", None, "2024-08-10"),
            ],
        ),
        ("grafana is on topaz now, no longer on quartz.", [("grafana", "runs on", "topaz", "2024-08-10", None)]),
        (
            "topaz hosts grafana and loki.",
            [("grafana", "runs on", "topaz", None, None), ("loki", "runs on", "topaz", None, None)],
        ),
        ("grafana moved to topaz on 2 July.", [("grafana", "runs on", "topaz", "2024-07-02", None)]),
        (
            "jenkins ist von quartz auf topaz umgezogen.",
            [("jenkins", "runs on", "topaz", "2024-08-10", None), ("jenkins", "runs on", "quartz", None, "2024-08-10")],
        ),
        (
            "loki is now running on topaz instead of quartz.",
            [("loki", "runs on", "topaz", "2024-08-10", None), ("loki", "runs on", "quartz", None, "2024-08-10")],
        ),
        ("The web server runs on onyx.", [("web server", "runs on", "onyx", None, None)]),
        (
            "kafka was migrated from quartz to topaz yesterday.",
            [("kafka", "runs on", "topaz", "2024-08-09", None), ("kafka", "runs on", "quartz", None, "2024-08-09")],
        ),
        ("On topaz: kafka, zookeeper.", []),
        ("Does kafka run on topaz?", []),
        ("kafka might run on topaz next year.", []),
        ("kafka does not run on topaz.", []),
        ("Netflix costs 12.99 € a month.", [("netflix", "costs", "12.99 €", None, None)]),
        (
            "Netflix now costs 15,99 € instead of 12,99 €.",
            [("netflix", "costs", "15,99 €", "2024-08-10", None), ("netflix", "costs", "12,99 €", None, "2024-08-10")],
        ),
        ("The gym is £35 a month.", [("gym", "costs", "£35", None, None)]),
        ("Miete kostet jetzt 980 €.", [("miete", "costs", "980 €", "2024-08-10", None)]),
        (
            "Rent went up from £900 to £950 on 1 May 2024.",
            [("rent", "costs", "£950", "2024-05-01", None), ("rent", "costs", "£900", None, "2024-05-01")],
        ),
        ("Paid 45 € for the haircut.", [("haircut", "costs", "45 €", None, None)]),
        ("Das Fahrrad hat 650 € gekostet.", [("fahrrad", "costs", "650 €", None, None)]),
        ("Maja works at Fjordtech since April 2022.", [("Maja", "works at", "Fjordtech", "2022-04", None)]),
        ("Maja started at Fjordtech in April 2022.", [("Maja", "works at", "Fjordtech", "2022-04", None)]),
        ("Henrik, who works for Nordlys, called.", [("Henrik", "works at", "Nordlys", None, None)]),
        ("My brother Henrik has a new job at Nordlys.", [("Henrik", "works at", "Nordlys", None, None)]),
        ("Sofie arbeitet jetzt bei Nordlys.", [("Sofie", "works at", "Nordlys", "2024-08-10", None)]),
        ("Elodie travaille chez Nordlys depuis 2021.", [("Elodie", "works at", "Nordlys", "2021", None)]),
        ("Henrik joined Nordlys on 1 March 2023.", [("Henrik", "works at", "Nordlys", "2023-03-01", None)]),
        ("I work at Nordlys.", [("I", "works at", "Nordlys", None, None)]),
        ("Rosa lives in Porto.", [("Rosa", "lives in", "Porto", None, None)]),
        (
            "Rosa moved from Porto to Braga in May 2024.",
            [("Rosa", "lives in", "Braga", "2024-05", None), ("Rosa", "lives in", "Porto", None, "2024-05")],
        ),
        ("Rosa wohnt jetzt in Kassel.", [("Rosa", "lives in", "Kassel", "2024-08-10", None)]),
        ("Rosa ist im Mai nach Kassel gezogen.", [("Rosa", "lives in", "Kassel", "2024-05", None)]),
        (
            "Rosa et Pierre habitent à Nantes.",
            [("Rosa", "lives in", "Nantes", None, None), ("Pierre", "lives in", "Nantes", None, None)],
        ),
        ("Anouk woont sinds 2020 in Utrecht.", [("Anouk", "lives in", "Utrecht", "2020", None)]),
        (
            "The router sits on the shelf in the hall. topaz stands in the garage.",
            [
                ("router", "located in", "shelf", "2024-08-10", None),
                ("topaz", "located in", "garage", "2024-08-10", None),
            ],
        ),
        ("Fjordtech is based in Bergen.", [("Fjordtech", "located in", "Bergen", None, None)]),
        (
            "Fjordtech moved its office from Bergen to Oslo in June 2024.",
            [
                ("Fjordtech", "located in", "Oslo", "2024-06", None),
                ("Fjordtech", "located in", "Bergen", None, "2024-06"),
            ],
        ),
        ("The camera is in the drawer.", [("camera", "located in", "drawer", "2024-08-10", None)]),
        ("The problem is in the details.", []),
        ("Project Otter is led by Ingrid Moe.", [("Project Otter", "led by", "Ingrid Moe", None, None)]),
        (
            "Ingrid took over Project Otter from Henrik in June 2024.",
            [
                ("Project Otter", "led by", "Ingrid", "2024-06", None),
                ("Project Otter", "led by", "Henrik", None, "2024-06"),
            ],
        ),
        ("Ingrid is the new head of Otter.", [("Otter", "led by", "Ingrid", None, None)]),
        ("Otter is now led by Henrik.", [("Otter", "led by", "Henrik", "2024-08-10", None)]),
        ("Henrik reports to Ingrid.", [("Henrik", "reports to", "Ingrid", None, None)]),
        ("My new manager is Ingrid.", [("I", "reports to", "Ingrid", "2024-08-10", None)]),
        ("Henrik's boss is Ingrid Moe.", [("Henrik", "reports to", "Ingrid Moe", None, None)]),
        ("The canoe belongs to Henrik.", [("canoe", "owned by", "Henrik", None, None)]),
        ("Henrik owns the canoe.", [("canoe", "owned by", "Henrik", None, None)]),
        ("OPS-42 is assigned to Henrik.", [("OPS-42", "owned by", "Henrik", None, None)]),
        ("OPS-42: owner Henrik", [("OPS-42", "owned by", "Henrik", None, None)]),
        ("Sold the canoe to Rosa on 3 July 2024.", [("canoe", "sold to", "Rosa", "2024-07-03", None)]),
        ("Loki replaces Splunk.", [("Splunk", "replaced by", "Loki", "2024-08-10", None)]),
        ("Splunk was replaced by Loki in March 2024.", [("Splunk", "replaced by", "Loki", "2024-03", None)]),
        ("Tax return due 31 July 2024.", [("tax return", "due", "2024-07-31", None, None)]),
        ("The report is due on 5 September.", [("report", "due", "2024-09-05", None, None)]),
        ("Deadline for the grant: 12 October 2024", [("grant", "due", "2024-10-12", None, None)]),
        ("Rosa is allergic to peanuts.", [("Rosa", "allergic to", "peanuts", None, None)]),
        ("Rosa ist allergisch gegen Nüsse.", [("Rosa", "allergic to", "nüsse", None, None)]),
        ("Henrik and Rosa are married.", [("Henrik", "married to", "Rosa", None, None)]),
        ("Henrik married Rosa in 2015.", [("Henrik", "married to", "Rosa", "2015", None)]),
        ("Milla is Henrik's daughter.", [("Henrik", "parent of", "Milla", None, None)]),
        ("Otter is part of the Nordic programme.", [("Otter", "part of", "Nordic", None, None)]),
        ("dusk = Raspberry Pi 5", [("dusk", "alias of", "Raspberry Pi 5", None, None)]),
        ("Henrik might move to Oslo.", []),
        ("Rosa lived in Porto until May 2024.", [("Rosa", "lives in", "Porto", None, "2024-05")]),
        ("Rosa no longer works at Nordlys.", [("Rosa", "works at", "Nordlys", None, "2024-08-10")]),
        ("Rosa used to live in Porto.", [("Rosa", "lives in", "Porto", None, "2024-08-10")]),
    ],
)
def test_a_note_gives_its_facts_with_their_dates(text: str, expected: list[Row]) -> None:
    [extraction] = extract(text)
    assert rows(extraction) == expected


def test_a_name_that_one_note_introduces_is_found_in_another() -> None:
    _, other = extract("mealie runs on onyx.", "Rebooted onyx, twice.")
    assert "onyx" in {mention.name for mention in other.mentions}


def test_marked_names_are_found() -> None:
    [found] = extract(
        "See [[Rack plan]] and `deploy-all`, #garden, ask @rosa, INC-238, v2.4.1, ~/etc/dusk.conf, a@b.example"
    )
    names = {mention.name for mention in found.mentions}
    assert {"Rack plan", "deploy-all", "garden", "rosa", "INC-238", "v2.4.1", "~/etc/dusk.conf", "a@b.example"} <= names


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        (
            "Tired. Swapped two cables on Monday, one left. Cert expires in March.",
            {"Tired", "Swapped", "Monday", "March", "Cert"},
        ),
        ("Endlich Regen. Der Keller ist trocken, die Kinder sind laut.", {"Regen", "Keller", "Kinder", "Endlich"}),
        ("Hier il a plu. Le chat dort.", {"Hier", "Le"}),
    ],
)
def test_openers_nouns_and_days_are_no_names(text: str, absent: set[str]) -> None:
    [found] = extract(text)
    assert absent.isdisjoint(mention.name for mention in found.mentions)


def test_chinese_names_are_found_by_their_characters() -> None:
    [found] = extract("和王芳开会，她在上海工作。")
    assert {"王芳", "上海"} <= {mention.name for mention in found.mentions}


def test_a_speaker_is_i_and_a_pronoun_is_somebody_of_the_thread() -> None:
    first, second, third = extract(
        "Kit: I live in Leeds", "Rosa: Henrik called", "Kit: he works at Nordlys", thread="t"
    )
    assert rows(first) == [("Kit", "lives in", "Leeds", None, None)]
    assert rows(third) == [("Henrik", "works at", "Nordlys", None, None)]
    assert rows(second) == []


def test_a_pronoun_without_anybody_to_mean_gives_nothing() -> None:
    [found] = extract("She works at Nordlys.")
    assert rows(found) == []
