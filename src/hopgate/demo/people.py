"""Relations of people: what they look after, where they belong and live, what they drink."""

from __future__ import annotations

from hopgate.demo import world as w
from hopgate.demo.world import Group, WorldRelation

LOOKED_AFTER_BY = WorldRelation(
    "is looked after by",
    "service",
    "person",
    category="ownership",
    tags=("oncall", "handover"),
    keywords=("pager", "escalation"),
    groups=(Group(w.HOME_SERVICES, w.PEOPLE[:6], "home"), Group(w.WORK_SERVICES, w.PEOPLE[6:], "work")),
    phrases=(
        "{o} looks after {s}.",
        "{s} is {o}'s baby.",
        "Pages about {s} go to {o}.",
        "{o} agreed to do the {s} upgrades.",
        "Questions on {s}? {o} wrote the runbook.",
        "Nobody touches {s} before asking {o}.",
        "Wake {o} when {s} is down.",
        "{s}? Ping {o}, nobody else knows its quirks.",
    ),
    start_phrases=(
        "{o} looks after {s} since {d}.",
        "On {d} {o} volunteered to look after {s}.",
        "{d}: {o} becomes the one who knows {s}.",
    ),
    change_phrases=(
        "From {d} {o} looks after {s}; {p} handed it over.",
        "Handover finished on {d}: {s} passes from {p} to {o}.",
        "{o} inherited {s} on {d}, {p} has too much on the plate.",
    ),
    late_phrases=(
        "Apparently {o} looks after {s} from {d} on, and I kept paging {p}.",
        "Missed the announcement: {s} was handed from {p} to {o} on {d}.",
    ),
    asides=(
        "Shook hands on it.",
        "Updated the spreadsheet.",
        "Evenings excluded.",
        "Link in the channel topic.",
        "Took some persuading.",
        "Vacation cover to be arranged.",
        "Good choice.",
    ),
    nouns=("the person responsible for {x}", "the maintainer of {x}"),
    questions=("Who is responsible for {x}?", "Who is the maintainer of {x}?"),
    past_questions=("Who was responsible for {x} on {d}?", "On {d}, who was the maintainer of {x}?"),
    changing=8,
)

MEMBER_OF = WorldRelation(
    "is a member of",
    "person",
    "team",
    category="orgchart",
    tags=("colleagues", "hiring"),
    keywords=("headcount", "reorg"),
    groups=(Group(w.PEOPLE, w.TEAMS, "work"),),
    phrases=(
        "{s} is with {o}.",
        "{s} joined {o}, warm welcome at standup.",
        "Saw {s} listed under {o} in the orgchart.",
        "{o} grew by one colleague: {s}.",
        "Lunch with {s}, very happy in {o}.",
        "{s} wears the {o} hoodie, so that is settled.",
        "Quick intro call, {s} does planning for {o}.",
    ),
    start_phrases=(
        "{s} joined {o} on {d}.",
        "Welcome drinks on {d}: {s} is the latest hire of {o}.",
    ),
    change_phrases=(
        "{s} transferred from {p} to {o} on {d}.",
        "Reorg: effective {d} {s} is in {o} and out of {p}.",
    ),
    late_phrases=("Heard by chance that {s} transferred to {o} on {d}; the wiki kept saying {p}.",),
    asides=(
        "HR confirmed.",
        "Fits well.",
        "Probation is over.",
        "Chat profile says so too.",
        "Short notice.",
    ),
    nouns=("the team of {x}", "the squad that employs {x}"),
    questions=("Which team does {x} belong to?", "What squad is {x} part of?"),
    past_questions=("Which team did {x} belong to on {d}?", "What squad was {x} part of on {d}?"),
    changing=5,
)

LIVES_IN = WorldRelation(
    "lives in",
    "person",
    "town",
    category="friends",
    tags=("address",),
    keywords=("moving", "flat"),
    groups=(Group(w.PEOPLE, w.TOWNS),),
    phrases=(
        "{s} has a flat in {o}.",
        "{s} lives in {o}, ten minutes from the canal.",
        "Sent the birthday parcel for {s} to {o}.",
        "Train tickets to {o} booked, staying at {s}'s place.",
        "{s} raised the kids in {o} and would not leave it.",
        "Weekend trip to {o}, cooked at {s}'s.",
    ),
    start_phrases=(
        "{s} lives in {o} since {d}.",
        "{s} got the keys to a flat in {o} on {d}.",
    ),
    change_phrases=(
        "{s} relocated from {p} to {o} on {d}.",
        "New address: {s} lives in {o} from {d}, the flat in {p} is let.",
    ),
    late_phrases=("A postcard says {s} relocated to {o} on {d}. I had still written to {p}.",),
    asides=(
        "Balcony faces south.",
        "Rent is mad there.",
        "The dog loves it.",
        "Lovely bakery around the corner.",
        "Doorbell is broken.",
        "Third floor, no lift.",
    ),
    nouns=("the home town of {x}",),
    questions=("What is the home town of {x}?", "In which city does {x} reside?"),
    past_questions=("In which city did {x} reside on {d}?", "What was the home town of {x} on {d}?"),
    changing=5,
    limit=15,
)

DRINKS = WorldRelation(
    "drinks",
    "person",
    "drink",
    category="hospitality",
    tags=("kitchen",),
    keywords=("groceries",),
    groups=(Group(w.PEOPLE, w.DRINKS),),
    phrases=(
        "{s} only drinks {o}.",
        "Get {o} in when {s} comes by.",
        "{s} swears by {o}, never coffee.",
        "Ran out of {o} and {s} noticed at once.",
    ),
    asides=(
        "With ice.",
        "Strong opinions about it.",
        "Two crates are in the pantry.",
    ),
    nouns=("the favourite of {x}",),
    questions=("What beverage should I offer {x}?", "What would please {x} as a refreshment?"),
    limit=13,
)

ROLE = WorldRelation(
    "has the role",
    "person",
    "role",
    category="careers",
    tags=("promotion",),
    keywords=("title",),
    groups=(Group(w.PEOPLE[6:16], w.ROLES, "work"),),
    phrases=("{s} introduced themself as {o}.", "{s} signs mails as {o}.", "The org page lists {s} as {o}."),
    start_phrases=(
        "{s} began as {o} on {d}.",
        "{s} is {o} since {d}.",
    ),
    change_phrases=(
        "{s} was promoted to {o} on {d}, after years as {p}.",
        "Congratulations sent: {s} became {o} on {d}. No more {p}.",
    ),
    late_phrases=("Embarrassing, {s} became {o} on {d} and I still introduced them as {p}.",),
    asides=(
        "Sent a card.",
        "Well deserved.",
        "The signature block confirms it.",
    ),
    nouns=("the occupation of {x}",),
    questions=("What is the occupation of {x}?", "What job does {x} do?"),
    past_questions=("What job did {x} do on {d}?",),
    changing=5,
)

PEOPLE_RELATIONS = (LOOKED_AFTER_BY, MEMBER_OF, LIVES_IN, DRINKS, ROLE)
