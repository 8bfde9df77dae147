"""The no-model extractor: forms, facts, determinism."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.extract.extraction import Extraction, Fact, Source, State, sources
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.rules.tokenise import letter, tokenise
from hopgate.memory import Cleared, Memory


def extract(text: str, title: str = "", tags: tuple[str, ...] = (), keywords: tuple[str, ...] = ()) -> Extraction:
    memory = Memory("m1", text, title=title, tags=tags, expanded_keywords=keywords)
    return Phrases().extract(list(sources([memory])))[0]


def names(text: str, **given: str) -> dict[str, str]:
    return {mention.name: mention.kind for mention in extract(text, **given).mentions}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("We met Dr. Grace Hopper there.", "Dr. Grace Hopper", "person"),
        ("It was George T. Solomon who called.", "George T. Solomon", "person"),
        ("Vasco da Gama sailed.", "Vasco da Gama", ""),
        ("The Bank of England raised rates.", "Bank of England", ""),
        ("It is the Rock & Roll museum.", "Rock & Roll", ""),
        ("We saw Apollo 11 land.", "Apollo 11", ""),
        ("See the CPUs of the rack.", "CPU", "acronym"),
        ("The NASA report is out.", "NASA", "acronym"),
        ("Call parse_date before that.", "parse_date", "identifier"),
        ("Use the HttpClient there.", "HttpClient", "identifier"),
        ("The box is nas-2.local now.", "nas-2.local", "host"),
        ("Open https://example.org/a?b=1.", "example.org", "host"),
        ("Write to ada@example.org today.", "ada@example.org", "host"),
        ("See /etc/nginx/nginx.conf for that.", "/etc/nginx/nginx.conf", "identifier"),
        ("We run v1.25.3 there.", "v1.25.3", "version"),
        ('He read "The Left Hand of Darkness" twice.', "The Left Hand of Darkness", "title"),
        ("Ada's server is down.", "Ada", ""),
        ("Cortina d'Ampezzo is in Italy.", "Cortina d'Ampezzo", ""),
        ("Jack O'Neill came.", "Jack O'Neill", ""),
        ("He spoke of Émile Zola often.", "Émile Zola", ""),
        ("We ship with C++ only.", "C++", "identifier"),
    ],
)
def test_a_form_is_recognised(text: str, name: str, kind: str) -> None:
    found = names(text)
    assert name in found
    if kind:
        assert found[name] == kind


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("However, it rained.", "However"),
        ("Running late again. I keep running.", "Running"),
        ("Disks fail. The disks were old.", "Disks"),
        ("e.g. this one, i.e. that one.", "i.e."),
        ("The value is 100 kW in May.", "kW"),
        ("Plan B. C.", "C"),
        ("Since 2024-03-01 it works.", "2024-03-01"),
        ("It was on 8 March 1874 in fact.", "8 March 1874"),
        ("Loud fan again. Lent Bea the stick.", "Loud"),
        ("Loud fan again. Lent Bea the stick.", "Lent Bea"),
        ("The cert expire date is near.", "cert expire"),
        ("Bea wohnt im zweiten Stock.", "wohnt im zweiten"),
    ],
)
def test_a_capital_that_is_only_grammar_is_no_name(text: str, name: str) -> None:
    assert name not in names(text)


def test_title_tags_and_keywords_are_mentions() -> None:
    found = extract("It hums.", title="Mercury (planet)", tags=("home lab",), keywords=("noise",)).mentions
    assert [(mention.name, mention.kind) for mention in found][:3] == [
        ("home lab", "tag"),
        ("noise", "keyword"),
        ("Mercury", ""),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Immich runs on nas-2.", [("Immich", "runs on", "nas-2")]),
        ("Immich is now running on nas-2.", [("Immich", "runs on", "nas-2")]),
        ("Nagios was replaced by Grafana.", [("Nagios", "replaced by", "Grafana")]),
        ("Grafana replaced Nagios.", [("Nagios", "replaced by", "Grafana")]),
        ("Ada works for Acme.", [("Ada", "works at", "Acme")]),
        ("Acme is owned by Globex.", [("Acme", "owned by", "Globex")]),
        ("Ada lives in Turin.", [("Ada", "lives in", "Turin")]),
        ("Ada manages Bob.", [("Bob", "reports to", "Ada")]),
        ("Ada's sister is Grace.", [("Ada", "sibling of", "Grace")]),
        ("Ada used to work for Acme.", []),  # over, and nothing says since when
        ("The backup job runs on nas-2.", [("backup job", "runs on", "nas-2")]),
        ("Ada joined Acme and moved to Turin.", [("Ada", "works at", "Acme")]),
        ("Melanie: I moved to Turin.", [("Melanie", "lives in", "Turin")]),
    ],
)
def test_a_pattern_gives_a_typed_fact(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(fact.subject, fact.relation, fact.object) for fact in extract(text).facts] == expected


@pytest.mark.parametrize(
    "text",
    [
        "Immich does not run on nas-2.",
        "Immich never ran on nas-2.",
        "If Immich runs. On nas-2 it would.",
        "Immich might run on nas-2.",
    ],
)
def test_what_is_denied_or_only_possible_is_no_fact(text: str) -> None:
    assert extract(text).facts == ()


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("Immich runs on nas-2 since March 2024.", ("2024-03", None)),
        ("Ada worked for Acme until 2019.", (None, "2019")),
        ("Ada worked for Acme from 2012 to 2014.", ("2012", "2014")),
        ("Ada worked for Acme between 2012 and 2014.", ("2012", "2014")),
        ("In 2020, Ada joined Acme.", ("2020", None)),
        ("Ada moved to Turin on 3 May 2021.", ("2021-05-03", None)),
        ("Immich no longer runs on nas-2 since 2024-02-01.", (None, "2024-02-01")),
    ],
)
def test_dates_become_validity(text: str, interval: tuple[str | None, str | None]) -> None:
    fact = extract(text).facts[0]
    assert (fact.valid_from, fact.valid_to) == interval


def test_moving_from_one_place_to_another_gives_both_with_the_date() -> None:
    assert extract("Immich moved from nas-1 to nas-2 in March 2024.").facts == (
        Fact("Immich", "runs on", "nas-2", "2024-03", None, 0.9),
        Fact("Immich", "runs on", "nas-1", None, "2024-03", 0.9),
    )


def test_a_text_that_says_nothing_is_empty_and_says_why() -> None:
    extraction = extract("ok!")
    assert extraction.state is State.EMPTY and extraction.reason


@pytest.mark.parametrize(
    ("text", "known", "name"),
    [
        # A title, "of" and a given name are one name; "of" is no surname.
        ("The Sister of Anna and Bob came.", (), "Sister of Anna"),
        ("Frau Dr. Mila kommt heute.", (), "Frau Dr. Mila"),
        ("Herr Jablonski Mila", (), "Mila"),
        # A pronoun that is a name's last word stands for nobody.
        ("Requester jetzt Lead Mantel\nMeneer It", (), "Meneer It"),
        # A role, and a name that may be no person's.
        ("doctor Soul", (("soul", ""),), "Soul"),
    ],
)
def test_names_that_had_no_last_word_are_read(text: str, known: tuple[tuple[str, str], ...], name: str) -> None:
    (found,) = Phrases().extract([replace(one, known=known) for one in sources([Memory("m1", text)])])
    assert name in {mention.name for mention in found.mentions}


WORDS = tokenise("Ada of the NAS 2019 in March, . \" ( ) 's & is a runs on I May it 12 kW The \n X's J. and")
# Words that rules ask about: titles, roles, given names, days, amounts, and German beside English.
RULED = tokenise(
    "Sister Herr Frau Dr. President Coach Anna Mila Jonas Soul doctor dentist landlord our my her unser Zahnarzt Chor "
    "choir moved from to on in since last until by now Monday Montag seit jetzt zieht nach läuft auf hat ist wohnt "
    "lives works at with for new neue € 40 April 9:30 - -> : ; & / ? ... ' the The Of of It He they not instead"
)
# So few that any three of them soon stand side by side.
OF_NAMES = tokenise("Sister Herr Frau Dr. of the Anna Mila Soul It doctor and 14 .\n")


@settings(max_examples=300, deadline=None)
@given(
    st.text(max_size=120)
    | st.lists(st.sampled_from(WORDS)).map(" ".join)
    | st.lists(st.sampled_from(RULED + WORDS), max_size=12).map(" ".join)
)
def test_any_text_is_extracted_twice_alike_and_without_an_error(text: str) -> None:
    if "\0" in text or not text.isprintable():
        text = "".join(mark for mark in text if mark.isprintable())
    once, again = extract(text), extract(text)
    assert once == again
    assert all(mention.name.strip() for mention in once.mentions)
    assert len({mention.name for mention in once.mentions}) == len(once.mentions)
    assert "".join(tokenise(text)).replace(" ", "") == "".join(text.split())


@settings(max_examples=1000, deadline=None)
@given(
    st.lists(st.sampled_from(OF_NAMES), min_size=1, max_size=5),
    st.sampled_from([None, datetime(2024, 2, 29, tzinfo=UTC)]),
)
def test_any_names_side_by_side_are_read_whatever_is_known_of_them(said: list[str], day: datetime | None) -> None:
    known = tuple((word.lower(), "") for word in sorted(set(OF_NAMES)) if word.istitle())
    for some in ((), known):
        (found,) = Phrases().extract([Source("m1", Cleared(" ".join(said)), created_at=day, known=some)])
        assert all(mention.name.strip() for mention in found.mentions)


@pytest.mark.timeout(90)  # quadratic scanning took 100 s where this takes one
@pytest.mark.parametrize("unit", ["...x", "-", "/a.", "a.", "A of ", "a@", "(", "the A's ", "A and runs on B, "])
def test_a_long_text_of_one_thing_is_read_in_linear_time(unit: str) -> None:
    assert extract(unit * (100_000 // len(unit))).state in (State.COMPLETE, State.EMPTY)


def test_every_token_has_one_letter() -> None:
    for token in tokenise("A NAS (v2.1), isn't on nas-2.local/x since 2019-01-01! «é» J. R. R. 3rd 1,000 $5 a@b.c"):
        assert len(letter(token)) == 1


def test_settings_are_the_identity() -> None:
    assert Phrases().identity.hash == Phrases().identity.hash
    assert Phrases().identity.hash != Phrases(facts=False).identity.hash
