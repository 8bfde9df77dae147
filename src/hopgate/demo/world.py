"""The names of the world, a homelab and a small company, and what a relation between them consists of."""

from __future__ import annotations

from dataclasses import dataclass

PEOPLE = (
    "Marta Kowal", "Marta Lindqvist", "Jonas Brandt", "Priya Raman", "Tomasz Wilk", "Aoife Brennan", "Diego Salas",
    "Hana Sato", "Lukas Meier", "Noor Haddad", "Elif Demir", "Pavel Novak", "Chiara Conti", "Samuel Okoro",
    "Ingrid Solheim", "Mateo Rios", "Yusuf Aydin", "Greta Vogel", "Rowena Blythe", "Felix Oduya", "Anneke Visser",
    "Viktor Lazar", "Jonas Achterberg", "Sunniva Moe",
)  # fmt: skip
"""Two Jonases and two Martas, so that a first name alone does not settle who is meant."""

HOME_SERVICES = (
    "Jellyfin", "Immich", "Nextcloud", "Vaultwarden", "Frigate", "Navidrome", "Miniflux", "Syncthing", "Mosquitto",
    "Homebridge", "Audiobookshelf", "Zigbee2mqtt", "Mealie", "Calibre",
)  # fmt: skip
WORK_SERVICES = (
    "Grafana", "Prometheus", "Gitea", "Keycloak", "Mattermost", "Sentry", "Metabase", "Airflow", "Loki", "Zammad",
    "Matomo", "Traefik", "Nexus", "Superset", "Vikunja", "Bookstack",
)  # fmt: skip
HOME_HOSTS = ("birch", "alder", "rowan", "hazel", "juniper", "sycamore", "hawthorn", "larch")
WORK_HOSTS = ("kestrel", "osprey", "merlin", "harrier", "plover", "curlew", "goshawk", "lapwing", "dunlin", "whimbrel")
HOME_PLACES = ("cellar", "attic", "hallway cupboard", "garage loft", "laundry corner", "summerhouse")
WORK_PLACES = ("comms closet", "basement cage", "mezzanine rack", "annex vault", "loading bay", "archive aisle")
SUPPLIES = ("Bertha", "Cosimo", "Dagny", "Edda", "Florian", "Humbert")
CELLS = ("lead gel", "lithium iron", "sealed acid", "nickel zinc", "absorbed glass", "sodium ion")
VENDORS = ("Kabelhaus", "Serverij", "Refurbo", "Datadepot", "Voltmarkt", "Chipwerk", "Rackista")
CONTACTS = (
    "Ottilie Krantz", "Bram Dekker", "Solveig Aas", "Piotr Mazur", "Imani Njeri", "Gaspard Leroux", "Wilma Tervo",
)  # fmt: skip
TEAMS = ("Lantern", "Quarry", "Tideline", "Cobalt", "Foxglove", "Meridian", "Sundial", "Ember")
OFFICES = ("Leiden", "Gdansk", "Porto", "Bergen", "Graz")
NETWORKS = ("tulip-lobby", "amber-quay", "azulejo-open", "fjord-welcome", "schlossberg-air")
TOWNS = ("Utrecht", "Ghent", "Lyon", "Malmo", "Turku", "Cork", "Trieste", "Aarhus", "Brno", "Leipzig", "Girona")
DRINKS = (
    "oolong", "rooibos", "flat whites", "tonic water", "ginger beer", "cold brew", "hot chocolate", "kombucha",
    "sencha", "apple cider", "mint lemonade",
)  # fmt: skip
VAULTS = ("tallow", "pewter", "vellum", "bramble", "gannet", "obsidian")
KEEPS = ("nine weeks", "forty days", "six months", "eleven weeks", "three years", "five fortnights")
PROJECTS = (
    "Marigold",
    "Saffron",
    "Thistle",
    "Anchorage",
    "Windmill",
    "Papercrane",
    "Longboat",
    "Cartwheel",
    "Hopscotch",
)
TOOLS = ("Jenkins", "Drone", "Woodpecker", "Buildkite", "Concourse", "Buildbot", "Tekton", "Semaphore")
ROLES = (
    "release manager", "data steward", "site reliability engineer", "product owner", "security champion",
    "principal architect", "support coordinator", "scrum facilitator",
)  # fmt: skip
INCIDENTS = tuple(f"INC-{number}" for number in (207, 211, 219, 224, 230, 238, 241, 256, 263, 268, 275, 282, 290, 301))


@dataclass(frozen=True, slots=True)
class Group:
    """Subjects that take their objects from the same names: what belongs to the home never runs at work."""

    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class WorldRelation:
    """A typed relation, with the phrases that memories state it in and the other words that queries ask for it in.

    The two sets of words are kept apart, and apart from those of every relation it is chained with, so that a
    multi-hop query can only be followed through the concepts. Slots: ``{s}`` subject, ``{o}`` object, ``{p}`` the
    object before, ``{d}`` the day of a change, ``{x}`` the subject or the noun phrase that leads to it.

    Parameters
    ----------
    phrases : tuple of str
        Sentences that state it without a day.
    start_phrases, change_phrases, late_phrases : tuple of str
        Sentences that state the day of the first object, a change on its day, and a change that was learned of later.
    asides : tuple of str
        Sentences that may follow, in words of this relation's own.
    nouns : tuple of str
        Noun phrases for the object, to put a query about it into a longer one.
    questions, past_questions : tuple of str
        Questions for the object today, and on a day.
    changing : int
        How many subjects see it change.
    limit : int, optional
        How many subjects of a group have it; all when None.
    """

    name: str
    subject_type: str
    object_type: str
    category: str
    tags: tuple[str, ...]
    keywords: tuple[str, ...]
    groups: tuple[Group, ...]
    phrases: tuple[str, ...]
    nouns: tuple[str, ...]
    questions: tuple[str, ...]
    start_phrases: tuple[str, ...] = ()
    change_phrases: tuple[str, ...] = ()
    late_phrases: tuple[str, ...] = ()
    past_questions: tuple[str, ...] = ()
    asides: tuple[str, ...] = ()
    changing: int = 0
    limit: int | None = None
    single_valued: bool = True
