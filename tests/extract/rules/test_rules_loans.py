"""What is lent is where the one is who has it, until it is back; for a weekend it is not."""

from __future__ import annotations

import pytest

from hopgate.extract.extraction import Source, Stated
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Cleared


def stated(text: str) -> list[Stated]:
    (found,) = Phrases().extract([Source("m", Cleared(text))])
    return [one for one in found.stated if one.relation in ("lent to", "returned by")]


@pytest.mark.parametrize(
    ("text", "thing", "relation", "value", "former"),
    [
        ("Lent the torque wrench to Yusuf, he is rebuilding his Vespa.", "torque wrench", "lent to", "Yusuf", ""),
        ("I've lent Ben the big tent.", "big tent", "lent to", "Ben", ""),
        ("Ben has borrowed our drill.", "drill", "lent to", "Ben", ""),
        ("The drill is on loan to Ben.", "drill", "lent to", "Ben", ""),
        ("Habe den Akkuschrauber an Stefan verliehen.", "Akkuschrauber", "lent to", "Stefan", ""),
        ("Ich habe Stefan den Akkuschrauber geliehen.", "Akkuschrauber", "lent to", "Stefan", ""),
        ("Den Akkuschrauber hab ich Stefan geliehen.", "Akkuschrauber", "lent to", "Stefan", ""),
        ("Stefan hat sich unseren Rasenmäher ausgeliehen.", "Rasenmäher", "lent to", "Stefan", ""),
        ("Ben brought the drill back.", "drill", "returned by", "Ben", ""),
        ("Got the drill back from Ben.", "drill", "returned by", "Ben", ""),
        ("Stefan hat den Akkuschrauber zurückgebracht.", "Akkuschrauber", "returned by", "Stefan", ""),
        ("Took my spare key back from Doreen and gave it to Alan.", "spare key", "lent to", "Alan", "Doreen"),
        ("Gave Sinéad the spare key for the flat.", "spare key", "lent to", "Sinéad", ""),
        ("Got the spare key back from Sinéad, Eoin has it now.", "spare key", "lent to", "Eoin", "Sinéad"),
        (
            "Lent the total station to Hargreaves Civils for the pump station.",
            "total station",
            "lent to",
            "Hargreaves Civils",
            "",
        ),
        ("Daniel gave the tripod back and I lent it on to Rhona.", "tripod", "lent to", "Rhona", "Daniel"),
    ],
)
def test_a_loan_is_read(text: str, thing: str, relation: str, value: str, former: str) -> None:
    assert stated(text) == [Stated(thing, relation, value, former, is_change=True)]


@pytest.mark.parametrize(
    "text",
    [
        "Lent Ben the drill for the weekend.",
        "Lent the ladder to Uwe, he brings it back tomorrow.",
        "Ben wants to borrow our drill.",
        "Ben lent me his car.",
        "I lent Ben 20 euros.",
        "Stefan wollte sich unseren Rasenmäher ausleihen.",
        "Ben gave a talk and we got back late.",
    ],
)
def test_what_is_no_loan_of_ours_is_not(text: str) -> None:
    assert stated(text) == []
