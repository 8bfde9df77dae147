"""Decisions and measurements are listed as they are found, so that a new one needs no line elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FOLDERS = {"Decisions": "adr", "Measurements": "research"}


def on_config(config: Any) -> Any:
    """Add a section for each folder to the site's navigation."""
    root = Path(config["docs_dir"])
    for title, folder in FOLDERS.items():
        pages = [page.relative_to(root).as_posix() for page in sorted((root / folder).glob("*.md"))]
        config["nav"].append({title: pages})
    return config
