"""A store for assistants, by the Model Context Protocol: tools and resources, on standard input or by HTTP."""

from __future__ import annotations

from hopgate.serve.mcp.mcp_server import create_mcp
from hopgate.serve.mcp.mcp_settings import McpSettings

__all__ = ["McpSettings", "create_mcp"]
