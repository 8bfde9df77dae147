"""The extractor without a model on labelled notes: names, facts, changes, and its speed.

    python benchmarks/notes.py [--half tune|report] [--quick] [--errors]

`benchmarks/notes/RELATIONS.md` says how the notes were labelled; each set is one file of notes with their labels and
of stories. The tuning half may be read, the reporting half is counted alone. A name is right when it equals a form of a
label; a fact when its relation and both ends do; what a label calls optional is neither required nor punished. A change
is seen when the former value holds before it and no more after it, whatever the relation is called, and right when the
new value holds, too; a look-alike is wrong when something ended in it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hopgate
from hopgate.corpus import parse_memory
from hopgate.extract.extraction import Fact, Source
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.rules.survey import Survey, with_turns
from hopgate.memory import Cleared, Memory

NOTES = Path(__file__).with_name("notes")
NAMED = ("first", "fresh", "third")
"""The sets with every name and fact labelled; the others label changes alone."""
CHANGED = {
    "20-23": ("twentieth", "twentyfirst", "twentysecond", "twentythird"),
    "24-27": ("twentyfourth", "twentyfifth", "twentysixth", "twentyseventh"),
}
"""Two groups of sets with changes. No author of the last taught the trained model."""
RELATIONS = frozenset(
    re.split(
        ",",
        "runs on,located in,lives in,works at,owned by,led by,reports to,part of,replaced by,alias of,costs,due,"
        "allergic to,bought from,sold to,married to,parent of,sibling of,friend of,has address",
    )
)
"""Those that are labelled: facts of others are not compared."""
EITHER_WAY = frozenset(("alias of", "married to", "sibling of", "friend of"))
OF_VALUES = frozenset(("costs", "due"))
"""What these say of something, an amount or a date, is no name."""
ARTICLE = re.compile(r"(?:the|a|an|my|our|der|die|das|den|dem|ein|eine|einen) ")
Row = dict[str, Any]
Store = Callable[[], AbstractContextManager[hopgate.KnowledgeBase]]


def fold(name: str) -> str:
    """A name as it is compared: without case, mark, article and genitive."""
    plain = " ".join(name.casefold().replace("’", "'").strip(" .,;:!?\"'`").lstrip("#@").split()).removesuffix("'s")
    return ARTICLE.sub("", plain, count=1) if ARTICLE.match(plain) else plain


class Notes:
    """The notes and stories of a set, and every form that a scope has of a name."""

    def __init__(self, name: str) -> None:
        rows = [json.loads(line) for line in (NOTES / f"{name}.jsonl").read_text("utf-8").splitlines()]
        self.stories = [row for row in rows if "_id" not in row]
        self.labels = {row["_id"]: row.pop("label") for row in rows if "_id" in row}
        self.memories: list[Memory] = [parse_memory(row) for row in rows if "_id" in row]
        self.scope = {str(memory.external_id): memory.scope or "" for memory in self.memories}
        self._forms: dict[tuple[str, str], set[str]] = defaultdict(set)
        for key, label in self.labels.items():
            for each in label["names"]:
                forms = {fold(form) for form in (each["name"], each["canonical"], *each.get("also", ()))}
                self._forms[self.scope[key], each["canonical"]] |= forms
            for word in ("I", "we", "wir"):
                self._forms[self.scope[key], word] |= {"i", fold(label.get("owner") or "I")}

    def forms(self, scope: str, name: str) -> set[str]:
        """All forms of a name in a scope."""
        return self._forms.get((scope, name), set()) | {fold(name)}

    def is_same(self, name: str, wanted: str, key: str) -> bool:
        """Whether an end of a fact is the labelled one; a common noun is compared by its last word."""
        said = fold(name.split(" (", maxsplit=1)[0])
        if said in self.forms(self.scope[key], wanted) or said.replace(" ", "") == wanted.replace(" ", ""):
            return True
        return wanted in self.labels[key]["optional"] and said.split()[-1:] == fold(wanted).split()[-1:]

    def is_fact(self, fact: Any, row: Row, key: str) -> bool:
        """Whether a fact is the labelled one."""
        if fact.relation != row["relation"]:
            return False
        if row["relation"] == "due" and fact.object.startswith(row["object"]):
            return self.is_same(fact.subject, row["subject"], key)
        ways = [(fact.subject, fact.object)] + [(fact.object, fact.subject)] * (fact.relation in EITHER_WAY)
        return any(
            self.is_same(one, row["subject"], key) and self.is_same(other, row["object"], key) for one, other in ways
        )

    def count(self, key: str, names: Collection[str], facts: Iterable[Any], tally: Counter[str], show: bool) -> None:
        """Count the names and facts that were found in one note: right, wrong, found, missed."""
        label, scope = self.labels[key], self.scope[key]
        wanted = [self.forms(scope, each["name"]) | self.forms(scope, each["canonical"]) for each in label["names"]]
        given = {fold(name) for name in names if name.split(" (")[0] != "I"} - {""}
        right = {name for name in given if any(name in forms for forms in wanted)}
        wrong = given - right - {fold(each) for each in (*label["optional"], label.get("owner") or "I")}
        missed = [forms for forms in wanted if forms.isdisjoint(given)]
        tally.update({"names right": len(right), "names wrong": len(wrong)})
        tally.update({"names found": len(wanted) - len(missed), "names labelled": len(wanted)})
        if show and (wrong or missed):
            print(key, label["language"], "wrong:", sorted(wrong), "missed:", [min(each, key=len) for each in missed])
        matched: set[int] = set()
        for fact in facts:
            if fact.relation not in RELATIONS:
                continue
            hits = [at for at, row in enumerate(label["facts"]) if self.is_fact(fact, row, key)]
            beside = [*label["optional_facts"], *label["ends"]]
            if hits and hits[0] not in matched:
                matched.add(hits[0])
            elif not hits and not fact.valid_to and not any(self.is_fact(fact, row, key) for row in beside):
                # Whether an end is right is asked of the stories.
                tally["facts wrong"] += 1
                if show:
                    print(key, "wrong fact:", fact.subject, "|", fact.relation, "|", fact.object)
        for row in [row for at, row in enumerate(label["facts"]) if at not in matched] if show else ():
            print(key, "missed fact:", row["subject"], "|", row["relation"], "|", row["object"])
        tally.update({"facts right": len(matched), "facts labelled": len(label["facts"])})


def with_context(memories: Iterable[Memory]) -> list[Source]:
    """Turn memories into sources that know of each other, as a first build does."""
    read, survey = with_turns(memories), Survey()
    for source in read:
        survey.add(source)
    return [replace(source, known=survey.known(source)) for source in read]


def of_extractor(half: str, show: bool) -> Counter[str]:
    """Count names and facts as the extractor gives them."""
    tally = Counter[str]()
    for name in NAMED:
        notes = Notes(name)
        sources = with_context(notes.memories)
        for source, found in zip(sources, Phrases().extract(sources), strict=True):
            if notes.labels[str(source.memory_id)]["half"] == half:
                names = [mention.name for mention in found.mentions] + [
                    end for fact in found.facts for end in ends(fact)
                ]
                notes.count(str(source.memory_id), names, found.facts, tally, show)
    return tally


def ends(fact: Fact) -> tuple[str, ...]:
    """The ends of a fact that are names: an amount or a date is none."""
    return (fact.subject,) if fact.relation in OF_VALUES else (fact.subject, fact.object)


def of_store(store: Store, half: str, show: bool, extractor: str = "phrases") -> dict[str, Counter[str]]:
    """Count names, facts and changes as stores answer, a store for each set."""
    tallies: dict[str, Counter[str]] = {}
    for title, sets in {"first": NAMED, **CHANGED}.items():
        tally = tallies[title] = Counter()
        for name in sets:
            notes = Notes(name)
            with store() as kb:
                kb.add(*notes.memories)
                kb.build(extractor)
                for key, label in notes.labels.items() if title == "first" else ():
                    if label["half"] == half:
                        memory = kb.graph.memory(key)
                        values = {fact.object for fact in memory.facts if fact.relation in OF_VALUES}
                        names = [each.name for each in memory.mentions if each.name not in values]
                        notes.count(key, names, memory.facts, tally, show)
                count_changes(kb, notes, half, tally)
    return tallies


def count_changes(kb: hopgate.KnowledgeBase, notes: Notes, half: str, tally: Counter[str]) -> None:
    """Count the stories whose former value is over after the change, and the look-alikes in which something ended."""
    stories = [story for story in notes.stories if story["half"] == half and story["before"]["object"]]
    by_scope = {scope: kb.graph.edges(scope=scope or None) for scope in {story["scope"] for story in stories}}
    for story in stories:
        scope, keys = story["scope"], set(story["notes"])
        edges = [edge for edge in by_scope[scope] if keys.intersection(edge.evidence)]
        words = {word for name in (story["subject"], *story.get("subjects", ())) for form in notes.forms(scope, name)
                 for word in form.split()}  # fmt: skip
        mine = [edge for edge in edges if words.intersection(fold(f"{edge.source} {edge.relation}").split())] or edges

        def holds(side: Row, name: str | None, edges: Sequence[Any] = mine, scope: str = scope) -> bool:
            day = datetime.fromisoformat(side["as_of"]).replace(tzinfo=UTC)
            return name is not None and any(
                overlaps(fold(edge.target), notes.forms(scope, name))
                and (edge.valid_from is None or edge.valid_from <= day)
                and (edge.valid_to is None or edge.valid_to > day)
                for edge in edges
            )

        before, after = story["before"], story["after"]
        ended = holds(before, before["object"]) and not holds(after, before["object"])
        if story["is_move"]:
            tally["changes"] += 1
            tally["changes seen"] += ended
            tally["changes right"] += ended and (after["object"] is None or holds(after, after["object"]))
        else:
            tally["look-alikes"] += 1
            tally["look-alikes wrong"] += ended or any(
                holds(side, name) for side in (before, after) for name in story.get("never", ())
            )


def overlaps(name: str, forms: set[str]) -> bool:
    """Whether a name is one of these, or begins or ends with one, or is its beginning or end, by whole words."""
    pairs = ((f" {name} ", f" {form} ") for form in forms if form)
    return any(one.startswith(two) or one.endswith(two) or two.startswith(one) or two.endswith(one)
               for one, two in pairs if one.strip())  # fmt: skip


def shares(tally: Counter[str]) -> dict[str, float]:
    """Precision and recall of names and facts, and the shares of changes that were seen and are right."""
    parts = {
        "names precision": ("names right", ("names right", "names wrong")),
        "names recall": ("names found", ("names labelled",)),
        "facts precision": ("facts right", ("facts right", "facts wrong")),
        "facts recall": ("facts right", ("facts labelled",)),
        "changes seen": ("changes seen", ("changes",)),
        "changes right": ("changes right", ("changes",)),
        "look-alikes wrong": ("look-alikes wrong", ("look-alikes",)),
    }
    counts = {name: sum(tally[each] for each in whole) for name, (_, whole) in parts.items()}
    return {name: round(tally[part] / counts[name], 4) for name, (part, _) in parts.items() if counts[name]}


def note_figures(store: Store) -> dict[str, float]:
    """Give the figures of the reporting halves, each set in a store of its own."""
    figures: dict[str, float] = {}
    for title, tally in of_store(store, "report", show=False).items():
        print(f"notes {title}: {dict(tally)}", file=sys.stderr)
        figures |= {f"{title} {name}": share for name, share in shares(tally).items()}
    return figures


def speed() -> dict[str, float]:
    """Memories a second of one core, and how long the slowest million characters take."""
    memories = Notes("first").memories
    Phrases().extract(with_context(memories[:20]))
    began = time.process_time()
    Phrases().extract(with_context(memories))
    rate = len(memories) / (time.process_time() - began)
    slowest = 0.0
    for text in long_texts(" ".join(memory.text for memory in memories)):
        began = time.process_time()
        Phrases().extract([Source("long", Cleared(text))])
        slowest = max(slowest, time.process_time() - began)
    return {"notes per second of a core": round(rate, 1), "seconds of the slowest megabyte": round(slowest, 3)}


def long_texts(prose: str) -> Iterable[str]:
    """Texts of a million characters: one piece again and again, and prose."""
    pieces = (
        *re.split(r"[|]", " |a|(|[[|A|Aa |http://|/a|a.b@|1.|->|é|中|\n |#|`|x -> |'s |a-"),
        "on 12 May, ", "ab 12.12, ", "von A nach B, ", "Einkauf ist von Gebäude C nach Gebäude F. ",
        "seine Hausärztin. ", "swapped nginx for Caddy. ", "costs 5 pounds at Gail's. ", "due on the 14th. ",
        "from Monday standup is at 10:00. ", f"{prose} ",
    )  # fmt: skip
    return (piece * (1_000_000 // len(piece)) for piece in pieces)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("tune", "report"), default="report")
    parser.add_argument("--quick", action="store_true", help="names and facts of the extractor, without a store")
    parser.add_argument("--extractor", default="phrases", help="of the stores: phrases, or rules without the model")
    parser.add_argument("--errors", action="store_true", help="list what is wrong (of the tuning half only)")
    options = parser.parse_args()
    show = options.errors and options.half == "tune"

    def store() -> AbstractContextManager[hopgate.KnowledgeBase]:
        return hopgate.open(Path(tempfile.mkdtemp(prefix="notes")) / "store")

    result: dict[str, Any] = {"the extractor alone": shares(of_extractor(options.half, show))}
    if not options.quick:
        tallies = of_store(store, options.half, show, options.extractor)
        result |= {f"stores, {title}": shares(tally) for title, tally in tallies.items()}
    result["speed"] = speed()
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
