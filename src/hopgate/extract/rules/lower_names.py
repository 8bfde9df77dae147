"""Names written in lower case: introduced by what a note says of them, or words that no language has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from hopgate.extract.rules.capitals import is_given
from hopgate.extract.rules.kept_patterns import compiled, needs_of
from hopgate.extract.rules.language_tables import KIN, LANGUAGES, is_common_anywhere, table, zipf
from hopgate.extract.rules.lower_slots import MACHINES, closed, compounds, placed
from hopgate.extract.rules.needed_texts import may_match
from hopgate.extract.rules.places import is_room
from hopgate.extract.rules.tokenise import letter
from hopgate.extract.rules.words import words

# Words of every language that are never a name by themselves.
SMALL = frozenset().union(
    *(language.function | language.openers | language.hypothetical for language in LANGUAGES.values())
)
_CALENDAR = frozenset(
    word
    for language in LANGUAGES.values()
    for word in (*language.months, *language.days, *(f"{day}s" for day in language.days), *language.shifts)
)
WORD = compiled(r"[^\W\d_][^\W_]*(?:-[^\W_]+)*")
_RUNS = frozenset(["runs", "run", "running", "läuft", "laufen", "draait", "loopt", "tourne", "corre", "gira"])
_SERVES = frozenset(["runs", "hosts", "serves", "running", "hosting"])
_ON = frozenset(["on", "auf", "op", "sur", "en", "su"])
_HOSTED = frozenset(["hosted", "deployed", "installed", "running", "hosting", "gehostet", "installiert"])
_VERBS = _RUNS | _HOSTED
_ADVERBS = words(
    """
    now still currently also again jetzt noch wieder nu weer now again maintenant ahora ora is are was
    désormais actuellement actualmente inzwischen mittlerweile inmiddels tegenwoordig seitdem endlich nun finally
    """
)
PREPOSITIONS = frozenset(["on", "to", "from", "onto", "off", "auf", "von", "nach", "op", "naar", "van", "sur"])
_DETERMINERS = words(
    """
    the a an my our your his her its their this that some any every no der die das den dem ein eine einen de het
    een le la les un une el los las il lo gli
    """
)  # fmt: skip
_NO_NAMES = (
    SMALL
    | _DETERMINERS
    | KIN
    | words("container instance stack pod deployment cutover server host node machine box vm vps")
)
_NAMING = words(
    """
    called named genannt namens heißt heet llamado llamada appelé appelée chiamato chiamata
    """
)
_NAME = (
    "(?<!the )(?<!my )(?<!our )(?<!der )(?<!die )(?<!das )(?<!het "
    ")(?<!his )(?<!her )(?<! a )[^\\W\\d_][^\\W_]*(?:-[^\\W_]+)*"
)
_X, _A, _B = (f"(?P<{key}>{_NAME})" for key in "xab")
_MOVED = "(?:moved|migrated|shifted|switched|transferred|relocated|moving|migrating|took)"
_NOW = "(?: now| still| currently| also| jetzt| noch| nu)*"
# Where names of services (x) and hosts (a, b) stand without an article, in notes of things that move and run.
_SLOT_WORDS = words(
    "replaced replaces supersedes superseded ersetzt vervangt on onto off auf op sur to from von nach "
    "naar @ it's served host server node machine vm box home"
)
_OF_PEOPLE = words(
    "lives live living works work working teaches wohnt wohnen lebt arbeitet arbeiten habite habitent travaille vive "
    "viven trabaja woont wonen werkt abita abitano lavora reports resides"
)
_OF_SEVERAL = words("live living work working wohnen arbeiten habitent viven wonen abitano")
_SORTS = {
    **dict.fromkeys(words("works work working teaches arbeitet travaille trabaja werkt lavora"), "organisation"),
    **dict.fromkeys(words("lives live living resides wohnt lebt habite woont abita"), "place"),
}
# "led by Ute", "reports to Wolfgang", "my boss is Helen": who that is, is a person, also where another note says less.
_BY_PERSON = words(
    "led headed managed run chaired directed coordinated maintained geleitet dirigé dirigée dirigido guidato"
)
_TO_PERSON = words("reports report reporting answers")
_HELD = words("owner assignee lead leader maintainer boss manager head chair contact treasurer president coach leitung")
_IS = words("is : ist est es è called named now jetzt heißt =")
_ROLES_OF_PEOPLE = words(
    " ".join(table("verbs")[name].replace("_", " ") for name in ("boss", "leader"))
    + " babysitter nanny therapist landlord landlady cleaner tutor trainer hairdresser accountant lawyer vet maintainer"
) - words("line team project head")
_WHERE = words("in at for to bei à chez en a da bij with near")
_TEMPLATES = tuple(
    (pattern, needs_of(pattern))
    for pattern in (
        compiled(rf"(?:(?<=^)|(?<=[ \n])){template}(?= |$)")
        for template in (
            f"{_MOVED} {_X} (?:over )?from {_A} (?:over )?to {_B}",
            f"{_MOVED} [^ ]+ (?:over )?from {_A} (?:over )?to {_B}",
            f"{_MOVED} {_X} (?:over |back )?to {_B}",
            f"{_X}(?: was| is| got| has| has been)?{_NOW} (?:moved|migrated|"
            f"moves|relocated|transferred)(?: over)? from {_A} to {_B}",
            f"{_X}(?: was| is| got| has| has been)?{_NOW} (?:moved|migrated|moves|relocated)(?: over| back)? to {_B}",
            f"{_X}(?: is| lives| sits| stays)?{_NOW} (?:lives|is|stays|sits|runs|on){_NOW} on {_B}",
            f"{_X} (?:is|lives|stays){_NOW} on {_B}",
            f"{_A}{_NOW} hosts {_X}(?: and [^ ]+)?",
            f"{_A}{_NOW} hosts [^ ]+ and {_X}",
            f"{_X} (?:ist |wurde )?(?:von {_A} )?(?:auf|nach) {_B} (?:umgezogen|migriert|verschoben|gewandert)",
            f"{_X} (?:draait|loopt|läuft|tourne|gira|corre){_NOW}(?: (?:seit|"
            f"sinds|depuis|dal|desde) [^ ]+)? (?:auf|op|sur|su|en) {_B}",
            f"(?:läuft|draait) {_X}{_NOW} (?:auf|op) {_B}",
            f"(?:läuft|draait)(?: (?:seit|sinds) [^ ]+)? (?:auf|op) {_B}",
            f"(?:durch|by) {_B} (?:ersetzt|abgelöst)",
            f"(?:von {_A} )?auf {_B} (?:umgestellt|umgestiegen)",
            f"(?:instead of|statt|in plaats van|rather than)(?: on| auf| op)? {_B}",
            f"(?:rebooted|restarted|reinstalled|reimaged|ssh into|logged into|onto) {_B}",
            f"{_A} out , {_B} in",
            f"{_A} (?:sits|stands|hums|crashed|died|rebooted|froze|stürzte|steht)",
        )
    )
)
_ARROWS = frozenset(("->", "→", "=>", "-->"))
# The words at which `introduced` looks: at no other can it find anything.
_INTRODUCING = frozenset().union(
    _ON, _SERVES, _ARROWS, _NAMING, _BY_PERSON, _TO_PERSON, _ROLES_OF_PEOPLE, _OF_PEOPLE, ("name", "=", ":")
)
_OPENS_WITH_X = rf"(?:(?<=^)|(?<=[ \n])){_X}"
_TEMPLATE_WORDS = words(
    """
    moved migrated shifted switched transferred relocated moving migrating took moves hosts umgezogen migriert
    verschoben gewandert draait loopt läuft tourne gira corre ersetzt abgelöst umgestellt umgestiegen instead statt
    plaats rather rebooted restarted out reinstalled reimaged ssh logged onto sits stands hums crashed died froze
    stürzte steht lives stays
    """
)
_KINDS = {"x": "service", "a": "host", "b": "host"}
LONGEST_TEXT = 2000
"""Of a longer text only so many tokens are searched for the templates."""
# Zipf: what is rarer is a name when it is met in two memories; what is unknown to every language, in one.
RARE, BARE = 2.5, 4.1


@lru_cache(maxsize=32768)  # asked of the same words by survey, slots and templates
def is_rare(word: str, code: str, limit: float) -> bool:
    """Whether a word in lower case is rare enough, in its note's language and in English, to be a name.

    Examples
    --------
    >>> is_rare("vaultwarden", "en", 1), is_rare("running", "en", 3), is_rare("follow-up", "en", 2.5)
    (True, False, False)
    """
    if len(word) < 3 or word in SMALL or word in _CALENDAR or not WORD.fullmatch(word):
        return False
    if word.endswith("ier") and zipf(word[:-3] + "y", "en") > 2:
        return False  # "snappier"
    if (
        "-" in word
        and word[-2] != "-"
        and all(zipf(part, code) > 3 or zipf(part, "en") > 3 or len(part) < 3 for part in word.split("-"))
    ):
        return False
    stem = word.removesuffix("s") if word.endswith("s") else word
    return all(max(zipf(word, one), zipf(stem, one)) < limit for one in {code, "en"})


def introduced(tokens: list[str], lower: list[str], tags: Iterable[str] = ()) -> dict[str, str]:  # noqa: PLR0912, PLR0915
    """Give the words in lower case that this text makes names: "X runs on Y", "X: A -> B", "called X", "X = Y".

    Examples
    --------
    >>> tokens = "uptime-kuma : hazel -> willow".split()
    >>> introduced(tokens, tokens)
    {'hazel': 'host', 'willow': 'host', 'uptime-kuma': 'service'}
    """
    found: dict[str, str] = {}
    for at, word in [(at, word) for at, word in enumerate(lower) if word in _INTRODUCING]:
        if (
            word in _ON
            and (verb := next((back for back in range(at - 1, max(-1, at - 5), -1) if lower[back] in _VERBS), -1)) >= 0
        ):
            host = _name_at(tokens, at + 1, given=True)
            between = lower[verb + 1 : at]
            if (
                host
                and not is_room(host)
                and not "".join(lower[at + 2 : at + 3]).isdigit()  # "on shelf 3"
                and closed(tokens, at + 2, len(tokens))
                and all(
                    one in _ADVERBS or one == "by" or not tokens[verb + 1 + k].islower()
                    for k, one in enumerate(between)
                )
            ):
                subject = next((back for back in range(verb - 1, max(-1, verb - 4), -1)
                                if lower[back] not in _VERBS | _ADVERBS), -1)  # fmt: skip
                found[host] = "host"
                if subject >= 0 and tokens[subject][0].isupper() and is_rare(lower[subject], "en", 4.0):
                    found.setdefault(lower[subject], "" if is_given(lower[subject]) else "service")
                if (service := _name_at(tokens, subject)) and not _is_head(tokens, subject):
                    found.setdefault(service, "service")
        elif word in _SERVES and (service := rare_at(tokens, at + 1, 3.0)):
            # "plum runs mealie", "plum is now running mealie"
            before = next((back for back in range(at - 1, max(-1, at - 4), -1) if lower[back] not in _ADVERBS), -1)
            if host := rare_at(tokens, before, 4.2):
                found |= {host: "host", service: "service"}
        elif word == "name" and at > 2 and lower[at - 2 : at] == ["is", "the"]:
            if name := _name_at(tokens, at - 3):
                found.setdefault(name, "")
        elif word in _ARROWS:
            ends = _name_at(tokens, at - 1), _name_at(tokens, at + 1)
            if all(ends):
                found |= dict.fromkeys(ends, "host")
                if at > 2 and tokens[at - 2] == ":" and (service := rare_at(tokens, at - 3, 4.2)):
                    found[service] = "service"
        elif word in _NAMING:
            machine = at and lower[at - 1] in MACHINES
            if (name := _name_at(tokens, at + 1)) and is_rare(name, "en", 4.5 if machine else 3):
                found.setdefault(name, "host" if machine else "")
        elif word == "=" and (name := _name_at(tokens, at - 1)) and (at < 2 or tokens[at - 2][0] == "\n"):
            found.setdefault(name, "")
        elif (word in _BY_PERSON and lower[at + 1 : at + 2] in (["by"], ["von"], ["par"], ["por"], ["da"])) or (
            word in _TO_PERSON and lower[at + 1 : at + 2] == ["to"]
        ):
            _found_person(tokens, at + 2, found)
        elif word == ":" and not _HELD.isdisjoint(lower[max(0, at - 6) : at]) and at + 1 < len(tokens):
            if at + 2 == len(tokens) or letter(tokens[at + 2]) in ".¶(,;":
                _found_person(tokens, at + 1, found)
        elif word in _ROLES_OF_PEOPLE and lower[at + 1 : at + 2] and lower[at + 1] in _IS:
            _found_person(tokens, at + 2 + (lower[at + 2 : at + 3] == ["now"]), found)
        elif word in _OF_PEOPLE and at and lower[at - 1] not in SMALL and _WHERE.issuperset(lower[at + 1 : at + 2]):
            # "Colm works at Ferro": who does that is a person, also where another note says less.
            who = tokens[at - 1]
            where = tokens[at + 2] if at + 2 < len(tokens) else ""
            person = who[0].isupper() and WORD.fullmatch(who) and letter(where or ".") != "H"  # it lives at git.oak.net
            if word in _OF_SEVERAL and not (is_given(who) or (at > 1 and lower[at - 2] == "the")):
                person = None  # "Docs live in Confluence"
            found |= {who.lower(): "person"} if person else {}
            if where[:1].isupper() and WORD.fullmatch(where) and (kind := _SORTS.get(word)):
                found.setdefault(where.lower(), kind)
    words = set(lower)
    if not words.isdisjoint(_SLOT_WORDS):
        for name, kind in placed(tokens[:LONGEST_TEXT], lower[:LONGEST_TEXT], rare_at):
            found.setdefault(name, kind)
    for name in compounds(tokens):
        found.setdefault(name, "")
    text = " ".join(lower[:LONGEST_TEXT])
    worth = not _TEMPLATE_WORDS.isdisjoint(words) or " is on " in text or " now on " in text
    for pattern, needs in _TEMPLATES if worth else ():
        for match in pattern.finditer(text) if may_match(needs, text) else ():
            if match.re.pattern.startswith(_OPENS_WITH_X) and _is_second(text, match.start()):
                continue  # "redis cache sits on kappa"
            names = {key: name for key, name in match.groupdict().items() if name and _can_name(name, tokens, key)}
            if len(names) == sum(value is not None for value in match.groupdict().values()):
                for key, name in names.items():
                    found.setdefault(name, _KINDS[key])
    wanted = {tag.lower() for tag in tags}
    for token in words & wanted:
        if token in tokens and is_rare(token, "en", 3.2):
            found.setdefault(token, "")
    return found


def _is_second(text: str, at: int) -> bool:
    """Whether a noun stands before a place: then what follows is not named by itself."""
    before = text[:at].rsplit(" ", 2)[-2:-1]
    word = before[0] if before else ""
    return word.isalpha() and word not in SMALL and word not in _CALENDAR and not word.endswith(("ly", "ed"))


def _found_person(tokens: list[str], at: int, found: dict[str, str]) -> None:
    name = tokens[at] if at < len(tokens) else ""
    if name[:1].isupper() and not name.isupper() and WORD.fullmatch(name) and name.lower() not in SMALL:
        found.setdefault(name.lower(), "person")


def _can_name(word: str, tokens: list[str], key: str) -> bool:
    """Whether a word that a template found is in lower case in the text and rare enough for its place."""
    return word in tokens and is_rare(word, "en", 4.2 if key in ("a", "b") else 4.0) and not is_given(word)


def _is_head(tokens: list[str], at: int) -> bool:
    """Whether a word is an ordinary one after another such: "home assistant" and "backup job" are named by both."""
    before = tokens[at - 1] if at else ""
    if not before.isalpha() or not before.islower() or before in SMALL or before.endswith("ly"):
        return False
    return min(zipf(before, "en"), zipf(tokens[at], "en")) > 3.5


def _name_at(tokens: list[str], at: int, *, given: bool = False) -> str:
    """The word in lower case at a place where a name stands, if it can be one; else an empty text.

    Where `given`, only a host can stand there: "runs on iris" is about no Iris.
    """
    if not 0 <= at < len(tokens):
        return ""
    token = tokens[at]
    if not token.islower() or token in _NO_NAMES or not WORD.fullmatch(token):
        return ""
    for back in range(at - 1, max(-1, at - 4), -1):
        if tokens[back].lower() in _DETERMINERS:
            return ""  # "the backup job"
        if not tokens[back].isalpha() or tokens[back] in PREPOSITIONS:
            break
    return token if len(token) > 2 and letter(token) not in "scdN" and (given or not is_given(token)) else ""


def rare_at(tokens: list[str], at: int, limit: float) -> str:
    """Give the word in lower case at a place if it can be a name and is rarer than a zipf frequency; else nothing.

    Examples
    --------
    >>> rare_at("moved immich to cedar".split(), 3, 4.2), rare_at("moved immich to the attic".split(), 4, 4.2)
    ('cedar', '')
    """
    name = _name_at(tokens, at)
    return name if name and is_rare(name, "en", limit) else ""


def lower_spans(tokens: list[str], known: Iterable[str], code: str) -> Iterator[int]:
    """Yield where names in lower case stand: known ones, and words that no language has."""
    wanted = set(known)
    for at, token in enumerate(tokens):
        if not token[0].isalpha() or not token.islower():
            continue
        word = token.replace("’", "'").removesuffix("'s")
        if word in wanted or (len(word) > 4 and letter(token) in "we" and is_unknown(word, code)):
            yield at


def is_unknown(word: str, code: str) -> bool:
    """Whether no language knows a word, nor what it is derived from: then it is a name even where it stands once."""
    if (
        not is_rare(word, code, 2.0)
        or is_common_anywhere(word)
        or re.search(r"(.)\1\1", word)
        or ("-" in word and code == "en")
    ):
        return False
    endings = ("ed", "ing", "er", "ers", "ly", "ish", "y", "ness", "able", "less", "d", "es")
    stems = [word.removesuffix(ending) for ending in endings if word.endswith(ending)]
    stems += [stem.removeprefix("re") for stem in (word, *stems) if stem.startswith("re")]  # "rehosted"
    if word.endswith("ed") and zipf(word.removesuffix("ed"), "en") > 1:
        return False  # "gets rsynced"
    if any(zipf(stem, "en") > 2.5 or zipf(stem + "e", "en") > 2.5 for stem in stems):
        return False
    if code in ("de", "nl"):
        return False
    # Two known words written together ("doorbell") are a word; the service names of that form recur or are introduced.
    return not any(zipf(word[:at], "en") > 3.3 and zipf(word[at:], "en") > 3.3 for at in range(3, len(word) - 2))
