"""The no-model extractor: tags, keywords, names and identifiers; facts with their dates, by transparent patterns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property

from hopgate.extract.extraction import DOUBTED, Extraction, Fact, Mention, Source, found
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.extract.rules.candidates import variants
from hopgate.extract.rules.clauses import clauses
from hopgate.extract.rules.fact_patterns import SINGLE_VALUED
from hopgate.extract.rules.kinds import kind_of, kinds_from
from hopgate.extract.rules.named_next import named_next
from hopgate.extract.rules.note_facts import note_facts
from hopgate.extract.rules.reading import read
from hopgate.extract.rules.role_table import ROLE_RELATIONS
from hopgate.extract.rules.stated_loans import lent_or_back
from hopgate.extract.rules.stated_parts import AMOUNT, AT, BY, WHEN
from hopgate.extract.rules.stated_values import stated_values
from hopgate.extract.rules.timetable import TAKES_PLACE
from hopgate.extract.rules.untold import telling
from hopgate.extract.rules.words import HONORIFICS
from hopgate.extract.tagger.change_tagger import WEIGHTS_SHA256
from hopgate.extract.tagger.worth_reading import worth_reading

RULES = "8.36"
"""The version of the rules: raised with every change of what they find, so that caches know."""


@dataclass(frozen=True)
class Phrases:
    """Extract with rules alone: deterministic, and thousands of memories a second.

    Parameters
    ----------
    facts : bool
        Whether to look for facts.
    tagger : bool
        Whether short notes that may tell of a change are to be read together with earlier ones, by a small trained
        model: when the graph is built, and not here.

    Examples
    --------
    >>> from hopgate.extract.context import with_context
    >>> from hopgate.memory import Memory
    >>> memory = Memory("m1", "immich runs on cedar since March 2024.", tags=("homelab",))
    >>> [extraction] = Phrases().extract(with_context([memory]))
    >>> [(mention.name, mention.kind) for mention in extraction.mentions]
    [('homelab', 'tag'), ('immich', 'service'), ('cedar', 'host')]
    >>> extraction.facts[0]
    Fact(subject='immich', relation='runs on', object='cedar', valid_from='2024-03', valid_to=None, confidence=0.9)
    """

    facts: bool = True
    tagger: bool = False

    @cached_property
    def identity(self) -> ExtractorIdentity:
        """The rules' version, the tagger's file, and the settings."""
        tagger = f", tagger {WEIGHTS_SHA256[:8]}" if self.tagger else ""
        name = "phrases" if self.tagger else "rules"
        return ExtractorIdentity(name, model=f"rules {RULES}{tagger}", parameters=asdict(self))

    @property
    def single_valued(self) -> tuple[str, ...]:
        """The relations of the patterns of which a concept has one object at a time."""
        return (*SINGLE_VALUED, *ROLE_RELATIONS, TAKES_PLACE, AT, WHEN, AMOUNT, BY)

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order."""
        return [self._one(source) for source in sources]

    def _one(self, source: Source) -> Extraction:
        reading = read(source)
        parts = list(clauses(reading)) if self.facts else []
        sentences, doubted = telling(list(parts))
        joined = list(named_next(sentences))
        told = _once(note_facts(reading, source, sentences, doubted, joined)) if self.facts else ()
        typed = tuple(fact for fact in told if fact.confidence > 0)
        names: dict[str, str] = {}
        for given, kind in ((source.tags, "tag"), (source.keywords, "keyword")):
            for name in given:
                names.setdefault(" ".join(name.split()), kind)
        if reading.topic:
            names.setdefault(reading.topic, kind_of(reading.topic))
        for span in reading.spans:
            if span.form in ("date", "amount"):
                continue
            before = reading.tokens[span.start - 1] if span.start else ""
            before = before if before in HONORIFICS else ""  # "president Mandela"; "Dr. Hopper" is one span already
            if not names.get(span.name):
                names[span.name] = reading.kinds.get(span.name) or kind_of(span.name, span.form, before)
            if span.form == "name":
                for name in variants(reading.tokens, reading.marks, span):
                    names.setdefault(name, kind_of(name))
        kinds = kinds_from(typed)
        mentions = [Mention(name, kinds.get(name) or kind) for name, kind in names.items() if name]
        # What is over leaves room for what is so now; what is so since a date may be noted as so on this day, too.
        stated = [fact for fact in typed if fact.valid_to is None]
        known = {(fact.subject, fact.relation) for fact in stated}
        since = {(fact.subject, fact.relation, fact.object) for fact in stated if fact.valid_from}
        # "Swapped nginx for Caddy": neither runs on the other.
        swapped = {frozenset((fact.subject, fact.object)) for fact in stated if fact.relation == "replaced by"}
        maybe = tuple(
            fact
            for fact in told
            if fact.confidence <= 0 and ((fact.subject, fact.relation) not in known or _is_still(fact, since))
            if not swapped or frozenset((fact.subject, fact.object)) not in swapped
        )
        sure = [fact for fact in typed if fact.confidence > DOUBTED]
        plain = sentences
        if doubted:
            plain = [clause for clause in sentences if clause not in doubted or lent_or_back(clause.text)]
        said = tuple(stated_values([*plain, *joined], reading, sure, source.owner))
        # "larch took over immich, its containers on juniper are gone": it does not run on juniper.
        over = {(one.thing, one.former) for one in said if one.former}
        maybe = tuple(fact for fact in maybe if (fact.subject, fact.object) not in over) if over else maybe
        made = found(mentions, typed, tentative=maybe, stated=said)
        if self.facts and self.tagger and worth_reading(source.text, reading, made):
            return replace(made, may_change=True)
        return made


def _is_still(fact: Fact, since: set[tuple[str, str, str]]) -> bool:
    """Whether a tentative fact says that something is so on the day of its memory, beside since when it is."""
    return fact.valid_from is None and (fact.subject, fact.relation, fact.object) in since


def _once(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Keep each (subject, relation, object, interval) once, at its best confidence."""
    best: dict[tuple[str, str, str, str | None, str | None], Fact] = {}
    for fact in facts:
        key = (fact.subject, fact.relation, fact.object, fact.valid_from, fact.valid_to)
        if key not in best or best[key].confidence < fact.confidence:
            best[key] = fact
    return tuple(best.values())
