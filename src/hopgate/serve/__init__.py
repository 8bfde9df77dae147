"""A store by HTTP: the API under /api/v1 and the pages of the explorer, behind one token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.serve.settings import ServeSettings

if TYPE_CHECKING:
    from hopgate.serve.app import create_app

__all__ = ["ServeSettings", "create_app"]


def __getattr__(name: str) -> Any:
    """Import the application when it is asked for: the core knows its settings without the packages that serve."""
    if name == "create_app":
        from hopgate.serve.app import create_app

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
