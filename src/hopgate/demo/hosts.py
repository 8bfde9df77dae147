"""Relations of hosts: where they stand, what feeds them, who sold them."""

from __future__ import annotations

from hopgate.demo import world as w
from hopgate.demo.world import Group, WorldRelation

STANDS_IN = WorldRelation(
    "stands in",
    "host",
    "place",
    category="layout",
    tags=("floorplan", "furniture"),
    keywords=("whereabouts", "shelving"),
    groups=(Group(w.HOME_HOSTS, w.HOME_PLACES, "home"), Group(w.WORK_HOSTS, w.WORK_PLACES, "work")),
    phrases=(
        "{s} sits in the {o}.",
        "Tucked {s} away in the {o}, beside the paint tins.",
        "You can hear {s} humming from the {o}.",
        "{s} is bolted to the wall of the {o}.",
        "If {s} hangs and needs its button pressed: walk to the {o}.",
        "Shoved {s} on a plank in the {o} where the noise bothers nobody.",
        "The blinking lights in the {o} are {s}.",
        "{s} got a proper bracket in the {o}.",
        "There is dust all over {s}, as expected in the {o}.",
    ),
    asides=(
        "Mind the step.",
        "Bring a torch.",
        "Spiders included.",
        "Ventilation is poor.",
        "The padlock key hangs on the hook.",
        "Slightly damp, so check for rust.",
    ),
    nouns=("the spot of {x}",),
    questions=(
        "Which room do I have to visit to touch {x}?",
        "In what part of the property would I physically find {x}?",
        "Where must I go with a screwdriver to open {x}?",
    ),
)

FED_BY = WorldRelation(
    "is fed by",
    "host",
    "supply",
    category="electrics",
    tags=("wiring", "outlets"),
    keywords=("mains", "blackout"),
    groups=(Group(w.HOME_HOSTS, w.SUPPLIES[:3], "home"), Group(w.WORK_HOSTS, w.SUPPLIES[3:], "work")),
    phrases=(
        "{s} is plugged into {o}.",
        "{s} draws its current from {o}, second socket.",
        "{o} keeps {s} alive through blackouts.",
        "Wired {s} to {o} so that a brownout will not kill it.",
        "Labelled the cable between {o} and {s} with yellow tape.",
        "{s} hangs off {o}, roughly eighty watts.",
        "Traced the grey cord: {s} ends at {o}.",
    ),
    asides=(
        "Load is modest.",
        "Measured it with the clamp.",
        "Fuse is ten amps.",
        "Zip ties fitted.",
    ),
    nouns=("the UPS protecting {x}", "the backup unit shielding {x}"),
    questions=("What is the name of the UPS protecting {x}?", "Which backup unit shields {x} when the grid fails?"),
)

CELLS = WorldRelation(
    "takes cells",
    "supply",
    "cell kind",
    category="spares",
    tags=("consumables",),
    keywords=("terminals",),
    groups=(Group(w.SUPPLIES, w.CELLS),),
    phrases=(
        "{s} takes {o} blocks, twelve volts each.",
        "Ordered fresh {o} bricks for {s}, the swollen pair went to recycling.",
        "Unscrewed {s}: two {o} modules inside.",
        "Reminder for the next swap: {s} wants {o}.",
    ),
    nouns=("the battery chemistry of {x}",),
    questions=("What battery chemistry goes into {x}?", "Which type of battery do I buy to refurbish {x}?"),
)

BOUGHT_FROM = WorldRelation(
    "was bought from",
    "host",
    "vendor",
    category="purchases",
    tags=("receipts", "warranty"),
    keywords=("procurement", "expense"),
    groups=(Group(w.HOME_HOSTS + w.WORK_HOSTS, w.VENDORS),),
    phrases=(
        "Bought {s} second-hand from {o}, 310 euros including postage.",
        "{s} came out of a clearance at {o}.",
        "Warranty papers of {s} are with {o}, three years.",
        "Paid {o} for {s} by bank transfer, receipt scanned.",
        "{o} delivered {s} on a pallet, slightly scratched, ten percent rebate.",
    ),
    asides=(
        "Fans replaced.",
        "Rails included.",
        "Smells of smoke.",
        "Grade B, they said.",
        "Serial number photographed.",
    ),
    nouns=("the shop that sold us {x}", "the seller of {x}"),
    questions=("Which shop sold us {x}?", "Who was the seller of {x}?"),
    limit=12,
)

CONTACT = WorldRelation(
    "has contact",
    "vendor",
    "person",
    category="addressbook",
    tags=("rolodex",),
    keywords=("liaison",),
    groups=(Group(w.VENDORS, w.CONTACTS),),
    phrases=(
        "At {s}, ask for {o}; always quick to answer.",
        "{o} handles our account with {s}.",
        "Skip the hotline of {s}, {o} has a direct extension.",
        "Met {o} from {s} at the fair, left a business card.",
    ),
    nouns=("the representative of {x}",),
    questions=("Whom should I phone about a refund at {x}?", "Who is the right person to complain to at {x}?"),
)

HOST_RELATIONS = (STANDS_IN, FED_BY, CELLS, BOUGHT_FROM, CONTACT)
