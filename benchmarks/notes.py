"""The no-model extractor on hand-labelled notes: names, facts, moves over time, contradictions, and its speed.

The notes and their labels are in `benchmarks/notes/`; RELATIONS.md says how they were labelled, before the extractor
was written for them; further sets, `fresh`, `third`, and of moves alone `fifth` to `twentythird`, were written later.
Rules were tuned on one half and are reported on the other; `--half tune` shows the first. A name is right when it
equals a labelled form; a fact when its relation and both ends do, an ended one only with its end. What a label calls
optional is neither required nor punished. Moves, as-of answers and contradictions are asked of a store.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import hopgate
from hopgate.corpus import read_corpus
from hopgate.extract.context import with_context
from hopgate.extract.extraction import Extraction, Fact, Source
from hopgate.extract.rules.language_tables import LANGUAGES
from hopgate.extract.rules.phrases import Phrases
from hopgate.graph.build.changes import IS
from hopgate.graph.inspect.edges import Edge
from hopgate.memory import Cleared, Memory

DAYS = frozenset().union(*(language.days for language in LANGUAGES.values()))
DATA = Path(__file__).with_name("notes")
_MOVES_ALONE = re.split(
    " ",
    "fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth "
    "eighteenth nineteenth twentieth twentyfirst twentysecond twentythird twentyfourth "
    "twentyfifth twentysixth twentyseventh",
)
RELATIONS = frozenset(
    re.split(
        ",",
        "runs on,located in,lives in,works at,owned by,led by,reports to,part of,replaced by,alias of,costs,due,"
        "allergic to,bought from,sold to,married to,parent of,sibling of,friend of,has address",
    )
)
EITHER_WAY = frozenset(("alias of", "married to", "sibling of", "friend of"))
LITERAL = frozenset(("costs", "due", "takes place"))
ARTICLE = re.compile(
    r"(?:the|a|an|my|our|der|die|das|den|dem|ein|eine|einen|le|la|les|l'|el|los|las|il|lo|de|het|een) ?\b"
)
DAY = re.compile(
    r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?(?: (?:of|de))? (?P<month>[^\W\d_]+)|"
    r"(?P<first>[^\W\d_]+) (?P<second>\d{1,2})(?:st|nd|rd|th)?"
)
MONTHS = (
    "january jan januar janvier enero gennaio januari", "february feb februar février febrero febbraio februari",
    "march mar märz mars marzo maart", "april apr avril abril aprile", "may mai mayo maggio mei",
    "june jun juni juin junio giugno", "july jul juli juillet julio luglio", "august aug août agosto augustus",
    "september sep sept septembre septiembre settembre", "october oct oktober octobre octubre ottobre",
    "november nov novembre noviembre", "december dec dezember décembre diciembre dicembre",
)  # fmt: skip
Row = dict[str, Any]


class Tally(NamedTuple):
    """What was found and wanted: right and wrong predictions, labels found and missed."""

    right: int = 0
    wrong: int = 0
    found: int = 0
    missed: int = 0

    def plus(self, other: Tally) -> Tally:
        return Tally(*(one + two for one, two in zip(self, other, strict=True)))

    def scores(self, what: str) -> dict[str, float]:
        return {
            f"{what}_precision": self.right / max(1, self.right + self.wrong),
            f"{what}_recall": self.found / max(1, self.found + self.missed),
        }


def main() -> None:
    options = parsed()
    memories, labels = loaded(DATA)
    began = time.process_time()
    sources = with_context(memories)
    extractions = Phrases().extract(sources)
    seconds = time.process_time() - began
    result: Row = {"half": options.half, **quality(extractions, sources, labels, memories, options)}
    result |= {"memories_per_cpu_second": len(sources) / seconds} | speed(memories)
    if not options.quick:
        result |= over_time(memories, labels, options.half, options.errors) | contradictions(memories)
    result |= {folder: beside(folder, options) for folder in ("fresh", "third")}
    if not options.quick:
        for folder in _MOVES_ALONE:
            result[folder] = over_time(*loaded(DATA / folder), options.half, options.errors, folder)
        result["plain_pairs"] = plain_pairs(options.half)
    if options.json:
        print(json.dumps(result))
    else:
        for key, value in result.items():
            print(f"{key:32} {value:.3f}" if isinstance(value, float) else f"{key:32} {value}")


def beside(folder: str, options: argparse.Namespace) -> Row:
    """The same of a further set, written after the rules were; each of its stories is a scope of its own."""
    memories, labels = loaded(DATA / folder)
    sources = with_context(memories)
    result = quality(Phrases().extract(sources), sources, labels, memories, options)
    return result if options.quick else result | over_time(memories, labels, options.half, options.errors, folder)


def loaded(folder: Path) -> tuple[list[Memory], dict[str, Row]]:
    return list(read_corpus(folder / "corpus.jsonl")), {row["doc_id"]: row for row in rows(folder / "labels.jsonl")}


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("tune", "report"), default="report")
    parser.add_argument("--errors", action="store_true", help="list what is wrong (of the tuning half only)")
    parser.add_argument("--quick", action="store_true", help="without the store: no moves, as-of, contradictions")
    parser.add_argument("--json", action="store_true")
    options: argparse.Namespace = parser.parse_args()
    options.errors = options.errors and options.half == "tune"
    return options


def rows(path: Path) -> Iterator[Row]:
    return map(json.loads, path.read_text("utf-8").splitlines())


def quality(
    extractions: Sequence[Extraction],
    sources: Sequence[Source],
    labels: Mapping[str, Row],
    memories: Sequence[Memory],
    options: argparse.Namespace,
) -> Row:
    found = dict(zip((source.memory_id for source in sources), extractions, strict=True))
    half, show = options.half, options.errors
    forms = forms_by_scope(labels, memories)
    scopes = {memory.external_id: memory.scope or "" for memory in memories}
    names, facts, dated, other = Tally(), Tally(), Tally(), 0
    for key, label in labels.items():
        if label["half"] != half:
            continue
        extraction = found.get(key, Extraction())
        names = names.plus(score_names(extraction, label, show))
        one, dates, outside = score_facts(extraction, label, forms[scopes[key]], show)
        facts, dated, other = facts.plus(one), dated.plus(dates), other + outside
    return {
        **names.scores("names"),
        **facts.scores("facts"),
        "fact_dates_right": dated.found / max(1, dated.found + dated.missed),
        "facts_of_other_relations": other,
        "counts": {"names": names._asdict(), "facts": facts._asdict()},
    }


def score_names(extraction: Extraction, label: Row, show: bool) -> Tally:
    wanted = [
        {fold(form) for form in (name["name"], name["canonical"], *name.get("also", ()))} for name in label["names"]
    ]
    optional = {fold(name) for name in label["optional"]} | {fold(label.get("owner") or "I")}
    named = [mention.name for mention in extraction.mentions]
    named += [end for fact in extraction.facts for end in ends(fact)]
    predicted = {fold(name) for name in named if name.split(" (")[0] != "I"} - {""}
    right = {name for name in predicted if any(name in forms for forms in wanted)}
    wrong = predicted - right - optional
    missed = [forms for forms in wanted if forms.isdisjoint(predicted)]
    if show and (wrong or missed):
        print(
            label["doc_id"],
            label["language"],
            "wrong:",
            sorted(wrong),
            "missed:",
            [min(one, key=len) for one in missed],
        )
    return Tally(len(right), len(wrong), len(wanted) - len(missed), len(missed))


def ends(fact: Fact) -> tuple[str, ...]:
    """The ends of a fact that are names: an amount, a date, a port or a version is not."""
    literal = fact.relation in LITERAL or fact.relation.startswith("has ")
    return (fact.subject,) if literal else (fact.subject, fact.object)


def score_facts(
    extraction: Extraction, label: Row, forms: Mapping[str, set[str]], show: bool
) -> tuple[Tally, Tally, int]:
    predicted = [fact for fact in dict.fromkeys(extraction.facts) if fact.relation in RELATIONS]
    matched: set[int] = set()
    right = wrong = dates = undated = 0
    for fact in predicted:
        hit = next((at for at, row in enumerate(label["facts"]) if same(fact, row, label, forms)), None)
        if hit is not None and not (fact.valid_to and "valid_to" not in label["facts"][hit]):
            right += hit not in matched
            matched.add(hit)
            row = label["facts"][hit]
            given = [(row[key], getattr(fact, key) or "") for key in ("valid_from", "valid_to") if key in row]
            dates += all(value.startswith(date) for date, value in given) and bool(given)
            undated += not all(value.startswith(date) for date, value in given)
        elif any(same(fact, row, label, forms) for row in label["optional_facts"]) or (
            any(same(fact, row, label, forms) for row in label["ends"]) and fact.valid_to
        ):
            continue
        else:
            wrong += 1
            if show:
                print(
                    label["doc_id"],
                    "wrong fact:",
                    fact.subject,
                    "|",
                    fact.relation,
                    "|",
                    fact.object,
                    fact.valid_to or "",
                )
    missed = [row for at, row in enumerate(label["facts"]) if at not in matched]
    if show:
        for row in missed:
            print(label["doc_id"], "missed fact:", row["subject"], "|", row["relation"], "|", row["object"])
    tally = Tally(right, wrong, len(matched), len(missed))
    return tally, Tally(found=dates, missed=undated), len(set(extraction.facts)) - len(predicted)


def same(fact: Fact, row: Row, label: Row, forms: Mapping[str, set[str]]) -> bool:
    if fact.relation != row["relation"]:
        return False
    if is_same(fact.subject, row["subject"], label, forms) and is_same(fact.object, row["object"], label, forms, fact):
        return True
    turned = fact.relation in EITHER_WAY and is_same(fact.object, row["subject"], label, forms)
    return turned and is_same(fact.subject, row["object"], label, forms)


def is_same(said: str, wanted: str, label: Row, forms: Mapping[str, set[str]], fact: Fact | None = None) -> bool:
    if fact and fact.relation == "costs":
        return re.sub(r"\s", "", said) == re.sub(r"\s", "", wanted)
    if fact and fact.relation == "due":
        return said.startswith(wanted)
    if wanted == "I":
        return is_owner(said, label)
    if fold(said) in forms.get(wanted, {fold(wanted)}):
        return True
    # A common noun is compared by its head: "the old bike" is "bike".
    return wanted in label["optional"] and fold(said).split()[-1:] == fold(wanted).split()[-1:]


def is_owner(name: str, label: Row) -> bool:
    return name.split(" (", maxsplit=1)[0] in ("I", label.get("owner"))


def forms_by_scope(labels: Mapping[str, Row], memories: Sequence[Memory]) -> dict[str, dict[str, set[str]]]:
    """Every form of each canonical name, over all notes of a scope."""
    forms: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for memory in memories:
        for name in labels[memory.external_id]["names"]:
            known = forms[memory.scope or ""][name["canonical"]]
            known |= {fold(form) for form in (name["name"], name["canonical"], *name.get("also", ()))}
    return forms


def fold(name: str) -> str:
    plain = " ".join(name.casefold().replace("’", "'").strip(" .,;:!?\"'`").lstrip("#@").split())
    plain = plain.removesuffix("'s")
    return ARTICLE.sub("", plain, count=1) if ARTICLE.match(plain) and " " in plain else plain


def over_time(memories: Sequence[Memory], labels: Mapping[str, Row], half: str, show: bool, folder: str = "") -> Row:
    """Ask a store: each scope whole, and where scopes hold several stories each of them alone."""
    by_id = {memory.external_id: memory for memory in memories}
    forms = forms_by_scope(labels, memories)
    for memory in memories:
        # Who says "I" has a name in the graph.
        for word in ("I", "we", "wir"):
            forms[memory.scope or ""][word] |= {"i", fold(labels[memory.external_id].get("owner") or "I")}
    stories = [row for row in rows(DATA / folder / "moves.jsonl") if row["half"] == half]
    answers = 0
    moved: list[Row] = []
    wrong: list[Row] = []
    by_part = 0
    with tempfile.TemporaryDirectory() as place, hopgate.open(place) as kb:
        kb.add(*memories)
        kb.build()
        whole = {row["story"]: answered(kb, row, forms[row["scope"]]) for row in stories}
        by_part = sum(
            row["is_move"]
            and (all(whole[row["story"]][:2]) or all(answered(kb, row, forms[row["scope"]], by_part=True)[:2]))
            for row in stories
        )
        kb.delete([memory.external_id for memory in memories])
        for row in stories:
            alone = whole[row["story"]]
            if not folder:
                kb.add(*(by_id[key] for key in row["notes"]))
                kb.build(rebuild=True)
                alone = answered(kb, row, forms[row["scope"]])
                kb.delete(row["notes"])
            both = [a and b for a, b in zip(alone[:2], whole[row["story"]][:2], strict=True)]
            answers += sum(both)
            moved += [row] * (row["is_move"] and all(both))
            wrong += [row] * (not all(alone[2:] + whole[row["story"]][2:]))
            if show and not all(both):
                print(row["story"], row["subject"], row["relation"], "alone:", alone, "in scope:", whole[row["story"]])
    return {
        "moves": sum(row["is_move"] for row in stories),
        "moves_superseded_rightly": len(moved),
        "moves_rightly_by_part_of_a_name": by_part,
        "not_moves": sum(not row["is_move"] for row in stories),
        "superseded_wrongly": len(wrong),
        "as_of_questions": 2 * len(stories),
        "as_of_right": answers,
    } | by_wording(stories, moved, wrong)


def by_wording(stories: Sequence[Row], moved: Sequence[Row], wrong: Sequence[Row]) -> Row:
    """The same counts of the plainest wordings and of freer ones apart, where a set says which are which."""
    counts = {}
    for name, plain in (("plain", True), ("free", False)):
        of, right, bad = ([row for row in some if row.get("plain") is plain] for some in (stories, moved, wrong))
        if of:
            counts[name] = {"moves": sum(row["is_move"] for row in of), "rightly": len(right), "wrongly": len(bad)}
    return counts


def contradictions(memories: Sequence[Memory]) -> Row:
    """Curate the eight notes of which four contradict another."""
    by_id = {memory.external_id: memory for memory in memories}
    pairs = {row["_id"]: row["contradicts"] for row in rows(DATA / "contradictions.jsonl")}
    with tempfile.TemporaryDirectory() as place, hopgate.open(place) as kb:
        kb.add(*(by_id[key] for key in pairs))
        kb.build()
        actions = {one.memory: (one.action.value, one.older) for one in kb.graph.curate()}
    told = [key for key in pairs if actions[key][0] != "ADD"]
    seen = sum(actions[key][1] == pairs[key] for key in told)
    return {
        "contradictions": sum(older is not None for older in pairs.values()),
        "contradictions_seen": seen,
        "contradictions_wrongly_seen": len(told) - seen,
    }


def plain_pairs(half: str) -> Row:
    """Two plain notes of one thing without a word of change: of how many an end is seen, and of how many it is none."""
    pairs = [row for row in rows(DATA / "plain_pairs.jsonl") if row["half"] == half]
    written = [datetime(2024, month, 5, tzinfo=UTC) for month in (1, 3)]
    ended = {True: 0, False: 0}
    with tempfile.TemporaryDirectory() as place, hopgate.open(place) as kb:
        for at, row in enumerate(pairs):
            notes = zip((row["first"], row["second"]), written, strict=True)
            kb.add(*(Memory(f"{at} {day:%m}", text, created_at=day, scope=str(at)) for text, day in notes))
        kb.build()
        for at, row in enumerate(pairs):
            ended[row["contradicts"]] += any(edge.valid_to for edge in kb.graph.edges(scope=str(at)))
    count = sum(row["contradicts"] for row in pairs)
    return {
        "contradictions": count,
        "contradictions_seen": ended[True],
        "others": len(pairs) - count,
        "others_ended_wrongly": ended[False],
    }


def answered(
    kb: hopgate.KnowledgeBase, story: Row, forms: Mapping[str, set[str]], *, by_part: bool = False
) -> list[bool]:
    """Whether as of before and as of after the graph has the object that it should, and no other one.

    The third answer: whether nothing was superseded that was not: a story without a move keeps its object, and what
    must never hold does not. With `by_part` a name stands for another one that it begins or ends: "Beelink" for
    "Beelink mini PC", where it does not stand for what was or is instead as well.
    """
    mine = {fold(story["subject"]).split()[-1]}
    for name in (story["subject"], *story.get("subjects", ())):
        mine |= forms.get(name, set()) | {fold(name)}
    sides = {
        side: spelled(story[side]["object"], forms) | dated(story[side]["object"] or "", story[side]["as_of"])
        for side in ("before", "after")
    }
    never, also = ({fold(name) for name in story.get(key, ())} for key in ("never", "also"))
    right, held = [], []
    for side, wanted in sides.items():
        when = datetime.fromisoformat(story[side]["as_of"]).replace(tzinfo=UTC)
        edges = kb.graph.edges(as_of=when, scope=story["scope"])
        if by_part:
            mine |= {source for edge in edges if is_part_of_one(source := fold(edge.source), mine)}
        said = [edge for edge in edges if starts_at(edge, mine, story["relation"], in_chat=story["style"] == "chat")]
        targets = {fold(edge.target) for edge in said}
        if by_part:
            others = sides["after" if side == "before" else "before"]
            parts = {name for name in targets if is_part_of_one(name, wanted) and not is_part_of_one(name, others)}
            targets = targets - parts | (wanted if parts else set())
        if story["relation"] == "costs":
            targets |= {amount for target in targets if (amount := unit_less(target)) in wanted}
            targets -= {target for target in targets if unit_less(target) in wanted and target not in wanted}
        if story["relation"] is None:
            # Whatever the relation is called: of the values that the story names, which?
            targets &= sides["before"] | sides["after"] | never | also
        # What may hold beside the wanted object does not stand for it: the other alone means that it was superseded.
        right.append(bool(targets & wanted) == bool(wanted) and targets <= wanted | also)
        held.append(targets)
    lost = not story["is_move"] and right[0] and not right[1]
    return [*right, not (lost or never & (held[0] | held[1]))]


def is_part_of_one(name: str, names: set[str]) -> bool:
    return any(shares_start_or_end(name, one) for one in names)


def shares_start_or_end(one: str, other: str) -> bool:
    """Whether two values are one, or one has more words before or after the other."""
    few, many = sorted((one.casefold().split(), other.casefold().split()), key=len)
    return bool(few) and few in (many[: len(few)], many[-len(few) :])


def spelled(name: str | None, forms: Mapping[str, set[str]]) -> set[str]:
    if not name:
        return set()
    # The graph has one form of a weekday: "Wednesdays" is wednesday, "dienstags" dienstag.
    day = fold(name).removesuffix("s")
    return forms.get(name, set()) | {fold(name)} | ({day} if day in DAYS else set())


def unit_less(amount: str) -> str:
    """The number of an amount, for labels that leave its currency out."""
    return re.sub(r"[^\d.,]", "", amount)


def dated(text: str, as_of: str) -> set[str]:
    """A day as the graph writes it, where a label has it as a person would: "12 April", "8th of May", "31. Juli"."""
    found = DAY.fullmatch(text.casefold())
    if not found:
        return set()
    name = found["month"] or found["first"]
    month = next((at for at, names in enumerate(MONTHS, 1) if name in names.split()), 0)
    day = int(found["day"] or found["second"])
    # Stories were dated by chance: which year is meant, the note's own day decides.
    return {f"{int(as_of[:4]) + more}-{month:02}-{day:02}" for more in (-1, 0, 1)} if month else set()


def starts_at(edge: Edge, mine: set[str], relation: str | None, *, in_chat: bool = False) -> bool:
    """Whether an edge is about a story's subject, by whatever relation where its label or the graph has no other.

    By the subject's name, as what somebody has ("I | has CI | Buildkite"), or in a chat a speaker's ("Finn's drummer").
    """
    if relation not in (None, edge.relation) and edge.relation != IS:
        return False
    if relation is None and edge.relation.startswith("has ") and fold(edge.relation.removeprefix("has ")) in mine:
        return True
    source = fold(edge.source.split(" (")[0])
    return source in mine or (in_chat and source.rpartition("'s ")[2] in mine)


def speed(memories: Sequence[Memory]) -> Row:
    """Memories a second of one core, warm, by rules and by default; and how long a million characters take."""
    texts = ["\n".join(filter(None, (memory.title, memory.text))) for memory in memories]
    slowest = 0.0
    for text in adversarial(" ".join(texts)):
        began = time.process_time()
        Phrases().extract([Source("long", Cleared(text))])
        slowest = max(slowest, time.process_time() - began)
    rates: list[float] = []
    for extractor in (Phrases(), Phrases(changes=True)):
        extractor.extract(with_context(list(memories[:20])))
        began = time.process_time()
        extractor.extract(with_context(list(memories)))
        rates.append(len(memories) / (time.process_time() - began))
    return {
        "warm_memories_per_cpu_second": rates[0],
        "default_memories_per_cpu_second": rates[1],
        "megabyte_seconds": slowest,
    }


def adversarial(prose: str) -> Iterable[str]:
    units = re.split(r"[|]", " |a|(|[[|A|Aa |http://|/a|a.b@|1.|->|é|中|\n |#|`|x -> |'s |a-")
    # Whole sentences, of which each is looked at with all others of its text around it.
    sentences = (
        "on 12 May, ", "ab 12.12, ", "von A nach B, ", "Einkauf ist von Gebäude C nach Gebäude F. ",
        "seine Hausärztin. ", "swapped nginx for Caddy. ", "costs 5 pounds at Gail's. ", "due on the 14th. ",
        "from Monday standup is at 10:00. ",
    )  # fmt: skip
    for unit in (*units, *sentences):
        yield unit * (1_000_000 // len(unit))
    yield (prose + " ") * (1_000_000 // len(prose))


if __name__ == "__main__":
    main()
