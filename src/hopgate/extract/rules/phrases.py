"""The no-model extractor: tags, keywords, names, dates, identifiers and noun phrases; facts by transparent patterns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from hopgate.extract.extraction import Extraction, Fact, Mention, Source, found
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.extract.rules.candidates import candidates, letters, title, variants
from hopgate.extract.rules.kinds import kind_of, kinds_from
from hopgate.extract.rules.sentence_facts import facts
from hopgate.extract.rules.tokenise import tokenise
from hopgate.extract.rules.words import HONORIFICS

RULES = "1"
"""The version of the rules: raised with every change of what they find, so that caches know."""


@dataclass(frozen=True)
class Phrases:
    """Extract with rules alone: deterministic, and thousands of memories a second.

    Parameters
    ----------
    phrases : int
        At least this many ordinary noun phrases of a memory are mentions, longest first.
    fill : int
        More are added while a memory has fewer mentions than this: a memory without names still needs concepts.
        Defaults chosen in docs/research/extraction.md.
    facts : bool
        Whether to look for facts.

    Examples
    --------
    >>> from hopgate.extract.extraction import sources
    >>> from hopgate.memory import Memory
    >>> memory = Memory("m1", "Immich runs on nas-2 since March 2024.", tags=("homelab",))
    >>> [extraction] = Phrases().extract(list(sources([memory])))
    >>> [(mention.name, mention.kind) for mention in extraction.mentions]
    [('homelab', 'tag'), ('Immich', ''), ('nas-2', 'identifier'), ('March 2024', 'date')]
    >>> extraction.facts[0]
    Fact(subject='Immich', relation='runs on', object='nas-2', valid_from='2024-03', valid_to=None, confidence=0.8)
    """

    phrases: int = 3
    fill: int = 8
    facts: bool = True

    @property
    def identity(self) -> ExtractorIdentity:
        """The rules' version and the settings."""
        return ExtractorIdentity("phrases", model=f"rules {RULES}", parameters=asdict(self))

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order."""
        return [self._one(source) for source in sources]

    def _one(self, source: Source) -> Extraction:
        tokens = tokenise(source.text)
        marks = letters(tokens)
        spans = candidates(tokens, marks)
        topic = title(tokens, marks)
        typed = _once(facts(tokens, marks, spans, topic)) if self.facts else ()
        names: dict[str, str] = {}
        for given, kind in ((source.tags, "tag"), (source.keywords, "keyword")):
            for name in given:
                names.setdefault(" ".join(name.split()), kind)
        if topic:
            names.setdefault(topic, kind_of(topic))
        for span in spans:
            if span.form == "phrase":
                continue
            before = tokens[span.start - 1] if span.start else ""
            before = before if before in HONORIFICS else ""  # "president Mandela"; "Dr. Hopper" is one span already
            if not names.get(span.name):
                names[span.name] = kind_of(span.name, span.form, before)
            if span.form == "name":
                for name in variants(tokens, marks, span):
                    names.setdefault(name, kind_of(name))
        for fact in typed:
            for name in (fact.subject, fact.object):
                names.setdefault(name, kind_of(name, "phrase" if name.islower() and " " in name else ""))
        common = list(dict.fromkeys(span.name for span in spans if span.form == "phrase" and span.name not in names))
        common.sort(key=lambda name: -name.count(" "))
        for name in common[: max(self.phrases, self.fill - len(names))]:
            names[name] = "phrase"
        known = kinds_from(typed)
        mentions = [Mention(name, known.get(name) or kind) for name, kind in names.items() if name]
        return found(mentions, typed)


def _once(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Keep each (subject, relation, object, interval) once, at its best confidence."""
    best: dict[tuple[str, str, str, str | None, str | None], Fact] = {}
    for fact in facts:
        key = (fact.subject, fact.relation, fact.object, fact.valid_from, fact.valid_to)
        if key not in best or best[key].confidence < fact.confidence:
            best[key] = fact
    return tuple(best.values())
