"""The resources: memories and concepts by their addresses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import ResourceSecurity
from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from hopgate.serve.mcp.bound_store import BoundStore

# An id is looked up in a table and is no path: it may begin with a slash.
NO_PATH = ResourceSecurity(exempt_params={"id", "name"})
LISTED = 100


def add_resources(server: MCPServer[Any], store: BoundStore) -> None:
    """Add the addresses that an assistant can read."""

    @server.resource("hopgate://concepts", title="Concepts", mime_type="application/json")
    def concepts() -> str:
        """The concepts that most memories talk about: names, kinds, and how many memories."""
        return _json(store.concepts(LISTED))

    @server.resource("hopgate://memory/{id}", title="A memory", mime_type="application/json", security=NO_PATH)
    def memory(id: str) -> str:
        """One memory in full, by its id (percent-encoded)."""
        try:
            found = store.memory(id)
        except HopgateError as error:
            raise ResourceNotFoundError(str(error)) from None
        return _json(
            {
                "id": found.external_id,
                "title": found.title,
                "content": found.content,
                "tags": list(found.tags),
                "scope": found.scope,
                "created_at": found.created_at.isoformat() if found.created_at else None,
                "superseded_by": store.named(found.superseded_by),
            }
        )

    @server.resource("hopgate://concept/{name}", title="A concept", mime_type="application/json", security=NO_PATH)
    def concept(name: str) -> str:
        """One concept by any of its names (percent-encoded): its aliases and its relations with their evidence."""
        try:
            return _json(store.concept(name))
        except HopgateError as error:
            raise ResourceNotFoundError(str(error)) from None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
