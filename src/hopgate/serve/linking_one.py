"""One new memory embedded and linked, with whatever else waits; who is bound to scopes learns nothing of that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hopgate.errors import HopgateError
from hopgate.serve.problems import RefusedError

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.store.memories import Written
    from hopgate.upkeep import CaughtUp


def caught_up(kb: KnowledgeBase, key: str, written: Written, *, bound: bool) -> CaughtUp:
    """Embed and link a memory that was just written.

    Parameters
    ----------
    bound : bool
        Whether who asks may know of some scopes alone: then what waits in others is not counted, and an error that may
        be about one of them is not told.
    """
    try:
        done = kb.upkeep.catch_up([key])
    except HopgateError:
        if not bound:
            raise
        raise RefusedError(
            503, "it is stored and waits to be embedded and linked: who runs this server learns why from hopgate embed"
        ) from None
    if not bound:
        return done
    known = kb.get(key)
    new = bool(written.added or written.changed) and known is not None and not known.is_sensitive
    return replace(done, embedded=min(done.embedded, int(new)), linked=min(done.linked, 1))
