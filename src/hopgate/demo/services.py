"""Relations of services: where they run, what they need, where they are backed up, what they broke."""

from __future__ import annotations

from hopgate.demo import world as w
from hopgate.demo.world import Group, WorldRelation

RUNS_ON = WorldRelation(
    "runs on",
    "service",
    "host",
    category="deployments",
    tags=("docker", "compose", "selfhosted"),
    keywords=("orchestration", "podman", "workload"),
    groups=(Group(w.HOME_SERVICES, w.HOME_HOSTS, "home"), Group(w.WORK_SERVICES, w.WORK_HOSTS, "work")),
    phrases=(
        "{s} runs on {o} in its own container.",
        "Deployed {s} to {o} this evening; the compose file is in git.",
        "{s} is hosted on {o}.",
        "Spun up a fresh {s} instance on {o}, no surprises.",
        "Installed {s} on {o}. Docker image pinned, volumes mounted.",
        "For the record: {o} is where {s} is deployed.",
        "{o} has {s} in a container, as a systemd unit.",
        "Put {s} on {o} because it had memory to spare.",
        "Gave {s} a home of its own on {o}; it idles happily.",
        "Note to self, {s} = container on {o}.",
    ),
    start_phrases=(
        "Since {d} {s} runs on {o}.",
        "{s} went live on {o} on {d}.",
        "First deploy of {s}: {o}, {d}.",
    ),
    change_phrases=(
        "Moved {s} from {p} over to {o} on {d}.",
        "As of {d}, {s} is deployed on {o} instead of {p}.",
        "Migration done: {s} left {p} and runs on {o} from {d}.",
        "{o} took over {s} on {d}; its containers on {p} are gone.",
        "{d}: {s} migrated, {p} -> {o}. Volumes copied with rsync.",
    ),
    late_phrases=(
        "Turns out {s} had been migrated to {o} on {d} already and it went unrecorded.",
        "Only found out today: {s} runs on {o}, and has from {d}, not on {p}.",
        "Correcting my notes, {s} was moved off {p} to {o} on {d}.",
    ),
    asides=(
        "Took most of a weekend.",
        "Traffic looks fine.",
        "Rollback image pushed to the registry.",
        "Volumes are encrypted.",
        "Had to bump the ulimit.",
        "Tagged the commit.",
        "Watch its CPU for a bit.",
        "Ping works.",
        "No downtime.",
        "Reverse proxy updated as well.",
    ),
    nouns=("the machine behind {x}", "the server that powers {x}", "the box underneath {x}"),
    questions=(
        "What machine is behind {x}?",
        "Which server powers {x}?",
        "Which box would I log into to restart {x}?",
    ),
    past_questions=(
        "What machine was behind {x} on {d}?",
        "On {d}, which server powered {x}?",
        "Which box was underneath {x} back on {d}?",
    ),
    changing=14,
)

DEPENDS_ON = WorldRelation(
    "depends on",
    "service",
    "service",
    category="architecture",
    tags=("coupling",),
    keywords=("prerequisite", "upstream"),
    groups=(Group(w.HOME_SERVICES, w.HOME_SERVICES, "home"), Group(w.WORK_SERVICES, w.WORK_SERVICES, "work")),
    phrases=(
        "{s} refuses to start without {o}.",
        "{s} depends on {o} for everything it shows.",
        "When {o} goes, {s} follows within seconds.",
        "Boot order matters: {o} before {s}.",
    ),
    asides=(
        "Learned the hard way.",
        "Drew a diagram.",
        "Health check added.",
    ),
    nouns=("whatever {x} cannot do without", "the thing {x} relies upon"),
    questions=("What does {x} rely upon?",),
    limit=6,
    single_valued=False,
)

BACKS_UP_TO = WorldRelation(
    "backs up to",
    "service",
    "vault",
    category="recovery",
    tags=("restic", "borg"),
    keywords=("dump", "restore"),
    groups=(Group(w.HOME_SERVICES[:8], w.VAULTS[:3], "home"), Group(w.WORK_SERVICES[:9], w.VAULTS[3:], "work")),
    phrases=(
        "{s} snapshots land on {o} every night.",
        "Restic carries {s} to {o} while everyone sleeps.",
        "Tested a restore of {s} out of {o}, all rows present.",
        "Nightly borg job for {s} writes into {o}.",
    ),
    start_phrases=(
        "Since {d} the {s} snapshots land on {o}.",
        "Nightly borg job {s} -> {o} is active, started {d}.",
    ),
    change_phrases=(
        "From {d} the nightly dumps of {s} go to {o}, {p} was full.",
        "Snapshots of {s} switched from {p} to {o} on {d}.",
    ),
    late_phrases=("Noticed that {s} snapshots have gone to {o} from {d}; {p} has only stale dumps.",),
    asides=(
        "Deduplicates nicely.",
        "Checksums verified.",
        "Twelve gigabytes.",
        "Mails me on failure.",
    ),
    nouns=("the store holding copies of {x}", "the archive for copies of {x}"),
    questions=("Where are copies of {x} saved?",),
    past_questions=("Where were copies of {x} being saved on {d}?",),
    changing=4,
)

KEEPS = WorldRelation(
    "keeps for",
    "vault",
    "duration",
    category="housekeeping",
    tags=("pruning",),
    keywords=("expiry",),
    groups=(Group(w.VAULTS, w.KEEPS),),
    phrases=(
        "{s} forgets anything older than {o}.",
        "Pruning on {s} is set to {o}.",
        "Expiry for {s}: {o}, agreed with legal.",
    ),
    nouns=("the retention of {x}",),
    questions=("How long is data retained in {x}?", "After what period is something erased from {x}?"),
)

CAUSED_BY = WorldRelation(
    "was caused by",
    "incident",
    "service",
    category="postmortems",
    tags=("rootcause",),
    keywords=("regression", "timeline"),
    groups=(Group(w.INCIDENTS[:6], w.HOME_SERVICES, "home"), Group(w.INCIDENTS[6:], w.WORK_SERVICES, "work")),
    phrases=(
        "{s}: root cause was {o} filling a disk with logs.",
        "Postmortem {s}: {o} leaked until the kernel killed it.",
        "{s} traced to {o}, an expired certificate again.",
        "{s} closed. {o} looped on a bad config reload.",
        "Summarised {s}: {o} hammered the database with retries.",
        "Report on {s} names {o}: a cron entry ran twice.",
    ),
    asides=(
        "Fifty minutes of red graphs.",
        "No customer complained.",
        "The alert fired late.",
        "Blameless, as usual.",
        "Action items assigned.",
        "Seen before, sadly.",
    ),
    nouns=("the culprit of {x}", "what broke in {x}"),
    questions=("What was the culprit of {x}?", "What broke in {x}?"),
)

SERVICE_RELATIONS = (RUNS_ON, DEPENDS_ON, BACKS_UP_TO, KEEPS, CAUSED_BY)
