"""The tools: what an assistant can call, in words that a model understands."""

# No `from __future__ import annotations`: the SDK reads the annotations of functions that are made here, in a function,
# and could not find what they name.
import functools
import logging
from collections.abc import Callable
from typing import Annotated, Any, ParamSpec, TypeVar

from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from hopgate.errors import HopgateError
from hopgate.redact import redacted
from hopgate.serve.api.models.values import Key, Moment, Text
from hopgate.serve.mcp.bound_store import BoundStore
from hopgate.serve.mcp.confirmations import Confirmations
from hopgate.serve.mcp.results import (
    ChangesResult,
    ExplainResult,
    ForgetAnswer,
    ForgetResult,
    RecallResult,
    RelationsResult,
    RememberResult,
)

LOG = logging.getLogger("hopgate.serve.mcp")
P = ParamSpec("P")
R = TypeVar("R")

Query = Annotated[Text, Field(description="A question or a few words, in plain language.", max_length=20_000)]
Scope = Annotated[Key | None, Field(description="Only memories of this scope; leave it out for all you may see.")]
AsOf = Annotated[Moment | None, Field(description="What was true at this time, ISO 8601.")]
KnownAt = Annotated[Moment | None, Field(description="What was known by this time, ISO 8601.")]
Limit = Annotated[int, Field(description="At most so many.", ge=1, le=1000)]
Id = Annotated[Key, Field(description="A memory's id, as recall gives it.")]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
DELETES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


def add_reading(server: MCPServer[Any], store: BoundStore) -> None:
    """Add the tools that change nothing."""

    @server.tool(annotations=READS)
    @model_errors
    def recall(
        query: Query,
        k: Annotated[int, Field(description="How many memories.", ge=1, le=1000)] = 8,
        scope: Scope = None,
        as_of: AsOf = None,
        known_at: KnownAt = None,
        cluster: Annotated[int | None, Field(description="Only memories of this cluster of concepts.")] = None,
    ) -> RecallResult:
        """Find what the user's memory says about something: memories by words, by meaning and by walking the graph.

        Use it before answering anything that may depend on what the user said earlier: people, places, projects,
        machines, decisions, preferences. Ask in plain language; several short questions find more than one long one.
        """
        return store.recall(query, k, scope=scope, as_of=as_of, known_at=known_at, cluster=cluster)

    @server.tool(annotations=READS)
    @model_errors
    def explain(query: Query, id: Id, scope: Scope = None) -> ExplainResult:
        """Say why a memory is among the hits of a question, or why it is not: which leg saw it, and what left it out.

        Use it when a memory that you know of does not come up.
        """
        return store.explain(query, id, scope=scope)

    @server.tool(annotations=READS)
    @model_errors
    def relations_of(
        concept: Annotated[Key, Field(description="A name of a person, a place, a machine, a project, a thing.")],
        scope: Scope = None,
        as_of: AsOf = None,
        known_at: KnownAt = None,
        limit: Limit = 20,
    ) -> RelationsResult:
        """List what the memory knows of one thing: its relations to others, with their times and their evidence.

        Use it for "what do I know about X", "who works with X", "where was X in March" (with as_of).
        """
        return store.relations(concept, limit, scope=scope, as_of=as_of, known_at=known_at)

    @server.tool(annotations=READS)
    @model_errors
    def what_changed(
        since: Annotated[Moment, Field(description="After this time, ISO 8601, such as 2024-03-01.")],
        until: Annotated[Moment | None, Field(description="Up to this time; leave it out for now.")] = None,
        scope: Scope = None,
        limit: Limit = 20,
    ) -> ChangesResult:
        """List what became known between two times: new memories, relations that began, and those that ended.

        Use it for "what is new since Monday", or to catch up at the beginning of a conversation.
        """
        return store.changes(since, until, limit, scope=scope)


def add_writing(server: MCPServer[Any], store: BoundStore) -> None:
    """Add the tools that change the store."""
    waiting = Confirmations()

    @server.tool(annotations=ADDS)
    @model_errors
    def remember(
        text: Annotated[Text, Field(description="One thing worth knowing later, in full sentences.", min_length=1)],
        title: Annotated[Text, Field(description="A short title.", max_length=500)] = "",
        tags: Annotated[list[Key], Field(description="A few words to find it by.", max_length=20)] = [],  # noqa: B006
        scope: Annotated[Key | None, Field(description="The scope to put it into; leave it out for your own.")] = None,
        created_at: Annotated[Moment | None, Field(description="When it was so, if not now, ISO 8601.")] = None,
        sensitive: Annotated[
            bool,
            Field(description="True for passwords, health and the like: no model reads it, nor do you."),
        ] = False,
    ) -> RememberResult:
        """Store one thing in the user's memory, so that recall finds it in later conversations.

        Write it so that it is understood on its own: names instead of "she", dates instead of "yesterday". One thing a
        call. The same text twice is one memory.
        """
        return store.remember(text, title=title, tags=tags, scope=scope, created_at=created_at, sensitive=sensitive)

    def ask_back(id: Id, confirm_token: str | None, context: Context) -> Elicit[ForgetAnswer] | ForgetAnswer:
        memory = model_errors(store.memory)(id)
        able = context.client_capabilities
        if able is not None and able.elicitation is not None:
            begin = " ".join(memory.content.split())[:200]
            return Elicit(f"Delete this memory for good? {memory.external_id}: {begin}", ForgetAnswer)
        # The client cannot ask its user: the assistant does, and comes again.
        return ForgetAnswer(delete=confirm_token is not None and waiting.confirm(id, confirm_token))

    @server.tool(annotations=DELETES)
    def forget(
        id: Id,
        answer: Annotated[ElicitationResult[ForgetAnswer], Resolve(ask_back)],
        context: Context,
        confirm_token: Annotated[  # noqa: ARG001 (asking back takes it)
            str | None, Field(description="What an earlier call gave, once the user agreed.", max_length=200)
        ] = None,
    ) -> ForgetResult:
        """Delete one memory for good, with all that was made of it. The user is asked before anything is deleted.

        Where your client cannot ask, the first call deletes nothing and gives a confirm_token: show the user what would
        go, and call again with the token only if they agree.
        """
        memory = model_errors(store.memory)(id)
        if isinstance(answer, AcceptedElicitation) and answer.data.delete:
            model_errors(store.forget)(id)
            return ForgetResult(id=id, deleted=True, message=f"deleted {id}", confirm_token=None)
        able = context.client_capabilities
        if able is not None and able.elicitation is not None:
            return ForgetResult(id=id, deleted=False, message="the user did not agree: nothing was deleted")
        begin = " ".join(memory.content.split())[:200]
        return ForgetResult(
            id=id,
            deleted=False,
            message=f"nothing was deleted yet. Ask the user whether to delete {begin!r}; then call forget again with "
            "the confirm_token, within five minutes",
            confirm_token=waiting.announce(id),
        )


def model_errors(work: Callable[P, R]) -> Callable[P, R]:
    """Turn an error that a user can meet into one that a model reads; of others nothing gets out."""

    @functools.wraps(work)
    def guarded_work(*given: P.args, **named: P.kwargs) -> R:
        try:
            return work(*given, **named)
        except HopgateError as error:
            raise ToolError(redacted(str(error))) from None
        except Exception as error:
            # Its text may hold a memory's: the class is enough to look for it.
            LOG.error("a tool failed: %s", type(error).__qualname__)
            LOG.debug("", exc_info=error)
            raise ToolError("hopgate made a mistake here: please report what was asked") from None

    return guarded_work
