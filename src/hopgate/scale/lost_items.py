"""What becomes of an item that workers die over: its halves are tried, and a single one is answered for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, Source, failed
from hopgate.extract.extractor import Extractor, ExtractorIdentity
from hopgate.graph.build.range_reading import RangeReader
from hopgate.scale.embedded_texts import EmbeddedTexts
from hopgate.scale.guarded_texts import GuardedTexts
from hopgate.store.memory_ranges import IdRange

if TYPE_CHECKING:
    from hopgate.scale.engine import WorkerTask
    from hopgate.store.store import Store

REASON = "the worker that read it died, each time it was tried"


def halves(item: Any) -> list[Any]:
    """Part a batch or a range in two; nothing where it is one.

    Examples
    --------
    >>> halves(("a", "b", "c")), halves(IdRange(1, 4)), halves(("a",))
    ([('a',), ('b', 'c')], [IdRange(first=1, last=2), IdRange(first=3, last=4)], [])
    """
    if isinstance(item, IdRange):
        middle = (item.first + item.last) // 2
        return [IdRange(item.first, middle), IdRange(middle + 1, item.last)] if item.first < item.last else []
    half = len(item) // 2
    if isinstance(item, GuardedTexts):
        return [item.part(0, half), item.part(half, len(item))] if half else []
    return [item[:half], item[half:]] if half else []


def in_place_of(task: WorkerTask, item: Any, store: Store, extractor: Extractor) -> Any:
    """The answer about one memory that no worker lived to give."""
    if task == "embedded":
        return EmbeddedTexts(refused={memory.external_id: REASON for memory in item})
    if task == "surveyed":
        return {}
    if task == "vectors":
        raise HopgateError("workers died over a name, each time it was tried: look into their log, then run this again")
    with store.transaction() as connection:
        return RangeReader(_Unreadable(extractor.identity)).extracted(connection, item)


@dataclass(frozen=True)
class _Unreadable:
    """An extractor that fails on everything, in another's name."""

    identity: ExtractorIdentity

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        return [failed(REASON) for _ in sources]
