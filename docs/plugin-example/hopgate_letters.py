"""A plugin of hopgate with one thing of each kind: small enough to read, too simple to be of use."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from string import ascii_lowercase

from hopgate.embed import Embedder, Identity
from hopgate.extract.extraction import Extraction, ExtractorIdentity, Mention, Source, State
from hopgate.sources.source import Place, ReadOptions, Records, SourceFormat, digest, head, read_utf8


class Letters(Embedder):
    """Counts letters: `letters:` in the place of an embedder."""

    identity = Identity("letters", len(ascii_lowercase), spec="letters:")

    def _rows(self, texts: Sequence[str], _kind: str) -> list[list[float]]:
        return [[text.lower().count(letter) + 0.01 for letter in ascii_lowercase] for text in texts]


def embedder(rest: str) -> Letters | None:
    """Make the embedder of what follows `letters:`, or none where nothing may follow."""
    return None if rest else Letters()


def _tasks(place: Place, options: ReadOptions) -> Records:
    """A memory for each open task: `- [ ] Water the plants`."""
    for number, line in enumerate(read_utf8(place, options.max_mb).splitlines(), start=1):
        if task := re.match(r"- \[ \] (.+)", line):
            yield (
                f"line {number}",
                {"_id": f"task-{digest(options.id_key, task[1])}", "text": task[1], "tags": ["task"]},
            )


CHECKLIST = SourceFormat("checklist", "a checklist", lambda place: head(place).startswith("- [ ]"), _tasks)


class Capitals:
    """Words with a capital are names, and there are no facts: `--extractor capitals`."""

    identity = ExtractorIdentity("capitals")

    def __init__(self, model: str | None = None) -> None:
        del model  # it asks none

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order."""
        return [self._extraction(source.text) for source in sources]

    def _extraction(self, text: str) -> Extraction:
        names = dict.fromkeys(re.findall(r"\b[A-Z]\w+", text))
        mentions = tuple(Mention(name) for name in names)
        return Extraction(mentions, state=State.COMPLETE) if mentions else Extraction()


class SharedWords:
    """A re-ranker that counts the words which a text shares with the query: `--rerank-model shared-words:`."""

    def __init__(self, rest: str) -> None:
        del rest

    def score(self, query: str, texts: Sequence[str]) -> Generator[tuple[int, float]]:
        """Give each text's place and score."""
        wanted = set(query.lower().split())
        for place, text in enumerate(texts):
            yield place, float(len(wanted & set(text.lower().split())))
