"""Later notes that name only what holds now ("Fatima takes over Hall 2"), as three notebooks told them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hopgate.extract.context import with_context
from hopgate.extract.extraction import Extraction, Source
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Cleared, Memory


def read(text: str) -> Extraction:
    """What the rules find in one note."""
    (found,) = Phrases().extract([Source("m", Cleared(text), created_at=datetime(2024, 5, 2, tzinfo=UTC))])
    return found


def told(text: str) -> set[str]:
    """The facts of one note, as lines."""
    return {f"{fact.subject} | {fact.relation} | {fact.object}" for fact in read(text).facts}


def stated(text: str) -> set[str]:
    """What one note states of a thing, as lines."""
    return {f"{one.thing} | {one.relation} | {one.value}" for one in read(text).stated}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Ines has bought a house in Tavira and moved in.", "Ines | lives in | Tavira"),
        ("Die Miete liegt jetzt bei 780 Euro.", "miete | costs | 780 Euro"),
        ("Choir switches to Thursdays from March.", "choir | takes place | thursday"),
        ("Mutters Hausarzt ist Dr. Brandt.", "Mutter | has doctor | Dr. Brandt"),
    ],
)
def test_a_fact_is_told_without_what_was(text: str, fact: str) -> None:
    assert told(text) == {fact}


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Jonas has the loan of the tile cutter.", "tile cutter | lent to | Jonas"),
        ("Jonas has the tile cutter on loan.", "tile cutter | lent to | Jonas"),
        ("I have a new bridge partner, Jim Coakley.", "bridge partner | currently | Jim Coakley"),
        ("Fatima takes over Hall 2 as of today.", "Hall 2 | currently | Fatima"),
        ("Der Trog gehört jetzt Murat.", "trog | owned by | Murat"),
        ("Graham does the books now.", "books | currently | Graham"),
        ("Joyce doesn't have my spare key any more, Bex has it.", "spare key | currently | Bex"),
        ("Mrs Keogh has Dad's spare key now.", "Dad's spare key | currently | Mrs Keogh"),
        ("Die Steuer macht jetzt Herr Hampe.", "I | has accountant | Herr Hampe"),
        ("USV: Wartung macht jetzt Elektro Behrens.", "wartung of USV | currently | Elektro Behrens"),
        ("Den Ersatzschlüssel vom Serverraum hat jetzt Meike.", "Ersatzschlüssel vom Serverraum | currently | Meike"),
        ("Umzug im Haus: ich sitze jetzt in Raum 308.", "büro | currently | Raum 308"),
        ("In der Praxis nutzen wir jetzt Theorg.", "Praxis | currently | Theorg"),
    ],
)
def test_a_change_is_stated_without_what_was(text: str, statement: str) -> None:
    assert stated(text) == {statement}
    assert all(one.is_change for one in read(text).stated)


@pytest.mark.parametrize(
    "text",
    [
        "Nadia's first day at school was awful.",
        "Ines has bought a house in Tavira as an investment.",
        "Die Wahrheit liegt irgendwo bei 50 Prozent.",
        "Jonas wants the loan of the tile cutter.",
        "I wish I had a new bridge partner, Jim Coakley is hopeless.",
    ],
)
def test_what_only_sounds_like_it_is_not(text: str) -> None:
    assert not told(text)
    assert not {one for one in read(text).stated if one.is_change}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The servers are in racks A to F. Marco Ricci has the keys.", "Marco Ricci"),
        ("The keys hang in room B. Tom has the others.", "Tom"),
        ("Der Flügel steht in Saal B. Hanna stimmt ihn.", "Hanna"),
        ("Asked P. James about it.", "P. James"),
    ],
)
def test_a_letter_that_ends_its_sentence_is_no_initial(text: str, name: str) -> None:
    assert name in {mention.name for mention in read(text).mentions}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "My sister Ruth lives in Wrexham and works at the Orthopaedic.",
            {"Ruth | lives in | Wrexham", "Ruth | works at | Orthopaedic"},
        ),
        ("My dad lives in Leeds and works at Boots.", {"dad | lives in | Leeds", "dad | works at | Boots"}),
        (
            "For our sheet: Gareth is head coach, Pauline is treasurer, Nigel is secretary.",
            {"I | has head coach | Gareth", "I | has treasurer | Pauline", "I | has secretary | Nigel"},
        ),
        ("AGM last night. Bev's head coach as of this week.", {"I | has head coach | Bev"}),
        ("Steve is treasurer of the chess club.", {"chess club | has treasurer | Steve"}),
        ("Vermieterin der Praxis ist jetzt Frau Aydin.", {"praxis | has landlord | Frau Aydin"}),
        ("Vorsitzende vom Kleingartenverein ist Petra Simon.", {"kleingartenverein | led by | Petra Simon"}),
        ("Neue Chorleiterin: Annika Lindqvist.", {"I | has conductor | Annika Lindqvist"}),
        ("Zahnärztin der Familie: Dr. Thiele", {"I | has dentist | Dr. Thiele"}),
        ("Wir fahren jetzt einen Dacia Jogger, da passt alles rein.", {"I | has car | Dacia Jogger"}),
        ("Picked up my new car this morning! Skoda Fabia, silver.", {"I | has car | Skoda Fabia"}),
        ("Met Ellie's new boyfriend. Callum, tall, polite.", {"Ellie | has partner | Callum"}),
        ("Lenas Fußballtraining ist jetzt freitags.", {"Lena's fußballtraining | takes place | freitag"}),
        ("Jonte geht seit heute aufs Felix-Klein-Gymnasium.", {"Jonte | has school | Felix-Klein-Gymnasium"}),
        ("Chorprobe ist ab sofort donnerstags.", {"chorprobe | takes place | donnerstag"}),
        (
            "Siobhán has moved from Cork to Galway, the whole lot of them, with two vans.",
            {
                "Siobhán | lives in | Galway",
                "Siobhán | lives in | Cork",
            },
        ),
        ("Nell called. Her swim class is Saturdays.", {"Nell's swim class | takes place | saturday"}),
        ("Renting the studio on NE Alberta from Walt Brannigan.", {"I | has landlord | Walt Brannigan"}),
        ("The new landlord is an outfit called Keystone Properties.", {"I | has landlord | Keystone Properties"}),
        ("Trainer der C-Jugend ist Kai Wefer.", {"C-Jugend | has coach | Kai Wefer"}),
        ("Neue Vorsitzende im Gartenverein: Petra Simon.", {"gartenverein | led by | Petra Simon"}),
        ("Sold the Outback, driving an Ioniq 5 now.", {"I | has car | Ioniq 5"}),
        ("Owen started piano with Mr. Bianchi today.", {"Owen | has piano teacher | Mr. Bianchi"}),
        (
            "Yusuf leads Ledger, and Vault belongs to Security.",
            {"Ledger | led by | Yusuf", "Vault | part of | Security"},
        ),
        ("Seit Montag arbeitet der Valentin in der Buchhandlung Moser.", {"Valentin | works at | Buchhandlung Moser"}),
        (
            "Traudl ist vom Haus Rosental ins Haus Sonnleiten übersiedelt.",
            {"Traudl | lives in | Haus Sonnleiten", "Traudl | lives in | Haus Rosental"},
        ),
        ("Marek fährt jetzt den Vito.", {"Marek | has car | Vito"}),
        ("Mit dem Handy bin ich bei A1.", {"I | has phone contract | A1"}),
        ("Mein Chef Herr Brunken will ein Konzept.", {"I | reports to | Herr Brunken"}),
        ("Wiebke arbeitet seit zehn Jahren bei der LzO.", {"Wiebke | works at | LzO"}),
    ],
)
def test_what_three_other_notebooks_told(text: str, facts: set[str]) -> None:
    assert told(text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "Mo is captain on Saturday.",
        "Christmas list: socks for dad, voucher Marit, gin for Nadia.",
        "My old boss left Miele and now works at Gorenje.",
        "Met Ellie's new boyfriend. Callum's dad was there, too.",
        "I'm driving a little Yaris of his this week.",
        "I'm driving a minibus to Wales now.",
        "Ich fahre jetzt einen Golf von Europcar, bis der Skoda fertig ist.",
        "Wir fahren einen Tag nach Hamburg.",
        "Hated my new dentist. Anna, too.",
        "Complained about my new landlord. Citizens Advice, Tuesday.",
        "Test drive for my new car. Toyota Yaris, silver.",
        "Picked up my new car this morning! Tom, my brother, was jealous.",
        "Great concert in Vienna. Franz Welser is conductor.",
        "Ruth is treasurer, or so she thinks.",
        "Bev's head coach now lives with us.",
        "Ben's first day at the Berghain.",
        "Renting a car from Hertz.",
        "We're renting a holiday cottage from Mrs Diaz.",
        "Meine Chefin Anna Berg hat gekündigt.",
        "Our cleaner for the next week is Petra.",
        "Tom is together with Anna on the committee.",
        "Ich bin mit Jonas zusammen in einer Klasse.",
        "The bus goes from Monday to Friday.",
        "Her class is on Mondays.",
        "Die Nähmaschine ist für eine Woche beim Sperl zur Reparatur.",
    ],
)
def test_what_is_not_told_is_no_fact(text: str) -> None:
    assert not told(text)


@pytest.mark.parametrize(
    "text",
    [
        "Hospital: I'm now in Room 7.",
        "We are now in Room 3, escape room with the team.",
        "Die Kasse macht jetzt Anna, haha, schön wär's.",
        "Den Hund hat jetzt Svenja, am Sonntag kommt er zurück.",
        "Hunger hat Anna.",
    ],
)
def test_what_is_not_meant_is_not_stated(text: str) -> None:
    assert not read(text).stated


def test_a_change_that_is_so_now_does_not_wait_for_another() -> None:
    statements = {
        one.thing: one.valid_from for one in read("Mr Reed is the landlord now, rent is 12 from July.").stated
    }
    assert statements["landlord"] is None


def test_a_word_for_a_role_is_nobody() -> None:
    stated_of = {one.value for one in read("Dr Nguyen has retired. Dr Fraser is our GP now, same clinic.").stated}
    assert stated_of == {"Dr Fraser"}


def test_what_is_used_at_work_is_not_where_one_works() -> None:
    found = read("We're on Koha at work as of today. Nobody can find anything.")
    assert "works at" not in {fact.relation for fact in (*found.facts, *found.tentative) if fact.confidence >= 0}


def test_what_something_was_taken_over_from_is_not_where_it_may_be() -> None:
    note = "goshawk took over Zammad on 5 Apr 2024; its containers on plover are gone."
    (source,) = with_context([Memory("m", note, created_at=datetime(2024, 4, 6, tzinfo=UTC))])
    (found,) = Phrases().extract([source])
    assert ("Zammad", "goshawk", "plover") in {(one.thing, one.value, one.former) for one in found.stated}
    assert ("Zammad", "plover") not in {(fact.subject, fact.object) for fact in found.tentative}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Marc works at Queen's, in facilities.", "Marc | works at | Queen's"),
        ("Emma goes to St Mark's.", "Emma | has school | St Mark's"),
        ("Dad's people, for the fridge:\n- family doctor: Dr. Okafor", "Dad | has doctor | Dr. Okafor"),
        ("Frau Dallmann macht ab sofort meine Steuern.", "I | has accountant | Frau Dallmann"),
        ("Papers to Mr Humburg, he is my accountant.", "I | has accountant | Mr Humburg"),
        ("Ich fahre jetzt einen Fabia.", "I | has car | Fabia"),
        ("Unser Vermieter heißt Krug.", "I | has landlord | Krug"),
        ("Hausarzt meiner Eltern ist Dr. Brandl in Wörth.", "eltern | has doctor | Dr. Brandl"),
        ("Kathrin arbeitet bei der Sparkasse, im Kreditbereich.", "Kathrin | works at | Sparkasse"),
        ("Planer lives in the garage now.", "Planer | located in | garage"),
        ("Home Assistant läuft jetzt als VM auf fuchs.", "home assistant | runs on | fuchs"),
        ("Info 10b ist nicht mehr in Raum 214, sondern in Raum 118.", "Info 10b | located in | raum 118"),
        (
            "Frau Wendt geht in Elternzeit, Milas Klassenlehrer ist jetzt Herr Okafor.",
            "Mila | has class teacher | Herr Okafor",
        ),
    ],
)
def test_a_fact_has_its_whole_name_and_owner(text: str, fact: str) -> None:
    assert fact in told(text)


def test_a_fact_is_of_something() -> None:
    assert not told("Dr. Mehta owns the place.")


def test_who_took_over_as_what() -> None:
    found = read("Cake at work: Farah has taken over from Denise as practice manager.").stated
    assert [(one.thing, one.value, one.former) for one in found] == [("practice manager", "Farah", "Denise")]


def test_what_was_and_what_is_before_more_of_it() -> None:
    found = read("Nextcloud vom igel auf den marder umgezogen, der Pi war mit den Fotos überfordert.").stated
    assert [(one.thing, one.value, one.former) for one in found] == [("Nextcloud", "marder", "igel")]


def test_a_number_beside_a_first_name_is_no_part_of_it() -> None:
    assert [mention.name for mention in read("Jonas 14 geworden. Pizza für alle.").mentions] == ["Jonas"]


def test_an_april_fool_states_nothing() -> None:
    assert not read("The dog runs the bar now. April fool!").stated
    assert not read("Ab heute führt der Hund die Kasse. Haha. April, April.").stated


@pytest.mark.parametrize(
    "text", ["Petra arbeitet im Garten.", "Petra arbeitet in der Nacht.", "We train at Moss Park."]
)
def test_where_nobody_is_employed_tells_nothing(text: str) -> None:
    assert not told(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Passwortmanager ist bei mir KeePass.", "Passwortmanager | currently | KeePass"),
        ("Den Schlüssel zum Gerätehaus hat der Bernd.", "Schlüssel zum Gerätehaus | currently | Bernd"),
        ("Den Schlüssel hat nicht mehr der Bernd, sondern die Anna.", "Schlüssel | currently | Anna"),
    ],
)
def test_german_ways_to_say_who_has_what(text: str, line: str) -> None:
    assert line in stated(text)


def test_a_price_has_its_cents() -> None:
    assert told("Internet kostet 39,99 im Monat.") == {"internet | costs | 39,99"}


def test_a_pronoun_of_nobody_makes_no_town_live_anywhere() -> None:
    assert not told("Er arbeitet bei Papenburg in Halle und wohnt in Landsberg.")
