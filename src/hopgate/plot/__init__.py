"""Pictures of concepts, gates and time, for one's own notebook (extra `notebooks`).

Every function draws on the axes it is given, or on new ones, and returns them; the data it needs is a value that can be
made, looked at and changed before it is drawn. Colours and greys are legible on light and dark pages.
"""

from __future__ import annotations

from hopgate.plot.concepts import Html, concept_map, explore, open_or_example, project
from hopgate.plot.pictures import gains, ladder, neighbourhood, timeline

__all__ = [
    "Html",
    "concept_map",
    "explore",
    "gains",
    "ladder",
    "neighbourhood",
    "open_or_example",
    "project",
    "timeline",
]
