"""A store within its bounds: what whoever asks, by HTTP or as an assistant, may see and do; the values of requests."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from fastapi import Depends, Query, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from hopgate.errors import HopgateError, TakenError, UnknownMemoryError
from hopgate.memory import MAX_KEY_BYTES, YEARS
from hopgate.serve.middleware import BEARER, RefusedError
from hopgate.store.where import Conditions, read_conditions
from hopgate.times import utc
from hopgate.upkeep import CaughtUp

if TYPE_CHECKING:
    from hopgate.guard import SensitivityRules
    from hopgate.kb import KnowledgeBase
    from hopgate.memory import Memory
    from hopgate.options import Option
    from hopgate.serve.settings import Bounds
    from hopgate.store.memories import Written

# A rule of sensitivity that is added holds after so many seconds at the latest: requests ask for them all the time.
RULES_KEPT_S = 1.0
READ_ONLY = "this server is read-only: start hopgate serve without --read-only to change the store"
STILL_MARKED = (
    "to take the mark away would show its text: start hopgate serve with --show-sensitive, or use the command hopgate "
    "sensitive --undo"
)


class BoundStore:
    """A store as whoever asks may see it, by HTTP or as an assistant; who opened it closes it.

    Where it hides what is sensitive, such memories are not there at all unless the bounds show their texts.
    """

    def __init__(self, kb: KnowledgeBase, bounds: Bounds, *, hides_sensitive: bool = False) -> None:
        self.kb, self.bounds, self.bound = kb, bounds, bounds.scopes
        self._hides = hides_sensitive and not bounds.show_sensitive
        self._lock = threading.Lock()
        self._rules: SensitivityRules | None = None
        self._rules_read_at = 0.0

    def allowed_scopes(self, asked: str | Sequence[str] | None = None) -> list[str] | None:
        """Give the scopes of a request: those that were asked for, within those that are bound; None for all."""
        wanted = [asked] if isinstance(asked, str) else list(asked) if asked else None
        if self.bound is None or wanted is None:
            return wanted if self.bound is None else list(self.bound)
        for scope in wanted:
            if scope not in self.bound:
                raise RefusedError(403, f"this server is bound to other scopes than {scope[:80]!r}: leave it out")
        return wanted

    def memory(self, external_id: str) -> Memory:
        """Give a memory that may be seen; of every other one it is said that it is not there."""
        memory = self.kb.get(external_id)
        if memory is None or not self.sees(memory):
            raise UnknownMemoryError(external_id)
        return memory

    def named(self, external_id: str | None) -> str | None:
        """Give a memory's id where it may be known that it is there."""
        if external_id is None or (self.bound is None and not self._hides):
            return external_id
        memory = self.kb.get(external_id)
        return external_id if memory is not None and self.sees(memory) else None

    def sees(self, memory: Memory) -> bool:
        """Tell whether a memory is there for whoever asks."""
        return (self.bound is None or memory.scope in self.bound) and not (self._hides and self.is_sensitive(memory))

    def shows(self, memory: Memory) -> bool:
        """Tell whether a memory's texts may be shown."""
        return self.bounds.show_sensitive or not self.is_sensitive(memory)

    def is_sensitive(self, memory: Memory) -> bool:
        """Tell whether a memory is sensitive, by its mark or by a rule that nobody has applied to it yet.

        What another program writes into the table is marked by the next embedding; until then the rule alone speaks.
        """
        if memory.is_sensitive:
            return True
        with self._lock:
            if self._rules is None or time.monotonic() - self._rules_read_at > RULES_KEPT_S:
                self._rules, self._rules_read_at = self.kb.sensitivity(), time.monotonic()
            return self._rules.meets(memory)

    def conditions(self, where: Conditions | str | None) -> Conditions | None:
        """Give the conditions on what may be found: texts that are not shown cannot be guessed by asking for them."""
        conditions = None if where is None else read_conditions(where)
        if self.bounds.show_sensitive or (conditions is None and not self._hides):
            return conditions
        return {"AND": [{} if conditions is None else conditions, {"is_sensitive": False}]}

    def delete(self, external_id: str) -> int:
        """Delete a memory that may be seen; say how many went."""
        self.require_writing()
        return self.kb.delete([self.memory(external_id).external_id], within=self.bound)

    def write(self, new: Memory, *, named: bool, link: bool = True) -> tuple[Memory, bool, CaughtUp]:
        """Store a memory and link it; give it as it is stored, whether it is new, and what was embedded and linked.

        One that is not `named` gets an id made of its scope, title and text. Of what may not be seen not even a digest
        is shown, since a short text could be guessed from it, nor whether there is such a memory already.
        """
        self.require_writing()
        new = self._in_bounds(new, named)
        try:
            written = self.kb.add(new, within=self.bound)
        except TakenError:
            if named:
                raise
            # Another scope has it by now: who is bound does not learn of it.
            new = replace(new, external_id=random_id())
            written = self.kb.add(new, within=self.bound)
        return new, bool(written.added), self.caught_up([new.external_id], written) if link else CaughtUp(0, 0)

    def write_many(
        self, new: Sequence[tuple[Memory, bool]], *, link: bool = True
    ) -> tuple[list[str], Written, CaughtUp]:
        """Store memories, each with whether it is named, as `write` does, all of them or none; give their ids."""
        self.require_writing()
        placed = [self._in_bounds(memory, named) for memory, named in new]
        written, ids = self.kb.add(*placed, within=self.bound), [memory.external_id for memory in placed]
        return ids, written, self.caught_up(ids, written) if link else CaughtUp(0, 0)

    def _in_bounds(self, new: Memory, named: bool) -> Memory:
        """Give a memory its scope, and an id where it has none."""
        scopes = self.allowed_scopes(new.scope)
        new = replace(new, scope=scopes[0] if scopes else None)
        if named:
            return new
        new = replace(new, external_id=f"add#{self.kb.made_id(new.scope, new.title, new.text)}")
        before = self.kb.get(new.external_id)
        hidden = new.is_sensitive or (before is not None and not self.sees(before))
        return replace(new, external_id=random_id()) if hidden else new

    def caught_up(self, keys: Sequence[str], written: Written) -> CaughtUp:
        """Embed and link memories that were just written, with whatever else waits.

        Who is bound to scopes learns nothing of that: what waits in others is not counted, and an error that may be
        about one of them is not told.
        """
        if self.bound is None:
            return self.kb.upkeep.catch_up(keys)
        try:
            done = self.kb.upkeep.catch_up(keys)
        except HopgateError:
            raise RefusedError(
                503,
                "it is stored and waits to be embedded and linked: who runs this server learns why from hopgate embed",
            ) from None
        known = [memory for memory in map(self.kb.get, keys) if memory is not None and not memory.is_sensitive]
        own = min(len(known), written.added + len(written.changed))
        return replace(done, embedded=min(done.embedded, own), linked=min(done.linked, len(keys)))

    def require_writing(self) -> None:
        """Refuse what would change a store that is served for reading."""
        self._require(not self.bounds.read_only, READ_ONLY)

    def require_whole_store(self, subject: str) -> None:
        """Refuse what is about the whole store where some scopes are bound."""
        sentence = f"{subject} about the whole store, and this server is bound to {', '.join(self.bound or ())}: start "
        self._require(self.bound is None, sentence + "hopgate serve without --scope for that")

    def require_unmarking(self) -> None:
        """Refuse to take a mark of sensitivity away where that would show the memory's text."""
        self._require(self.bounds.show_sensitive, STILL_MARKED)

    def _require(self, allowed: bool, sentence: str) -> None:
        if not allowed:
            raise RefusedError(403, sentence)


def random_id() -> str:
    """An id that says nothing of its memory."""
    return f"add#{secrets.token_hex(8)}"


class Service(BoundStore):
    """A store as it is served by HTTP; an endpoint takes it as `served: Served`."""

    def __init__(self, kb: KnowledgeBase, bounds: Bounds, max_k: int) -> None:
        super().__init__(kb, bounds)
        self._most = max_k

    def require_rows(self, count: int, name: str = "limit") -> int:
        """Refuse more rows than one answer may have."""
        if count > self._most:
            raise RefusedError(422, f"{name} is at most {self._most} here, not {count}")
        return count


async def _served(request: Request) -> Service:
    # The service of whose token the request carries: `Guard` looked.
    service = request.app.state.services[request.scope[BEARER].token]
    assert isinstance(service, Service)
    return service


Served = Annotated[Service, Depends(_served)]


class Strict(BaseModel):
    """A request: a field that is not known is refused, and a number is a number."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


def request_model(name: str, options: Iterable[Option], **kinds: Any) -> Any:
    """Make the model of a request that may set these settings, each null where it is not named.

    Parameters
    ----------
    **kinds
        Types of settings that are not numbers, flags or texts; they are texts by default.
    """
    declared: dict[str, Any] = {}
    for option in options:
        kind: Any = kinds.get(option.name, str if option.kind is object else option.kind)
        kind = Literal[option.choices] if option.choices else kind
        kind = tuple[kind, ...] if option.several else kind
        field = Field(default=None, description=option.meaning, **cast("dict[str, Any]", option.bounds))
        declared[option.name] = (kind | None, field)
    return create_model(name, __base__=Strict, **declared)


def _dated(moment: datetime) -> datetime:
    if moment.year not in YEARS:
        raise ValueError(f"a date lies between the years {YEARS[0]} and {YEARS[-1]}")
    # PostgreSQL knows no zone that is further than 16 hours from UTC.
    return utc(moment).astimezone(UTC)


def _stored(text: str) -> str:
    if "\0" in text:
        raise ValueError("PostgreSQL has no NUL character in a text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is no text") from None
    return text


Moment = Annotated[datetime, AfterValidator(_dated)]
"""A time; without a zone it is UTC."""

Text = Annotated[str, AfterValidator(_stored)]
"""A text that the store can hold."""

Key = Annotated[Text, Field(min_length=1, max_length=MAX_KEY_BYTES)]
"""The external id of a memory, or a scope."""

AsOf = Annotated[Moment | None, Field(description="As it was true at this time, ISO 8601.")]
KnownAt = Annotated[Moment | None, Field(description="As it was known at this time, ISO 8601.")]
Limit = Annotated[int, Field(description="At most so many.", ge=1, le=10_000)]
Offset = Annotated[int, Field(description="Leave out so many of the first.", ge=0, le=1_000_000_000)]


async def _scopes(
    served: Served,
    scope: Annotated[list[Key] | None, Query(description="Only of this scope; again for more.", max_length=100)] = None,
) -> list[str] | None:
    return served.allowed_scopes(scope)


async def _rows(served: Served, limit: Limit = 50) -> int:
    return served.require_rows(limit)


Scopes = Annotated[list[str] | None, Depends(_scopes)]
"""The scopes that a request is about, within those that are bound."""

Rows = Annotated[int, Depends(_rows)]
"""How many rows a request asks for, within what one answer may have."""
