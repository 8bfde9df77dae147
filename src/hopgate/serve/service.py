"""What every endpoint shares: the knowledge base, the settings, and what a request may see and do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from hopgate.errors import TakenError, UnknownMemoryError
from hopgate.memory import Memory
from hopgate.serve.problems import RefusedError
from hopgate.serve.serve_settings import ServeSettings

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.serve.gate_runs import GateRuns
    from hopgate.serve.request_metrics import RequestMetrics
    from hopgate.serve.rule_reader import RuleReader


@dataclass(frozen=True)
class Service:
    """A store as it is served: `kb`, `settings`, and the rules that every endpoint asks.

    An endpoint takes it as `served: Served`.
    """

    kb: KnowledgeBase
    settings: ServeSettings
    metrics: RequestMetrics
    gates: GateRuns
    rules: RuleReader

    def scope(self, asked: str | Sequence[str] | None) -> list[str] | None:
        """Give the scopes of a request: those that were asked for, within those that the server is bound to."""
        wanted = [asked] if isinstance(asked, str) else list(asked) if asked else None
        bound = self.settings.scopes
        if bound is None or wanted is None:
            return wanted if bound is None else list(bound)
        for scope in wanted:
            if scope not in bound:
                raise RefusedError(403, f"this server is bound to other scopes than {scope[:80]!r}: leave it out")
        return wanted

    def memory(self, external_id: str) -> Memory:
        """Give a memory that a request may see; every other one is not there."""
        found = self.kb.get(external_id)
        bound = self.settings.scopes
        if found is None or (bound is not None and found.scope not in bound):
            raise self._missing(external_id)
        return found

    def _missing(self, external_id: str) -> RefusedError:
        return RefusedError(404, f"there is no memory {external_id[:80]!r}")

    @contextmanager
    def bounds(self) -> Iterator[Sequence[str] | None]:
        """Give the scopes a write stays within; a memory that left them since it was looked at is not there."""
        try:
            yield self.settings.scopes
        except UnknownMemoryError as error:
            raise self._missing(error.external_id) from None
        except TakenError as error:
            raise RefusedError(409, str(error)) from None

    def named(self, external_id: str | None) -> str | None:
        """Give a memory's id where a request may know that it is there."""
        if external_id is None or self.settings.scopes is None:
            return external_id
        found = self.kb.get(external_id)
        return external_id if found is not None and found.scope in self.settings.scopes else None

    def shows(self, memory: Memory) -> bool:
        """Tell whether a memory's texts may be shown."""
        return self.settings.show_sensitive or not self.rules.is_sensitive(memory)

    def require_writing(self) -> None:
        """Refuse what would change a store that is served for reading."""
        if self.settings.read_only:
            raise RefusedError(
                403, "this server is read-only: start hopgate serve without --read-only to change the store"
            )

    def require_whole_store(self, subject: str) -> None:
        """Refuse what is about the whole store where the server is bound to some scopes."""
        if self.settings.scopes is not None:
            bound = ", ".join(self.settings.scopes)
            raise RefusedError(
                403,
                f"{subject} about the whole store, and this server is bound to {bound}: start hopgate serve without "
                "--scope for that",
            )

    def require_rows(self, count: int, name: str = "limit") -> int:
        """Refuse more rows than one answer may have."""
        if count > self.settings.max_k:
            raise RefusedError(422, f"{name} is at most {self.settings.max_k} here, not {count}")
        return count


async def _served(request: Request) -> Service:
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


Served = Annotated[Service, Depends(_served)]
