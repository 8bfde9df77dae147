"""Where a sentence has a place for a service or a host: beside verbs of running and moving, without an article."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.tokenise import letter
from hopgate.extract.rules.words import words

_VERBS = {name: frozenset(form.split("_")[0] for form in forms.split()) for name, forms in table("verbs").items()}
_RUNNING = words(
    "runs run ran running served hosted deployed installed läuft laufen lief draait draaien tourne tournent corre gira "
    "hosts"
)
_MOVING = _VERBS["moved"] | words(
    "move migrate moves shift went goes gone took take taken migration umzug changed home migriert rebuilt"
)
_PLACING = (
    _VERBS["installed"]
    | _MOVING
    | _RUNNING
    | words(
        "lives sits stays live liegt liegen ligt lebt living sitting putting settled landed ended resides served "
        "rehosted moving migrating setting bringing reachable available found accessible listening serving getting"
    )
)
_ON = words("on onto off auf op sur @")
_TO = words("to from von nach naar van onto off over into")
_BE = words("is are now been jetzt ist sind nu est back up live")
_STATE = _BE | words("isn't isn’t longer but sondern mehr only still also again")
_CHANGED = words("now been")
_BY = frozenset(("from", "by"))
_GOT = words("got took finally pulled kicked")
_IT_IS = frozenset(("it's", "it’s"))
_UP = words("up back live installed")
_LEAVES = words("went goes gone")  # "went on holiday"
_LINKS = words(
    "isn't isn’t jetzt nun nu nach auf is are was has now : lives runs sits moved stays läuft draait tourne ist "
    "wurde still also went -> →"
)
_AND = words("and und en et y e &")
_CLOSING = _PLACING | _LINKS | words("next last this instead these soon mit und statt seit sinds depuis")
_HEADS = words("home host server node machine vm box hostname nas pi vps")
# "host name pelican", "new host: viper", "server = titan".
_HEAD_IS = words(": is = -> →")
MACHINES = _HEADS | words("nuc laptop computer pc rechner server raspberry desktop container")
"""Words for what has a host name."""
_SIZES = words("new old little small big neuen alten kleinen")
_BEFORE_HEADS = words("on onto auf op sur su the de le dem")
# What a name in lower case with a hyphen ends in when it is software: billing-api, search-index.
_SOFTWARE = words(
    """
    api web service svc gateway db index worker app server proxy bot ui backend frontend client sdk cli queue
    pipeline operator
    database website site wiki blog dashboard
    controller daemon agent cluster bucket exporter scheduler nas pi nuc vm box node srv host router
    """
)
_REPLACED = words("replaced replaces replacing supersedes superseded ersetzt vervangt")
_END = frozenset(".¶;")
_OPEN = frozenset("weUcP")
WINDOW = 9
"""A verb tells of places at most so many words away."""

Word = Callable[[list[str], int, float], str]


def placed(tokens: list[str], lower: list[str], name_at: Word) -> Iterator[tuple[str, str]]:
    """Yield words in lower case that stand where a service or a host is named, and which of the two.

    Parameters
    ----------
    name_at : callable
        Gives the word at a place if it can be a name and is rarer than a zipf frequency, else an empty text.

    Examples
    --------
    >>> from hopgate.extract.rules.lower_names import rare_at
    >>> tokens = "shifted frigate off larch and onto rowan .".split()
    >>> sorted(placed(tokens, tokens, rare_at))
    [('frigate', 'service'), ('larch', 'host'), ('rowan', 'host')]
    """
    start = 0
    for at in range(len(tokens) + 1):
        if at == len(tokens) or letter(tokens[at]) in _END:
            if at - start > 2:
                yield from _sentence(tokens, lower, start, at, name_at)
            start = at + 1


def _sentence(  # noqa: PLR0912 - one place after another
    tokens: list[str], lower: list[str], start: int, end: int, name_at: Word
) -> Iterator[tuple[str, str]]:
    verbs = [at for at in range(start, end) if lower[at] in _PLACING]
    moving = any(lower[at] in _MOVING for at in verbs)
    hosts = False
    links = not _LINKS.isdisjoint(lower[start + 1 : start + 3])
    opening = name_at(tokens, start, 4.0 if lower[start + 1] in _LINKS else 2.8) if links else ""
    for at in range(start, end - 1):
        word = lower[at]
        if word in _REPLACED:
            yield from _replaced(tokens, at, name_at)
        if word in _HEADS and lower[at + 1] in ("for", "of") and (service := name_at(tokens, at + 2, 4.0)):
            yield service, "service"
            place = next((k for k in range(at + 3, min(at + 6, end)) if lower[k] not in _LINKS), end)
            if host := name_at(tokens, place, 4.2):
                yield host, "host"
        named = at > start and word in _HEADS and lower[at - 1 - (lower[at - 1] in _SIZES)] in _BEFORE_HEADS
        if named and closed(tokens, at + 2, end) and (name := name_at(tokens, at + 1, 4.2)):
            yield name, "host"  # "on host jade"
        if word in _HEADS and (name := _after_head(tokens, lower, at, end, name_at)):
            hosts = hosts or lower[at + 1] == "="
            yield name, "host"
        if not (word in _ON or (moving and word in _TO) or (word in _BY and lower[at - 1] == "served")) or (
            word == "on" and at and lower[at - 1] in _LEAVES
        ):
            continue
        near = (
            any(abs(verb - at) <= WINDOW for verb in verbs)
            or (at > start and lower[at - 1] in (_STATE if opening else _CHANGED) and (opening or lower[start] == "it"))
            or (at > start and not _IT_IS.isdisjoint(lower[max(start, at - 4) : at]))
            or (word == "off" and lower[start] in _GOT)
            or word == "@"
            or (at == start + 2 and lower[at - 1] == ":" and word in _ON)
            or (at > start + 1 and lower[at - 1] in _BE and not _SOFTWARE.isdisjoint(lower[start:at]))
        )
        if near and closed(tokens, at + 2, end) and (name := name_at(tokens, at + 1, 4.2)):
            hosts = True
            yield name, "host"
    # "dozzle on mulberry", "dozzle up on mulberry"
    on = start + 1 + (lower[start + 1] in _UP)
    if on + 1 < end and lower[on] in _ON and closed(tokens, on + 2, end) and not hosts:
        service, host = name_at(tokens, start, 2.0), name_at(tokens, on + 1, 4.2)
        if service and host:
            yield from ((service, "service"), (host, "host"))
    if not hosts:
        return
    if opening:
        yield opening, "service"
    for verb in verbs:
        # "run loki and tempo", "installed jellyfin", "shifted frigate".
        at = verb + 1 + (verb + 1 < end and lower[verb + 1] in ("up", "over", "out"))
        while at < end and (name := name_at(tokens, at, 4.2)) and lower[at] not in _ON | _TO:
            yield name, "service"
            at += 2 if at + 1 < end and lower[at + 1] in _AND | {","} else end


def _after_head(tokens: list[str], lower: list[str], at: int, end: int, name_at: Word) -> str:
    """The host that a word for one is followed by: "server is jade", "new host jade", "host name jade"."""
    if lower[at + 1] in _HEAD_IS:
        return name_at(tokens, at + 2, 4.2)
    if at + 2 < end and lower[at + 1] in ("name", "called", "named", "namens") and closed(tokens, at + 3, end):
        return name_at(tokens, at + 2, 4.5)
    if at + 2 < end and lower[at - 1] == "new" and lower[at + 1] == ",":
        return name_at(tokens, at + 2, 4.2)
    if not at or lower[at - 1] not in ("new", ":") or not closed(tokens, at + 2, end):
        return ""
    return name_at(tokens, at + 1, 4.2)


def _replaced(tokens: list[str], at: int, name_at: Word) -> Iterator[tuple[str, str]]:
    """The two sides of "caddy replaced nginx", where one of them is no ordinary word."""
    ends = (at - 1, at + 1)
    names = [name_at(tokens, end, 4.0) for end in ends]
    if all(names) and any(name_at(tokens, end, 2.5) for end in ends):
        yield from ((name, "") for name in names)


def closed(tokens: list[str], at: int, end: int) -> bool:
    """Whether a word before `at` ends its phrase: "on backup duty" names no host.

    Examples
    --------
    >>> closed("runs on backup duty".split(), 3, 4), closed("runs on cedar again".split(), 3, 4)
    (False, True)
    """
    return at >= end or letter(tokens[at]) not in _OPEN or tokens[at] in _CLOSING


_PLACE_BEFORE = words("on onto to into over for from off @ auf op sur su naar nach -> → => ➜ , node host server box")
_LEFT = words("left swapped traded exchanged quit leaves")
_HOLDS = words("is has hosts took takes runs serves does it got gets now")


def beside_known(tokens: list[str], lower: list[str], name_at: Word) -> Iterator[str]:
    """Yield words that stand where a host may be named, in a memory that names a service or a host already.

    Examples
    --------
    >>> from hopgate.extract.rules.lower_names import rare_at
    >>> tokens = "otter is where forgejo lives , beaver handed it to taiga .".split()
    >>> list(beside_known(tokens, tokens, rare_at))
    ['otter', 'taiga']
    """
    start = True
    for at, token in enumerate(tokens):
        opens, start = start, token in _SENTENCE_ENDS
        before = lower[at - 1] if at else ""
        follows = lower[at + 1] if at + 1 < len(lower) else "."
        if opens and follows in _HOLDS:
            limit = 3.8
        elif before in _PLACE_BEFORE and (before != "," or follows in _HOLDS) and closed(tokens, at + 1, len(tokens)):
            if before == "for" and lower[max(0, at - 3)] not in _LEFT and lower[max(0, at - 4)] not in _LEFT:
                continue  # "linkding for bookmarks"; "left lynx for caracal"
            limit = 3.8 if before == "," else 4.2
        else:
            continue
        if name := name_at(tokens, at, limit):
            yield name


_SENTENCE_ENDS = frozenset((".", "!", "?", ";", "\n", ":", "–", "-", "("))


def compounds(tokens: list[str]) -> Iterator[str]:
    """Yield the names of software that a hyphen makes: billing-api."""
    joined = [at for at, token in enumerate(tokens) if "-" in token]
    for at in joined:
        token = tokens[at]
        named = token.islower() and token.rpartition("-")[2] in _SOFTWARE
        if named and (not at or tokens[at - 1].lower() not in ("a", "an", "some", "any")):
            yield token
