"""Which relation words mean between these two: who moves, who has something in hand, and what fits nobody."""

from __future__ import annotations

import re

from hopgate.extract.rules.capitals import is_given
from hopgate.extract.rules.clauses import TEAMS, Clause
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import table, zipf
from hopgate.extract.rules.places import is_address, is_passing, is_place, is_room, is_school
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.subjects import KINSHIP
from hopgate.extract.rules.towns import is_town
from hopgate.extract.rules.words import words

_COMMON = 4.0  # by `zipf`
_ALSO_NAMES = words(
    """
    rose mark bill dawn grace hope faith joy will jack frank angel sky river prince king jones patience summer autumn
    april may june iris lily daisy ivy ruby pearl amber jade olive hazel holly heather robin jay drew chase grant miles
    art gene guy rich rob pat sue young smith brown green white black cook baker miller taylor hunter
    """
)
_FURNITURE = words("drawer cupboard shelf box cabinet wardrobe chest rack locker safe bag basket toolbox")
THEIRS = words("his her their seine seiner seinem seinen ihre ihrer ihrem ihren")
_ACCOUNTS = compiled(r"(?:^| )(?:account|accounts|product|property|store|shop|case|office|bank|relationship)$", re.I)
_SOFTWARE = frozenset(("database", "db", "server", "service", "instance", "app", "stack", "dashboard", "controller"))
_OF_PERSONS = frozenset(("reports to", "led by", "married to", "parent of", "sibling of"))
_LED = compiled(
    r"(?:Team|Project|Projekt|Projet|Proyecto|Progetto|Workstream|Abteilung|Department|Gruppe|Verein)\b|"
    r".*\b(?:team|teams|project|group|choir|club|department|dept|office|committee|council|paper|magazine|newsletter|"
    r"society|association|branch|division|unit|section|squad|crew|band|orchestra|board|programme|program|initiative|"
    r"workshop|course|class|chapter|guild|\w*(?:abteilung|gruppe|verein|chor)|büro|équipe|équipo|equipo|projet|proyecto|"
    r"under-\d+s)$",
    re.I,
)


_EMPLOYERS = (
    "bank", "kasse", "amt", "stadt", "schule", "klinik", "krankenhaus", "praxis", "uni", "universität", "kanzlei",
    "firma", "verlag", "bäckerei", "post", "bahn", "polizei", "gemeinde", "apotheke", "kita", "kindergarten",
    "werkstatt", "hotel", "restaurant", "gärtnerei", "versicherung", "agentur", "telekom", "bücherei", "bibliothek",
    "klinikum", "stadtwerken", "werken", "betrieben", "pflegeheim", "altenheim", "seniorenheim", "sozialstation",
    "pflegedienst", "verwaltung", "gericht", "museum", "theater", "hort", "supermarkt", "baumarkt", "bauhof",
    "feuerwehr", "hochschule", "autohaus", "spedition", "molkerei", "brauerei", "druckerei", "tischlerei",
    "schreinerei", "metzgerei", "konditorei", "fabrik", "gymnasium", "diakonie", "caritas",
)  # fmt: skip
_FIRMS = words(table("brands")["names"]) | words(table("brands")["english"])
_HOSTERS = words(table("brands")["hosters"])
_NO_ALLERGENS = words("anything nothing everything mondays monday montage montag work arbeit stupidity dummheit")
_IN_A_ROW = compiled(r"(?:front|back|end|top|bottom|middle|head|side) of\b")
_FOR_THINGS = words(
    "garage shed cupboard drawer cellar basement hallway closet workshop laundry porch greenhouse utility carport "
    "pantry keller schuppen schrank abstellkammer flur waschküche heizungskeller"
)
# What people do who change where they live, and who change where they work; "went to" is a journey.
_SETTLES = compiled(
    r"\b(?:lived|lives|mov(?:ed|es)|relocat(?:ed|es)|resettled|rehomed|emigrated|umgezogen|gezogen|zog|verhuisd|verhuisde|"
    r"déménagée?|mudado|mudó|trasferit[oa]|trasladado|trasladó)\b"
)
# "works at Zara": a shop may have a person's name.
_WORKS_AT = compiled(
    r"\b(?:works?|working|arbeitet|trabaja|werkt|employer is) "
    r"(?:now |jetzt |ahora |nu |[a-z]+days |part-time )?(?:at|bei|en|bij|⟨)"
)
# "Noah started at Hillcrest School": a pupil, where no job is spoken of.
_STARTS = compiled(r"⟩ (?:has |have )?(?:starts?|started) (?:at|school at) (?!.*\b(?:job|work|teach\w*|as)\b)")
# "Mosquitto is on the Odroid", but "the piano is on the Karlstraße".
_ON_THE_HOST = compiled(
    r"(?:^|: |and |, )⟨\d+⟩ (?:is|'s) (?:now |still )?on (?:the |my |our )⟨\d+⟩(?= now|$| ,| and| in the)"
)
_LED_BY = compiled(
    r"\b(?:led|headed|geleitet|dirigée?|dirigid[oa]|geleid|guidat[oa]) (?:by|von|par|por|door|da)\b|"
    r"\b(?:in charge of|responsible for|leads|heads|leitet)\b"
)
_TAKES_JOB = compiled(r"\b(?:moved on to|works? (?:at|for)|as (?:a|an|the|head|chief|lead)) ")
_CHANGES_JOB = compiled(r"\b(?:transferred|switched|changed|gewechselt|wechselte?|overgestapt)\b")
# Who moves to a name in capitals may be moving to a tool: "the team moved to Zulip".
_GROUPS = compiled(r"(?:team|group|company|crew|class|family|conversation|discussion|everyone|everybody|project)$")


# Whom a person has above them: an editor or a coach is none.
_BOSS = compiled(
    r"\b(?:team |project )?(?:lead|leader|leads|head|heads|headed|led|run|runs|director|boss|manager|manage[sd]?|"
    r"managed|leiter|leiterin|leitet|geleitet|dirige|chair|charge|responsible|took|takes|taken|over)\b"
)
# "Ann instead of Bea" says nothing of what changed between the two.
_INSTEAD = compiled(r"\b(?:instead of|rather than|statt|anstatt)\b|->|→")


def is_team(name: str) -> bool:
    """Whether a name is that of people who own something together.

    Examples
    --------
    >>> is_team("Team Heron"), is_team("Digital Team"), is_team("IT Services"), is_team("Heron")
    (True, True, True, False)
    """
    return name.startswith(TEAMS) or bool(_TEAM.search(name))


def is_kin(subject: str, text: str) -> bool:
    """Whether a common noun is somebody of ours: "my sister lives in Norwich".

    Examples
    --------
    >>> is_kin("sister", "my sister lives in ⟨0⟩"), is_kin("sister", "⟨0⟩ 's sister lives in ⟨1⟩")
    (True, False)
    """
    return subject in KINSHIP and bool(
        re.search(rf"\b(?:my|our|meine?|unsere?|ma|mon|notre|mi|mijn|mia|mio) {subject}\b", text)
    )


_TEAM = compiled(r"\w (?:Team|Services|Department|Squad|Group|Ops|Engineering|Support|Crew|Guild|Board)$")


def of_hands(subject: str, target: str, who: Referents, *, person: bool) -> str:
    """What somebody has who was handed it: a team or a project is led, anything else owned.

    Where `person`, the words alone do not say that hands are meant ("went to Bea", "went to Oslo").
    """
    if who.is_host(target) or not target[:1].isupper() or who.is_person(subject):
        return ""
    if person and not (who.is_person(target) or who.is_owner(target) or target.startswith("Team ")):
        return ""
    return "led by" if _LED.match(subject) and not target.startswith("Team ") else "owned by"


def _is_common(name: str) -> bool:
    """Whether a name is made of common words, and no town's."""
    return not is_town(name) and all(zipf(word, "en") >= _COMMON for word in name.lower().split())


def of_move(subject: str, target: str, old: list[str], said: str, who: Referents) -> str:  # noqa: PLR0911
    """What a move changes: a person's home or work, a service's host, a thing's place."""
    if target.startswith(TEAMS):
        return "part of" if who.is_person(subject) or not who.is_named(subject) or subject.istitle() else "owned by"
    if who.is_person(subject) or subject == who.first_person or subject in KINSHIP:
        if who.is_host(target) or (target.lower() in _FIRMS and not _TAKES_JOB.search(said)):
            return ""  # "Femi moved from Monzo to Starling"
        if (
            _TAKES_JOB.search(said)
            or (old and _CHANGES_JOB.search(said))
            or any(who.kind(name) == "organisation" for name in (target, *old))
        ):
            return "works at"
        if said.startswith("helped "):
            return "lives in" if is_town(target) else ""  # "helped Ann move to Postgres"
        if old and all(map(_is_common, (target, *old))):
            return ""  # "moved from Growth to Core Platform"
        return "lives in" if _SETTLES.search(said) or any(who.kind(name) == "place" for name in old) else ""
    if who.is_person(target) or any(map(who.is_person, old)):
        return of_hands(subject, target, who, person=not old)  # "PAY-12: Tess -> Kit"
    if is_room(target):
        return "located in"
    if who.is_host(target) or who.is_service(subject) or (subject.islower() and who.is_named(subject)):
        return "runs on"
    if not who.is_named(subject) and _GROUPS.search(subject):
        return ""
    # "von plover auf den Raspberry", "from Azure to Hetzner": what was on a machine is on another one.
    was_there = any(map(who.is_host, old)) and who.is_named(subject) and not is_town(target) and not is_address(target)
    hosted = {name.lower() for name in (target, *old)} <= _HOSTERS and not is_room(subject)
    if old and (was_there or hosted):
        return "runs on"
    return "located in" if target[:1].isupper() else ""


def _is_word(name: str) -> bool:
    """Whether what looks like a name is an ordinary word at the beginning of a sentence."""
    word = name.lower()
    return name.isalpha() and word not in _ALSO_NAMES and not is_given(word) and zipf(word, "en") >= _COMMON


def _is_kept(subject: str, target: str, plain: bool, clause: Clause) -> bool:
    """Whether what is said to live somewhere is a thing in a place of the house, by all that is known of its name."""
    if not plain or is_kin(subject, clause.text) or is_given(subject.lower()) or " " in subject:
        return False
    if target.rpartition(" ")[2] in _FURNITURE or target in _FOR_THINGS:
        return True
    first = clause.reading.tokens[: 1 + (clause.reading.lower[:1] == ["the"])]
    return _is_word(subject) or (is_room(target) and subject.endswith("s") and subject in first)


def _is_employer(target: str, text: str) -> bool:
    """Whether somebody works at a place called by a noun: "at the hospital", "bei der Sparkasse", not "im Garten"."""
    if re.search(rf"(?:at|for|bei) (?:the|an?) {re.escape(target)}", text):
        return True
    return target.endswith(_EMPLOYERS) and bool(
        re.search(rf"(?:beim?|im|in|an)(?: de[rm]| eine[rm])? {re.escape(target)}", text)
    )


def fitting(  # noqa: PLR0911, PLR0912
    relation: str, subject: str, target: str, clause: Clause, who: Referents, *, plain: bool, common: bool
) -> str:
    """The relation that words mean between these two: a person does not run on a host; empty where they fit nothing."""
    person, other = who.is_person(subject) or subject == who.first_person, who.is_person(target)
    if plain and target.partition(" ")[0].lower() in THEIRS:
        return ""  # "Herrn Maurers Rasenmäher steht in seiner Garage"
    if relation == "runs on":
        return "" if person or other or plain or (target.islower() and is_place(target)) else relation
    if relation in ("works at", "lives in") and is_town(subject) and not person:
        return ""
    if relation == "lives in" and target.lower() in _FIRMS:
        return ""  # "moved from Monzo to Starling"
    if relation == "works at" and other and not _WORKS_AT.search(clause.text):
        return ""
    if relation == "works at" and who.kind(subject) in ("host", "service"):
        return ""
    if relation == "works at" and _STARTS.search(clause.text) and is_school(target):
        return "has school"
    if relation == "lives in" and (target.startswith(TEAMS) or _IN_A_ROW.match(target)):
        return ""
    if relation == "lives in" and _is_kept(subject, target, plain, clause):
        return "located in"  # "Bike lives in the stairwell", "Timps live in the scout hut"
    if relation == "lives in" and not person and subject.islower() and not is_kin(subject, clause.text):
        return ""
    if relation == "works at" and plain and not _is_employer(target, clause.text):
        return ""
    if relation == "located in":
        if _ON_THE_HOST.search(clause.text) and not (person or plain or common or other):
            return "runs on"
        if person and re.search(r"\bbased in\b", clause.text):
            return "lives in"
        if person or other or who.is_host(target) or is_passing(subject, target):
            return ""
        return relation if is_room(target) or not (plain and subject.islower() and not who.is_named(subject)) else ""
    if relation == "owned by" and subject == who.first_person:
        return ""  # "our caretaker is Mr Lowe"
    if relation == "owned by" and common and is_team(target):
        return relation
    if relation == "owned by" and not other and not target.startswith("Team ") and not who.is_owner(target):
        return (
            "part of"
            if re.search("belong|gehört|pertenece|appartien", clause.text) and target[:1].isupper() and not common
            else (relation if re.search("own|assigned", clause.text) and target[:1].isupper() else "")
        )
    if relation in _OF_PERSONS and target.islower():
        return ""
    # An account manager is nobody's boss.
    if relation == "reports to" and (not target[:1].isupper() or _ACCOUNTS.search(subject)):
        return ""
    if relation == "replaced by" and other and (not person or _INSTEAD.search(clause.text)):
        return ""
    if relation == "led by" and subject.islower() and not who.is_named(subject):
        named = _LED.match(subject) or _LED_BY.search(clause.text)
        return "owned by" if target.startswith("Team ") else relation if named else ""
    if relation == "led by" and target.startswith("Team "):
        return "owned by"
    if relation == "led by" and person:
        # "Die Baustelle Hafenstraße leitet Murat" tells of no boss of his.
        is_turned = not other and " leitet " in clause.text
        return "reports to" if _BOSS.search(clause.text) and not is_turned else ""
    if relation == "allergic to" and target in _NO_ALLERGENS:
        return ""
    return relation


def software_name(subject: str, who: Referents) -> str:
    """What runs, by its name: "the unifi controller" is unifi, "the Postgres database" Postgres."""
    first, _, rest = subject.partition(" ")
    if first.islower() and who.is_named(first):
        return first
    name, _, noun = subject.rpartition(" ")
    return name if rest and noun in _SOFTWARE and who.is_named(name) else subject
