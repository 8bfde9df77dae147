"""Which words are by their ending what somebody does, and so what one has one of: a fiddle teacher, no brother."""

from __future__ import annotations

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.subjects import KINSHIP
from hopgate.extract.rules.words import words

_AGENT = compiled(
    r"(?:\w{3}(?:er|or|ist|ant|ian)|coach|tech|nurse|vet|contact|gp|warden|captain|matron|clerk|chair|guide|cook|chef|"
    r"steward|secretary|president|landlady|landlord|boss|sponsor|vorsitzende|leitung)$"
)
# Of which one may have several, whatever their ending.
_SEVERAL = KINSHIP | words("neighbour neighbor partner customer member player supporter follower visitor")


def is_agent(role: str) -> bool:
    """Whether a role is what somebody does for somebody.

    Examples
    --------
    >>> is_agent("fiddle teacher"), is_agent("car"), is_agent("brother")
    (True, False, False)
    """
    return bool(_AGENT.search(role)) and role.rpartition(" ")[2] not in _SEVERAL
