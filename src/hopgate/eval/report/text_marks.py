"""A report that is looked at later: marks in the place of memories' texts, which may turn sensitive meanwhile."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Iterable
from functools import cache

from hopgate.eval.report.page import MAX_SHOWN, short
from hopgate.memory import Cleared

# Signs that no text has: private ones of Unicode, around a memory's id.
_MARK = re.compile("\ue000([A-Za-z0-9_=-]*)\ue001")
_SIGNS = re.compile("[\ue000\ue001]")


def marks(ids: Iterable[str]) -> dict[str, Cleared]:
    """A mark for each memory, where a report has its text; one with an id that is longer than a text has none."""
    made = {name: f"\ue000{base64.urlsafe_b64encode(name.encode()).decode()}\ue001" for name in ids}
    return {name: Cleared(mark) for name, mark in made.items() if len(mark) <= MAX_SHOWN}


def filled(page: str, text_of: Callable[[str], Cleared | None]) -> str:
    """Put texts in the place of a page's marks, as they are now; nothing where a memory may not be shown, or is gone.

    Examples
    --------
    >>> page = f"<li>{marks(['m1'])['m1']}</li>"
    >>> filled(page, {"m1": Cleared("Ada & Bea")}.get), filled(page, {}.get)
    ('<li>Ada &amp; Bea</li>', '<li></li>')
    """

    @cache
    def text(code: str) -> str:
        found = text_of(base64.urlsafe_b64decode(code).decode())
        return html.escape(_SIGNS.sub("", short(found))) if found else ""

    return _MARK.sub(lambda found: text(found[1]), page)
