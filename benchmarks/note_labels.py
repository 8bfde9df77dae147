"""Names, facts and changes of the labelled notes, asked of a store: what `benchmarks/notes/RELATIONS.md` labels.

A name is right when it equals a form of a label; a fact when its relation and both ends do; what a label calls optional
is neither required nor punished. A change is seen when the former value holds before it and no more after it, whatever
the relation is called, and right when the new value holds, too; a look-alike is wrong when something ended in it.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hopgate

NOTES = Path(__file__).with_name("notes")
SETS = {
    "first": ("", "fresh", "third"),
    "20-23": ("twentieth", "twentyfirst", "twentysecond", "twentythird"),
    "24-27": ("twentyfourth", "twentyfifth", "twentysixth", "twentyseventh"),
}
"""Those with every name labelled; two groups with changes alone. No author of the last taught the trained model."""
Row = dict[str, Any]

# Of a store's facts those of these relations are compared: no other ones are labelled.
RELATIONS = frozenset(
    re.split(
        ",",
        "runs on,located in,lives in,works at,owned by,led by,reports to,part of,replaced by,alias of,costs,due,"
        "allergic to,bought from,sold to,married to,parent of,sibling of,friend of,has address",
    )
)
EITHER_WAY = frozenset(("alias of", "married to", "sibling of", "friend of"))
ARTICLE = re.compile(r"(?:the|a|an|my|our|der|die|das|den|dem|ein|eine|einen) ")


def fold(name: str) -> str:
    plain = " ".join(name.casefold().replace("’", "'").strip(" .,;:!?\"'`").lstrip("#@").split()).removesuffix("'s")
    return ARTICLE.sub("", plain, count=1) if ARTICLE.match(plain) else plain


def rows(path: Path) -> list[Row]:
    return list(map(json.loads, path.read_text("utf-8").splitlines()))


class Labels:
    """The labelled notes of a folder, and every form that their scope has of a name."""

    def __init__(self, folder: Path) -> None:
        self.labels = rows(folder / "labels.jsonl")
        self.stories = [row for row in rows(folder / "moves.jsonl") if row["half"] == "report"]
        notes = {row["_id"]: row.get("metadata", {}) for row in rows(folder / "corpus.jsonl")}
        self.scope = {key: metadata.get("scope") or "" for key, metadata in notes.items()}
        self._forms: dict[tuple[str, str], set[str]] = defaultdict(set)
        for label in self.labels:
            for name in label["names"]:
                forms = {fold(form) for form in (name["name"], name["canonical"], *name.get("also", ()))}
                self._forms[self.scope[label["doc_id"]], name["canonical"]] |= forms
            for word in ("I", "we", "wir"):
                owner = fold(label.get("owner") or "I")
                self._forms[self.scope[label["doc_id"]], word] |= {"i", owner}

    def forms(self, scope: str, name: str) -> set[str]:
        return self._forms.get((scope, name), set()) | {fold(name)}

    def is_same(self, name: str, wanted: str, label: Row) -> bool:
        """Whether an end of a fact is the labelled one; a common noun by its last word."""
        said = fold(name.split(" (", maxsplit=1)[0])
        if said in self.forms(self.scope[label["doc_id"]], wanted) or said.replace(" ", "") == wanted.replace(" ", ""):
            return True
        return wanted in label["optional"] and said.split()[-1:] == fold(wanted).split()[-1:]


def names_and_facts(kb: hopgate.KnowledgeBase, labels: Labels, tally: Counter[str]) -> None:
    """Count names and facts of the reporting half: right, wrong, found, missed."""
    for label in labels.labels:
        if label["half"] != "report":
            continue
        memory, scope = kb.graph.memory(label["doc_id"]), labels.scope[label["doc_id"]]
        wanted = [labels.forms(scope, name["name"]) | labels.forms(scope, name["canonical"]) for name in label["names"]]
        given = {fold(each.name) for each in memory.mentions if each.name.split(" (")[0] != "I"} - {""}
        right = {name for name in given if any(name in forms for forms in wanted)}
        optional = {fold(name) for name in label["optional"]} | {fold(label.get("owner") or "I")}
        tally["names right"] += len(right)
        tally["names wrong"] += len(given - right - optional)
        tally["names found"] += sum(not forms.isdisjoint(given) for forms in wanted)
        tally["names labelled"] += len(wanted)
        matched: set[int] = set()
        for fact in memory.facts:
            if fact.relation not in RELATIONS:
                continue
            hits = [at for at, row in enumerate(label["facts"]) if is_fact(fact, row, label, labels)]
            beside = [*label["optional_facts"], *label["ends"]]
            if hits and hits[0] not in matched:
                matched.add(hits[0])
            elif not hits and not fact.valid_to and not any(is_fact(fact, row, label, labels) for row in beside):
                # Whether an end is right is asked of the stories.
                tally["facts wrong"] += 1
        tally["facts right"] += len(matched)
        tally["facts labelled"] += len(label["facts"])


def is_fact(fact: Any, row: Row, label: Row, labels: Labels) -> bool:
    if fact.relation != row["relation"]:
        return False
    ways = [(fact.subject, fact.object)] + [(fact.object, fact.subject)] * (fact.relation in EITHER_WAY)
    if row["relation"] == "due" and fact.object.startswith(row["object"]):
        return labels.is_same(fact.subject, row["subject"], label)
    return any(
        labels.is_same(one, row["subject"], label) and labels.is_same(other, row["object"], label)
        for one, other in ways
    )


def changes(kb: hopgate.KnowledgeBase, labels: Labels, tally: Counter[str]) -> None:
    """Count the stories whose former value is over after the change, and the look-alikes in which something ended."""
    by_scope = {scope: kb.graph.edges(scope=scope or None) for scope in {row["scope"] for row in labels.stories}}
    for story in labels.stories:
        if not story["before"]["object"]:
            continue
        scope, notes = story["scope"], set(story["notes"])
        edges = [edge for edge in by_scope[scope] if notes.intersection(edge.evidence)]
        words = {word for name in (story["subject"], *story.get("subjects", ())) for form in labels.forms(scope, name)
                 for word in form.split()}  # fmt: skip
        mine = [edge for edge in edges if words.intersection(fold(f"{edge.source} {edge.relation}").split())] or edges

        def holds(side: Row, name: str | None, edges: Sequence[Any] = mine, scope: str = scope) -> bool:
            day = datetime.fromisoformat(side["as_of"]).replace(tzinfo=UTC)
            return name is not None and any(
                overlaps(fold(edge.target), labels.forms(scope, name))
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


def note_figures(store: Callable[[], AbstractContextManager[hopgate.KnowledgeBase]]) -> dict[str, float]:
    """Give the figures of the reporting halves, each set in a store of its own."""
    figures: dict[str, float] = {}
    for title, folders in SETS.items():
        tally = Counter[str]()
        for folder in folders:
            labels = Labels(NOTES / folder)
            with store() as kb:
                kb.ingest(NOTES / folder / "corpus.jsonl")
                kb.build()
                if title == "first":
                    names_and_facts(kb, labels, tally)
                changes(kb, labels, tally)
        print(f"notes {title}: {dict(tally)}", file=sys.stderr)
        shares = {
            "names precision": ("names right", ("names right", "names wrong")),
            "names recall": ("names found", ("names labelled",)),
            "facts precision": ("facts right", ("facts right", "facts wrong")),
            "facts recall": ("facts right", ("facts labelled",)),
            "changes seen": ("changes seen", ("changes",)),
            "changes right": ("changes right", ("changes",)),
            "look-alikes wrong": ("look-alikes wrong", ("look-alikes",)),
        }
        for name, (part, whole) in shares.items():
            if count := sum(tally[each] for each in whole):
                figures[f"{title} {name}"] = round(tally[part] / count, 4)
    return figures
