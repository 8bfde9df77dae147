"""A store by HTTP: the API under /api/v1 and the pages of the explorer, behind one token."""

from __future__ import annotations

from hopgate.serve.app import create_app
from hopgate.serve.settings import ServeSettings

__all__ = ["ServeSettings", "create_app"]
