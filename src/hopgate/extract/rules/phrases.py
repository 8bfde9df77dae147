"""The no-model extractor: tags, keywords, names and identifiers; facts with their dates, by transparent patterns."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property

from hopgate.extract.extraction import Extraction, ExtractorIdentity, Fact, Mention, Source, found
from hopgate.extract.rules.facts import SINGLE_VALUED, facts
from hopgate.extract.rules.names import kind_of, read, variants
from hopgate.extract.rules.words import ENGLISH

RULES = "10.9"
"""The version of the rules: raised with every change of what they find, so that caches know."""

_OF_PEOPLE = frozenset(("lives in", "married to", "parent of", "sibling of"))


@dataclass(frozen=True)
class Phrases:
    """Extract with rules alone: deterministic, and thousands of memories a second.

    Parameters
    ----------
    changes : bool
        Whether short notes that may tell of a change are to be compared with earlier ones, by a small trained model:
        when the graph is built, and not here.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> source = Source("m1", Cleared("immich runs on cedar since March 2024."), tags=("homelab",))
    >>> [extraction] = Phrases().extract([source])
    >>> [(mention.name, mention.kind) for mention in extraction.mentions]
    [('homelab', 'tag'), ('immich', 'service'), ('cedar', 'host')]
    >>> extraction.facts[0]
    Fact(subject='immich', relation='runs on', object='cedar', valid_from='2024-03', valid_to=None, confidence=0.9)
    """

    changes: bool = False

    @cached_property
    def identity(self) -> ExtractorIdentity:
        """The rules' version and the settings."""
        return ExtractorIdentity("phrases" if self.changes else "rules", f"rules {RULES}", parameters=asdict(self))

    @property
    def single_valued(self) -> tuple[str, ...]:
        """The relations of the patterns of which a concept has one object at a time."""
        return tuple(SINGLE_VALUED)

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order."""
        return [self._one(source) for source in sources]

    def _one(self, source: Source) -> Extraction:
        reading = read(source)
        typed = _once(facts(reading, source))
        names: dict[str, str] = {}
        for given, kind in ((source.tags, "tag"), (source.keywords, "keyword")):
            for name in given:
                names.setdefault(" ".join(name.split()), kind)
        if reading.topic:
            names.setdefault(reading.topic, kind_of(reading.topic))
        for span in reading.spans:
            if span.form in ("date", "amount"):
                continue
            # "president Mandela"; "Dr. Hopper" is one span already.
            is_titled = span.start > 0 and reading.tokens[span.start - 1] in ENGLISH["honorifics"]
            if not names.get(span.name):
                kind = "person" if is_titled and span.form != "quote" else kind_of(span.name, span.form)
                names[span.name] = reading.kinds.get(span.name) or kind
            if span.form == "name":
                for name in variants(reading.tokens, reading.marks, span):
                    names.setdefault(name, kind_of(name))
        kinds = {fact.subject: "person" for fact in typed if fact.relation in _OF_PEOPLE and fact.subject[:1].isupper()}
        return found([Mention(name, kinds.get(name) or kind) for name, kind in names.items() if name], typed)


def _once(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Keep each (subject, relation, object, interval) once, at its best confidence."""
    best: dict[Fact, Fact] = {}
    for fact in facts:
        same = replace(fact, confidence=1.0)
        best[same] = max(best.get(same, fact), fact, key=lambda each: each.confidence)
    return tuple(best.values())
