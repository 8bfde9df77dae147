"""Which capitals are grammar and which are names: the start of a sentence, German nouns, days and months."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from functools import lru_cache

from hopgate.extract.rules.german_cases import PARENTS
from hopgate.extract.rules.language_tables import GIVEN_NAMES, KIN, LANGUAGES, Language, is_compound, table, zipf
from hopgate.extract.rules.words import TITLES, words

# Sentences of a short text drop their articles ("Rack would be nicer"), so that a capital at their start says little;
# longer texts are prose.
TERSE = 60
# A word that is more frequent than this in its language is an ordinary one, where nothing else makes it a name: zipf,
# chosen on the tuning half of benchmarks/notes.
ORDINARY = 2.3
# "Long call with Ann" is no name though "Long Meadow" is one: zipf.
_EVERYDAY = 5.2
_BEFORE_START = frozenset('.¶":(->')
_SUFFIXES = ("ung", "ungen", "heit", "keit", "schaft", "tion", "tionen", "chen", "lein", "ität", "nis", "tum", "ling")
_TO_PLACES = frozenset(("in", "nach", "aus", "bei", "von", "an", "mit", "für"))
# A rarer word than this may be a name where it does what names do: zipf.
_SUBJECT = 4.4
_ADVERBS = frozenset(["now", "still", "also", "currently", "again", "already", "jetzt", "noch"])
# What somebody did to a thing opens a note: "Rebuilt Nextcloud on basalt".
_DOING = frozenset(
    form.split("_")[0]
    for name in ("moved", "installed", "replaced", "dropped", "handed")
    for form in table("verbs")[name].split()
)
_NAME_VERBS = words(
    """
    replaces reports hosts runs moved migrated lives works joined joins leads heads manages married owns says said
    told asked tourne habite travaille vive trabaja läuft draait woont werkt lavora abita gira wohnt arbeitet
    wants called came went loves hates sent brought knows thinks lived worked handed took left quit switched relocated
    started passed gave stepped retired replaced took tourne zog wechselte sits stands stays listens serves resides
    """
)
_NAME_PARTICIPLES = words(
    """
    led run owned headed managed hosted part been passé verhuisd married replaced migrated allergic moving living
    taken working employed assigned deployed installed responsible based moved hired gone down back friend friends
    """
)
_LIVING = frozenset(("wohnt", "wohnen", "wohne", "lebt", "leben", "zieht", "zog", "gezogen", "umgezogen", "verhuisd"))
_TO_TOWNS, _NO_TOWN = (
    frozenset(("in", "nach", "von", "aus")),
    frozenset(("hause", "haus", "ruhe", "frieden", "rente", "miete")),
)
_COMPANY = frozenset(("ag", "gmbh", "kg", "ohg", "se", "e.v.", "mbh"))
# What a firm, a club or a house is, before its name.
_FIRMS = (
    "verein", "verwaltung", "pflegedienst", "autohaus", "schule", "gymnasium", "praxis", "werkstatt", "bäckerei",
    "metzgerei", "klinik", "apotheke", "kanzlei", "gärtnerei", "kita", "kindergarten", "hotel", "gasthof", "gasthaus",
    "pension", "restaurant", "café", "stiftung", "tierheim", "altenheim", "seniorenheim", "schreinerei", "tischlerei",
    "druckerei", "brauerei", "konditorei", "zimmerei", "schlosserei", "buchhandlung", "agentur", "spedition",
    "krankenhaus", "sparkasse", "volksbank", "stadtwerke", "stadtwerken", "steuerbüro", "ingenieurbüro", "reisebüro",
)  # fmt: skip
_CLUBS = words("sv tsv tv fc sc vfb vfl vfr tus sg djk fsv asv esv bv tc mtv psv sgv spvgg ttc ssv hsv hsg ksv")
_RARE_NOUN = 3.5
_COUNTS = words("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf paar wenige")
_TIMES = words("vormittag mittag nachmittag abend nacht abende nächte vormittags nachmittags abends")
_STREETS = ("straße", "strasse", "gasse", "allee")
_ANY_STREET = words(
    "straße strasse gasse allee einbahnstraße sackgasse landstraße bundesstraße nebenstraße waschstraße spielstraße "
    "datenstraße rettungsgasse"
)
_SAID_OF = words("ist hat macht führt leitet übernimmt jetzt nun mehr sondern")
_DRIVES, _A = words("fahr fahre fahren fährt fuhr fährst"), words("einen eine ein den")
_BRANDS = words(table("brands")["names"])
_DRIVES_NOW = _DRIVES | words("jetzt nun")
_ORDINALS = words("ersten zweiten dritten vierten letzten nächsten")
_REMARKS = words(
    "todo fixme fyi btw asap eta wip tbd tba imo imho nb ps psa rip diy faq lol omg aka vm vms vps lxc pc pcs ram ssd "
    "hdd cpu api vpn ui db tv mot"
)
_REPLACING = words("ersetzt abgelöst umgestiegen gewechselt statt anstatt")
_THROUGH = frozenset(("durch", "statt", "anstatt"))
_WITH_NOUNS = words(
    "der die das den dem des ein eine einen einem einer mein meine meinen unser unsere unseren kein keine"
)
_TICKETS = words("ticket issue bug task incident case story epic")
# "Projekt Lotse von Jens Harms" are two names.
_HEADS = words("projekt team gruppe abteilung firma verein")
_LEADING = ("leiter", "leiterin", "leitung")
_WITHOUT_ARTICLE = words("bei zu in nach mit an ich wir")
_JOINING = frozenset(("am", "im", "zum", "zur"))


@lru_cache(maxsize=16384)
def plain(word: str) -> str:
    """Fold case and accents, and take off a genitive's s after an apostrophe.

    Examples
    --------
    >>> plain("Chloé's")
    'chloe'
    """
    lower = word.lower().replace("’", "'").removesuffix("'s")
    if lower.isascii():
        return lower
    folded = unicodedata.normalize("NFKD", lower)
    return "".join(character for character in folded if not unicodedata.combining(character))


def judged(tokens: list[str], lower: list[str], marks: str, code: str, known: Collection[str]) -> str:  # noqa: PLR0912
    """Give the letters of tokens again, with the capitals that are mere grammar as ordinary words.

    Parameters
    ----------
    known : collection of str
        Words, in lower case, that this or another memory shows to be names.

    Examples
    --------
    >>> from hopgate.extract.rules.tokenise import letter
    >>> tokens = "Loud fan . Lent Kasimir the stick .".split()
    >>> judged(tokens, [token.lower() for token in tokens], "".join(map(letter, tokens)), "en", ())
    'ww.wUtw.'
    """
    language = LANGUAGES[code]
    changed = list(marks)
    words, said = set(tokens), frozenset(lower)
    terse = len(tokens) < TERSE
    for at, mark in enumerate(marks):
        if mark not in "UPMqA":
            continue
        word = lower[at]
        if mark == "A":
            if word in _REMARKS:
                changed[at] = "w"
        elif word in language.days or (word[-1] == "s" and word[:-1] in language.days):
            changed[at] = "X"
        elif word in language.months:
            changed[at] = "M" if mark != "q" else mark
        elif mark == "q" and code == "de" and word in _JOINING and _between_names(changed, marks, at):
            changed[at] = "p"
        elif mark in "UP":
            if len(word) > 3 and word[1] in "'’" and word[0] in "ldcjmnst" and tokens[at][2].islower():
                changed[at] = "w"  # l'affitto: the capital is the article's
                continue
            if at > 1 and marks[at - 1] == ">" and changed[at - 2] in "UKA" and code != "de":
                continue  # "Aviva → Lemonade": what takes a name's place is one
            starts = not at or changed[at - 1] in _BEFORE_START or (at == 1 and marks[0] == "'")
            if code == "de":
                kept = _german(lower, said, changed, marks, at, known, starts)
            elif starts:
                kept = _opening(lower, marks, at, language, known, words, terse)
            else:  # English, French …: a capital inside a sentence is a name
                bare = word.replace("’", "'").removesuffix("'s") if "'" in word or "’" in word else word
                kept = bare not in language.function or marks[at + 1 : at + 2] in ("U", "P")
            if not kept or (word in _TICKETS and marks[at + 1 : at + 2] == "K"):
                changed[at] = "w"
    if code == "de" and ("zu" in lower or "von" in lower):
        for at, word in enumerate(lower):
            after = lower[at + 1].rstrip(".") if at + 1 < len(lower) else ""
            named = after in language.kin or is_given(after)  # "Nordlicht von Frau Albers", "E-Jugend von Ralf Huber"
            if word == "zu" or (word == "von" and ((at > 1 and lower[at - 2] in _HEADS) or named)):
                changed[at] = "s"
    if _JOINING & set(lower):
        for at in range(1, len(changed) - 1):
            if lower[at] in _JOINING and changed[at - 1] in "U" and changed[at + 1] == "U" and lower[at - 1] not in KIN:
                changed[at] = "p"
    return "".join(changed)


def is_given(word: str) -> bool:
    """Whether a word is a given name, also in a German genitive."""
    name = plain(word)
    return name in GIVEN_NAMES or (len(name) > 4 and name[-1] == "s" and name[:-1] in GIVEN_NAMES)


def is_person(name: str) -> bool:
    """Whether a name begins as a person's does: with a title, or with a given name.

    Examples
    --------
    >>> is_person("Frau Hinz"), is_person("Marcus Bell"), is_person("St Anne's Hall"), is_person("hall cupboard")
    (True, True, False, False)
    """
    first = name.partition(" ")[0]
    return first[:1].isupper() and (first.lower().rstrip(".") in TITLES or is_given(first))


def _opening(  # noqa: PLR0911
    lower: list[str],
    marks: str,
    at: int,
    language: Language,
    known: Collection[str],
    words: set[str],
    terse: bool,
) -> bool:
    """Whether the first word of a sentence in English, French … is a name: that needs more than its capital."""
    word = lower[at].replace("’", "'").removesuffix("'s")
    if word in language.openers or word in language.function or word in _DOING:
        return False
    follows = marks[at + 1 : at + 2]
    if is_given(word) or word in KIN:
        return True
    if follows and lower[at + 1].rstrip(".") in TITLES and word not in TITLES:
        return False  # "Luckily Mrs Niehaus has a key"
    if word in known and (zipf(word, "en") < _EVERYDAY or (follows and follows in "UPiKA&p:")):
        return True
    if word in words:
        return False
    if follows and follows in "UPiKA&p":
        return not (word.endswith(("ed", "ing")) and zipf(word, language.code) > 2.3)
    if word.endswith(("ing", "ed")) and follows != "P":
        return False
    if marks[at] == "P" or (not terse and not word.endswith("ly")):
        return True
    if zipf(word, language.code) < _SUBJECT and _does_what_names_do(lower, marks, at):
        return True
    return not word.endswith("ly") and max(zipf(word, language.code), zipf(word, "en")) < ORDINARY


def _does_what_names_do(lower: list[str], marks: str, at: int) -> bool:  # noqa: PLR0911
    """Whether what follows a word is said of people, projects and services: "is led by", "replaces", "is Bea's son"."""
    rest = [word for word in lower[at + 1 : at + 5] if word not in _ADVERBS]
    if not rest:
        return False
    if rest[0] in _NAME_VERBS or (rest[0] == "(" and rest[1:2] and rest[1] in _NAME_VERBS):
        return True
    if rest[0] in ("and", "und", "et", "y", "&", "instead") and marks[at + 2 : at + 3] in ("U", "o"):
        return zipf(lower[at], "en") < 3.9 and (rest[0] != "instead" or rest[1:2] == ["of"])
    if rest[0] == "," and rest[1:2] and rest[1] in ("who", "whose", "aka", "alias", "known"):
        return True
    if rest[0] not in ("is", "was", "are", "has", "est", "es", "è", "wird", "wurde"):
        return False
    if not _LIVING.isdisjoint(lower[at + 2 : at + 9]):
        return True
    if rest[1:2] in (["the"], ["a"], ["an"]) and "of" in lower[at + 3 : at + 6]:
        return True
    return (len(rest) > 1 and rest[1] in _NAME_PARTICIPLES) or "P" in marks[at + 2 : at + 4]


def _german(  # noqa: PLR0911, PLR0912
    lower: list[str],
    said: frozenset[str],
    changed: list[str],
    marks: str,
    at: int,
    known: Collection[str],
    starts: bool,
) -> bool:
    """Nouns have capitals in German: a name is a given or titled one, an unknown word, or stands where names do.

    `said` are the words of the whole text, which is as long as anybody likes.
    """
    word, language = lower[at], LANGUAGES["de"]
    if word in language.function or word in language.openers or word in _COUNTS or word in _TIMES:
        return False  # "Drei Abende hat das gedauert", "den ganzen Nachmittag Äste geschnitten"
    before = lower[at - 1] if at else ""
    if (
        is_given(word)
        or word in _BRANDS
        or before.rstrip(".") in language.kin
        or (word in known and zipf(word, "de") < _EVERYDAY)
    ):
        return True
    if word.removesuffix("'s") in PARENTS and (starts or before in ("bei", "für", "mit")):
        return True  # "Mutter wohnt in Celle": ours, without a word that says so
    if word.endswith(_STREETS) and word not in _ANY_STREET:
        return True
    if before in ("heißt", "namens") and not starts:
        return True
    follows = marks[at + 1 : at + 2]
    if word in language.kin:
        return follows in ("U", "P") or lower[at + 1 : at + 2] in (["dr."], ["dr"], ["prof."], ["prof"])
    frequency = zipf(word, "de")
    if frequency > 2 and follows and lower[at + 1].rstrip(".") in language.kin:
        return False  # "Zahnarzt Dr. Thiele"
    if lower[at + 1 : at + 2] and lower[at + 1] in _COMPANY:
        return True
    if before in ("der", "die") and at > 1 and lower[at - 2] in _SAID_OF and follows in ("", ".", ",", "¶"):
        # "Fachbetreuer ist der Krinner": no noun that anybody knows
        return frequency < 2 and not is_compound(word) and not word.endswith(_SUFFIXES)
    if frequency < _RARE_NOUN and before in _A and at > 1 and lower[at - 2] in _DRIVES_NOW:
        return not _DRIVES.isdisjoint(lower[max(0, at - 4) : at - 1])  # "ich fahre jetzt einen Fabia"
    if (
        starts
        and frequency < 2.5
        and lower[at + 1 : at + 2]
        and lower[at + 1] in _NAME_VERBS
        and not word.endswith(_SUFFIXES)
    ):
        return not is_compound(word) or frequency < 1 or zipf(word, "en") > 0  # Nextcloud
    if word == "haus" and follows == "U" and zipf(lower[at + 1], "de") < _RARE_NOUN:
        return True  # "im Haus Rosental"
    if at > 1 and lower[at - 2].rstrip(".") in language.kin and is_compound(word):
        return False  # "bei Herrn Baum Klavierunterricht"
    if before in _CLUBS:
        return True  # "SV Waldsee"
    if at and changed[at - 1] == "U" and not starts:
        return True  # "Praxis Külper": two nouns side by side are a name
    if word.endswith(_FIRMS) and follows == "U" and _is_rare_name(lower[at + 1]):
        return True  # "Pflegedienst Sonnenblick", but not "in der Schule Elternabend", "Praxis Termin"
    if before in _COUNTS or word in _ORDINALS:
        return False  # "zwei Wochen Langeoog", "jeden Ersten"
    if follows and follows in "UP" and (is_given(lower[at + 1]) or lower[at + 1] in known) and frequency > 2:
        return False  # "meine Tochter Thea": the noun is what she is
    if follows in ("U", "K") and not (frequency > 4 and before in ("den", "dem", "einen", "der", "die", "das")):
        return not is_compound(lower[at + 1]) and zipf(lower[at + 1], "de") < 4.3
    if before == "von" and at > 1 and lower[at - 2].endswith(_LEADING):
        return True  # "Leiterin von Nordlicht"
    rare = frequency < (3.3 if before in ("ich", "wir") else 2)
    if before in _WITHOUT_ARTICLE and not starts and rare and not word.endswith(_SUFFIXES):
        # "bei Nordbau": an ordinary noun has an article there
        return before in ("bei", "zu", "in", "nach") or not is_compound(word)
    if before in _TO_TOWNS and not starts and frequency < 5.6 and word not in _NO_TOWN and not _LIVING.isdisjoint(said):
        return not word.endswith(_SUFFIXES) or zipf(word, "en") > 2  # München
    if before in _TO_PLACES and not starts and frequency - zipf(word, "en") < 2.1 and not word.endswith(_SUFFIXES):
        return not is_compound(word) or zipf(word, "en") > 2
    english = zipf(word, "en")
    if (
        not _REPLACING.isdisjoint(said)
        and (before in language.function or before in _THROUGH)
        and before not in _WITH_NOUNS
        and not starts
        and not word.endswith(_SUFFIXES)
    ):
        return frequency - english < 2.1 and not is_compound(word)  # "durch Zulip ersetzt"
    if frequency < 3 and english < 3.2 and frequency - english < 0.6 and not word.endswith(_SUFFIXES):
        return not is_compound(word)  # as frequent in English: no German noun
    return frequency < 1.2 and not is_compound(word) and not word.endswith(_SUFFIXES)


def _is_rare_name(word: str) -> bool:
    return zipf(word, "de") < _RARE_NOUN and not word.endswith("abend") and not is_given(word)


def _between_names(changed: list[str], marks: str, at: int) -> bool:
    return 0 < at < len(marks) - 1 and marks[at - 1] == "U" and marks[at + 1] == "U" and changed[at - 1] == "U"
