"""What `KnowledgeBase.extract` and `KnowledgeBase.build` take, as types."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from hopgate.extract.model.judge import Judge
    from hopgate.extract.runner import Run
    from hopgate.progress import Progress
    from hopgate.scale.engine import Engine


class ExtractOptions(TypedDict, total=False):
    """How an extraction runs."""

    # The external ids of the memories to extract from; by default all that the extractor has not dealt with.
    only: Sequence[str] | None
    limit: int | None  # only the first so many memories
    run: Run | None  # batch size, concurrency, spending cap
    show: Callable[[Progress], object]  # called with the count after every batch
    # A model that says which facts of earlier memories no longer hold, in the place of the trained model of changes.
    judge: Judge | None
    engine: Engine  # who reads memories for a first build; by default a thread of this process


class BuildOptions(ExtractOptions, total=False):
    """How a build runs: the options of its extraction, and of what follows."""

    # Relations of which a concept has one at a time: a later fact ends an earlier one. They are added to those that
    # the extractor declares itself (`hopgate.extract.rules.facts.SINGLE_VALUED` for the rules).
    single_valued: Collection[str]
    several_valued: Collection[str]  # relations of which it has several after all, whoever declared them
    rebuild: bool  # cluster all names anew instead of resolving the new ones
    # A `statements.jsonl`: sentences about memories, which seed walks and bring their names.
    statements: str | Path | None
