"""Every relation of the world, and the chains that queries follow."""

from __future__ import annotations

from hopgate.demo.hosts import BOUGHT_FROM, CELLS, CONTACT, FED_BY, HOSTS, STANDS_IN
from hopgate.demo.people import DRINKS, LIVES_IN, LOOKED_AFTER_BY, MEMBER_OF, PEOPLE
from hopgate.demo.services import BACKS_UP_TO, CAUSED_BY, DEPENDS_ON, KEEPS, RUNS_ON, SERVICES
from hopgate.demo.work import BUILDS_WITH, FUNDED_BY, LICENSED_BY, NETWORK, WORK, WORKS_FROM
from hopgate.demo.world import WorldRelation

RELATIONS: tuple[WorldRelation, ...] = SERVICES + HOSTS + PEOPLE + WORK

CHAINS: tuple[tuple[WorldRelation, ...], ...] = (
    (RUNS_ON, STANDS_IN),
    (RUNS_ON, FED_BY),
    (RUNS_ON, BOUGHT_FROM),
    (FED_BY, CELLS),
    (BOUGHT_FROM, CONTACT),
    (BACKS_UP_TO, KEEPS),
    (DEPENDS_ON, RUNS_ON),
    (DEPENDS_ON, LOOKED_AFTER_BY),
    (LOOKED_AFTER_BY, LIVES_IN),
    (LOOKED_AFTER_BY, DRINKS),
    (LOOKED_AFTER_BY, MEMBER_OF),
    (MEMBER_OF, WORKS_FROM),
    (WORKS_FROM, NETWORK),
    (CAUSED_BY, LOOKED_AFTER_BY),
    (CAUSED_BY, RUNS_ON),
    (FUNDED_BY, DRINKS),
    (BUILDS_WITH, LICENSED_BY),
    (RUNS_ON, FED_BY, CELLS),
    (RUNS_ON, BOUGHT_FROM, CONTACT),
    (DEPENDS_ON, RUNS_ON, STANDS_IN),
    (DEPENDS_ON, LOOKED_AFTER_BY, MEMBER_OF),
    (LOOKED_AFTER_BY, MEMBER_OF, WORKS_FROM),
    (MEMBER_OF, WORKS_FROM, NETWORK),
    (CAUSED_BY, RUNS_ON, STANDS_IN),
    (CAUSED_BY, LOOKED_AFTER_BY, DRINKS),
    (CAUSED_BY, BACKS_UP_TO, KEEPS),
    (FUNDED_BY, MEMBER_OF, WORKS_FROM),
    (BUILDS_WITH, LICENSED_BY, CONTACT),
)
