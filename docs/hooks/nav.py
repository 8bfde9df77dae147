"""Decisions are listed as they are found, so that a new one needs no line elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Add the decisions to the site's navigation."""
    pages = sorted(page.name for page in (Path(config["docs_dir"]) / "adr").glob("*.md"))
    config["nav"].append({"Decisions": [f"adr/{page}" for page in pages]})
    return config
