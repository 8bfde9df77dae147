"""Relations of teams, offices, projects and tools."""

from __future__ import annotations

from hopgate.demo import world as w
from hopgate.demo.world import Group, WorldRelation

WORKS_FROM = WorldRelation(
    "works from",
    "team",
    "office",
    category="facilities",
    tags=("badges",),
    keywords=("seating",),
    groups=(Group(w.TEAMS, w.OFFICES, "work"),),
    phrases=(
        "Badge request went through, {s} desks are all in {o}.",
        "{s} shares a corridor in {o} with finance.",
        "Parcel for {s} must be addressed to the {o} reception.",
    ),
    nouns=("the office building of {x}", "the site occupied by {x}"),
    questions=("In which city is the office of {x}?", "What site is occupied by {x}?"),
)

NETWORK = WorldRelation(
    "has network",
    "office",
    "network",
    category="connectivity",
    tags=("ssid",),
    keywords=("captive",),
    groups=(Group(w.OFFICES, w.NETWORKS, "work"),),
    phrases=(
        "Guest wifi in {s} is called {o}.",
        "Laptop hopped onto {o} as soon as I arrived in {s}.",
        "Captive portal of {s} answers on ssid {o}.",
    ),
    nouns=("the wireless of {x}",),
    questions=("What wireless name should a visitor pick at {x}?", "How does a visitor get online at {x}?"),
)

FUNDED_BY = WorldRelation(
    "is funded by",
    "project",
    "person",
    category="budget",
    tags=("finance",),
    keywords=("costcentre",),
    groups=(Group(w.PROJECTS, w.PEOPLE[6:], "work"),),
    phrases=(
        "{s} is funded from {o}'s budget.",
        "{o} signed the cheque for {s}.",
        "Steering notes: {o} approved money for {s} again.",
    ),
    nouns=("the sponsor of {x}", "the backer of {x}"),
    questions=("Who is the sponsor of {x}?", "Who is the backer of {x}?"),
)

BUILDS_WITH = WorldRelation(
    "builds with",
    "project",
    "tool",
    category="decisions",
    tags=("pipelines", "adr"),
    keywords=("runners", "yaml"),
    groups=(Group(w.PROJECTS, w.TOOLS, "work"),),
    phrases=(
        "Decision: {s} adopts {o} for its pipelines.",
        "{s} pipelines are written for {o}.",
        "{s} went with {o}; the runners are cheap.",
    ),
    start_phrases=(
        "{s} adopted {o} on {d}.",
        "Decision of {d}: {s} starts out with {o}.",
    ),
    change_phrases=(
        "{s} dropped {p} for {o} on {d}.",
        "Decision of {d}: {s} replaces {p} by {o}, pipelines rewritten.",
        "{p} is retired in {s}; {o} from {d}.",
    ),
    late_phrases=("The ADR is late, but {s} replaced {p} by {o} on {d} already.",),
    asides=(
        "The vote was close.",
        "Plugins were the reason.",
        "Queue times halved.",
        "Docs updated.",
        "Few miss the old one.",
    ),
    nouns=("the CI system of {x}", "the automation tool chosen for {x}"),
    questions=("Which CI system compiles {x}?", "What automation tool was chosen for {x}?"),
    past_questions=("Which CI system compiled {x} on {d}?", "On {d}, what automation tool had {x} chosen?"),
    changing=6,
)

LICENSED_BY = WorldRelation(
    "is licensed by",
    "tool",
    "vendor",
    category="contracts",
    tags=("subscription",),
    keywords=("renewal", "seats"),
    groups=(Group(w.TOOLS, w.VENDORS, "work"),),
    phrases=(
        "Licences for {s} are billed through {o}.",
        "Subscription {s} renews in autumn, quote by {o}.",
        "{o} raised the seat price of {s} by eight percent.",
    ),
    nouns=("the supplier of {x}",),
    questions=("Who is the supplier of {x}?",),
)

WORK_RELATIONS = (WORKS_FROM, NETWORK, FUNDED_BY, BUILDS_WITH, LICENSED_BY)
