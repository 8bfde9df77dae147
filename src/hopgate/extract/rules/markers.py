"""What the markers of a pattern in `tables/facts.toml`, `(?P<host>)` or `(?P<room>)`, ask of the names it joins."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hopgate.extract.rules.places import is_address, is_room
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.subjects import KINSHIP
from hopgate.extract.rules.towns import is_firm, is_town
from hopgate.extract.rules.words import words

_Ask = Callable[[str, str, Referents], bool]
# "train: Leeds -> York" is a journey; "chat: Slack -> Zulip" is none.
_NO_SWAP = words("train flight bus route trip drive way call mail letter plan todo idea ferry ride tour reise")

# One leaves these without ever having worked there.
_VISITED = (
    "hospital",
    "clinic",
    "school",
    "klinik",
    "krankenhaus",
    "schule",
    "library",
    "museum",
    "hotel",
    "restaurant",
)

_ASKED: dict[str, _Ask] = {
    "host": lambda _, target, who: who.is_host(target),
    "service": lambda subject, target, who: who.is_service(subject) and who.kind(target) == "host",
    # Any verb may stand between the two, so that they must not look like anything but a service and its host.
    "free": lambda subject, target, who: (
        not (subject.isupper() or who.kind(subject) == "host" or who.is_service(target))
    ),
    "title": lambda subject, _, who: who.is_service(subject),
    "joblike": lambda _, target, who: who.kind(target) == "organisation" or who.speaks_of_work(),
    "firm": lambda _, target, who: (
        not (is_town(target) or target.lower().endswith(_VISITED))
        and (is_firm(target) or who.kind(target) == "organisation")
    ),
    "room": lambda _, target, __: is_room(target) or is_address(target),
    "machine": lambda _, target, who: who.is_host(target) and not who.is_service(target),
    "kin": lambda subject, _, __: subject in KINSHIP,
    "spot": lambda _, target, who: not (who.is_person(target) or who.is_host(target)),
    "ticket": lambda subject, target, who: subject.isupper() and subject[-1].isdigit() and who.may_be_person(target),
    "home": lambda subject, _, who: who.may_be_person(subject),
    "person": lambda subject, _, who: who.is_person(subject) or who.is_owner(subject),
}


def meet(groups: Mapping[str, str | None], subject: str, target: str, who: Referents) -> bool:
    """Whether two names are what a pattern's markers ask for.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> source = Source("m1", Cleared("immich runs on cedar"))
    >>> who = Referents(read(source), source)
    >>> meet({"host": ""}, "immich", "cedar", who), meet({"room": ""}, "immich", "cedar", who)
    (True, False)
    """
    if "noun" in groups and not _is_swap(groups["noun"] or "", (subject, target), who):
        return False
    return all(_ASKED[marker](subject, target, who) for marker in _ASKED.keys() & groups.keys())


def _is_swap(noun: str, ends: tuple[str, str], who: Referents) -> bool:
    """Whether "chat: Slack -> Zulip" tells of one thing in another's place, and not of a journey, a host or a plan."""
    elsewhere = any(who.is_person(end) or who.is_host(end) or is_room(end) or who.kind(end) == "place" for end in ends)
    return not elsewhere and ends[1][:1].isupper() and _NO_SWAP.isdisjoint(noun.split())
