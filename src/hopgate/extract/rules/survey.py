"""Read many memories for what they show of their words together, before names are looked for in each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hopgate.extract.extraction import Source
from hopgate.extract.rules.tokenise import analysed
from hopgate.extract.rules.word_survey import Survey


@dataclass(slots=True)
class CorpusSurvey:
    """A survey of sources; `known` asks it about one of them."""

    words: Survey = field(default_factory=Survey)

    def add(self, source: Source) -> None:
        """Count one memory."""
        tokens, lower, marks, code = analysed(source.text)
        self.words.add(tokens, code, marks, (*source.tags, source.title or ""), lower)

    def known(self, source: Source) -> tuple[tuple[str, str], ...]:
        """Give the words of a source that all memories show to be names, as `Source.known` wants them."""
        tokens, _, _, code = analysed(source.text)
        return tuple(sorted(self.words.names(tokens, code).items()))


def surveyed(sources: Iterable[Source]) -> CorpusSurvey:
    """Survey sources.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> sources = [Source("m1", Cleared("immich runs on cedar.")), Source("m2", Cleared("cedar is up"))]
    >>> surveyed(sources).known(sources[1])
    (('cedar', 'host'),)
    """
    survey = CorpusSurvey()
    for source in sources:
        survey.add(source)
    return survey
