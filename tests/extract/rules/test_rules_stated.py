"""Short sentences in any words: one thing and one value, and what is said to have changed."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from hopgate.extract.context import with_context
from hopgate.extract.extraction import Extraction, Stated
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Memory

DAY = datetime(2024, 6, 1, tzinfo=UTC)


def stated(text: str) -> list[Stated]:
    [source] = with_context([Memory("m", text, created_at=DAY)])
    [extraction] = Phrases().extract([source])
    return list(extraction.stated)


@pytest.mark.parametrize(
    ("text", "thing", "relation", "value"),
    [
        ("backups go to Backblaze every night", "backups", "kept at", "Backblaze"),
        ("The spare key is under the flowerpot.", "spare key", "kept at", "flowerpot"),
        ("Petrol is 870 a month, paid on the 3rd.", "petrol", "amounts to", "870"),
        ("The school bus leaves at 7:40.", "school bus", "scheduled for", "7:40"),
        ("The newsletter goes out through Mailchimp.", "newsletter", "currently", "Mailchimp"),
        ("Piet mows the lawn.", "lawn", "currently", "Piet"),
        ("We get our cartons from Dalby Packaging.", "cartons", "currently", "Dalby Packaging"),
        ("We use Solr for search.", "search", "currently", "Solr"),
        ("The router sits in the cupboard under the stairs.", "router", "kept at", "cupboard under the stairs"),
        ("Payroll is Dagny's job.", "Payroll", "currently", "Dagny"),
        ("The office opens at 8.", "office", "scheduled for", "8"),
        ("Book group meets at Farida's.", "book group", "kept at", "Farida's"),
        ("My locker at the gym is number 41.", "locker", "currently", "number 41"),
        ("Expense claims are signed off by Gareth.", "expense claims", "currently", "Gareth"),
        ("Bev Hiltz is our lab tech and she likes bees.", "lab tech", "currently", "Bev Hiltz"),
    ],
)
def test_a_state_is_read_in_any_words(text: str, thing: str, relation: str, value: str) -> None:
    assert stated(text) == [Stated(thing, relation, value)]


@pytest.mark.parametrize(
    ("text", "thing", "value", "former"),
    [
        ("backups go to Wasabi now", "backups", "Wasabi", ""),
        ("Backups now go to Wasabi instead of Backblaze.", "backups", "Wasabi", "Backblaze"),
        ("The rent went up to 925 in May.", "rent", "925", ""),
        ("We replaced Mailchimp with Buttondown for the newsletter.", "newsletter", "Buttondown", "Mailchimp"),
        ("bye Cellora, hello Mobiq", "", "Mobiq", "Cellora"),
        ("we've left Bitwarden, all logins are in 1Password now", "", "1Password", "Bitwarden"),
        ("Noor took over on-call from Farid.", "on-call", "Noor", "Farid"),
        ("Greta passed the on-call phone to Paulo", "on-call phone", "Paulo", "Greta"),
        ("Changed the wifi channel from 6 to 11.", "wifi channel", "11", "6"),
        ("Saffron dropped Tekton for Buildbot.", "saffron", "Buildbot", "Tekton"),
        ("Pi-hole has been replaced by Blocky for ad blocking.", "ad blocking", "Blocky", "Pi-hole"),
        ("Crash trolley out of the sluice and into the alcove.", "crash trolley", "alcove", "sluice"),
        ("I switched to Thomann for my guitar strings.", "guitar strings", "Thomann", ""),
        ("From this year on our laptops are bought from Lenovo.", "laptops", "Lenovo", ""),
        ("The pension doesn't go into Barclays now, it goes into Nationwide.", "pension", "Nationwide", "Barclays"),
        ("My bicycle is a Pashley now, far too elegant for me.", "bicycle", "Pashley", ""),
    ],
)
def test_a_change_is_read_with_what_it_ends(text: str, thing: str, value: str, former: str) -> None:
    assert [(one.thing, one.value, one.former, one.is_change) for one in stated(text)] == [(thing, value, former, True)]


@pytest.mark.parametrize(
    "text",
    [
        "we might switch backups from Backblaze to Wasabi some day",
        "Did you move the passports to the safe?",
        "Tried Buttondown for the newsletter, not convinced.",
        "Noor covers on-call for Farid while he is away.",
        "Gym membership will go up to 42 next year, they say.",
        "We do not use Meilisearch for search.",
        "The boat is for sale now.",
        "The printer is broken now.",
        "Sven was our goalkeeper on Sunday.",
        "My sister left Bitwarden, 1Password now",
        "Someone suggested replacing Jenkins with Woodpecker.",
    ],
)
def test_plans_trials_denials_and_others_state_nothing(text: str) -> None:
    assert not [one for one in stated(text) if one.is_change]


def test_what_a_pattern_read_is_stated_as_that_fact() -> None:
    [told] = stated("Our dentist is Dr Amari.")
    assert (told.thing, told.relation, told.value, told.about) == ("I", "has dentist", "Dr Amari", "dentist")


def test_a_speaker_owns_what_is_said() -> None:
    [shared] = stated("Caroline: The petrol is 870 a month.")
    assert (shared.thing, shared.about) == ("petrol", "Caroline's petrol")  # told apart from what others say of theirs
    assert [one.thing for one in stated("Caroline: My petrol is 870 a month.")] == ["Caroline's petrol"]


def test_a_change_has_the_date_it_is_told_with() -> None:
    [told] = stated("Hosting is now 15 a month since March 2024.")
    assert (told.value, told.valid_from) == ("15", "2024-03")


def test_statements_make_no_mention_and_pass_through_json() -> None:
    [extraction] = Phrases().extract(with_context([Memory("m", "the spare key is under the flowerpot")]))
    assert extraction.mentions == () and extraction.facts == () and extraction.stated
    assert Extraction.from_dict(json.loads(json.dumps(extraction.to_dict()))) == extraction
    old = {key: value for key, value in extraction.to_dict().items() if key != "stated"}
    assert Extraction.from_dict(old).stated == ()
