"""The checks of a gate: each can fail, and says what it found. The control is judged part by part (`verdict`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

from hopgate.eval.data.dataset import Query, folded
from hopgate.eval.data.runs import Qrels, relevant
from hopgate.eval.evidence import Arm, Evidence, Origin
from hopgate.eval.plan import LEAST_CLUSTERS, LEAST_QUERIES
from hopgate.extract.files import Triple
from hopgate.memory import Memory

NEAR = 0.8
"""Two questions that share this much of their words are nearly the same."""
COPIED, SHARED = 0.01, 0.05
"""The shares of reported questions that may be copies of tuned ones, or share their gold or scope."""
FOREIGN, LEAKING = 0.05, 0.05
JUDGED_APART = 0.1
BARRED, ENOUGH_LISTS = 0.1, 10
"""A leg is barred where what it alone lists could enter the top k on fewer than a tenth of such queries."""
FEW_FOR_POOL = 10


class Status(StrEnum):
    """How a check ended. Only `fail` makes a verdict INVALID; `short` keeps it from opening."""

    PASS = "pass"
    FAIL = "fail"
    SHORT = "short"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Check:
    """What a check found."""

    name: str
    status: Status
    finding: str


def check_all(evidence: Evidence) -> tuple[Check, ...]:
    """Run every check, in the order in which they are shown."""
    kinds: Sequence[Callable[[Evidence], Check]] = (coverage, copies, provenance, judged, reachable, clusters)
    return tuple(kind(evidence) for kind in kinds)


def coverage(evidence: Evidence) -> Check:
    """Whether every compared run answers every judged query, to the same depth, and is a run of its own."""
    k, names, problems = evidence.plan.k, evidence.reported, []
    compared = _compared(evidence)
    depths = {arm.name: _depth([len(arm.run.get(name, ())) for name in names], k) for arm in compared}
    seen: dict[tuple[tuple[str, ...], ...], str] = {}
    for arm in compared:
        if missing := sum(name not in arm.run for name in names):
            problems.append(f"{arm.name} has no list for {missing} of {len(names)} judged queries")
        if arm.configuration:
            continue
        if depths[arm.name] < min(k, max(depths.values())):
            problems.append(f"{arm.name} is cut at {depths[arm.name]}, others list more, and {k} are judged")
        twin = seen.setdefault(tuple(tuple(arm.run.get(name, ())[:k]) for name in names), arm.name)
        if twin != arm.name and len(names) >= LEAST_QUERIES:
            problems.append(f"{twin} and {arm.name} are one run")
    problems += evidence.doubts
    without = len(evidence.qrels) - len(names)
    note = f"; {without} queries without an answer are left out" if without else ""
    if problems:
        return Check("coverage", Status.FAIL, "; ".join(problems) + note)
    return Check("coverage", Status.PASS, f"every arm ranks all {len(names)} judged queries{note}")


def copies(evidence: Evidence) -> Check:
    """Whether questions that were tuned on, or their answers, stand among those that are reported."""
    count = len(evidence.reported)
    if not evidence.tuned:
        if not any(arm.configuration for arm in _compared(evidence)):
            return Check("copies", Status.UNKNOWN, "what these runs were tuned on is not known")
        return Check("copies", Status.PASS, evidence.left_out or "nothing was tuned on")
    related = _related(evidence.queries, evidence.gold, evidence.tuned, evidence.plan.relevant_from)
    found = [
        f"{len(part)} of {count} reported questions {what}"
        for part, what, most in (
            (related[0], "are nearly those that were tuned on", COPIED),
            (related[1], "share an answer with those", SHARED),
            (related[2], "are from their scopes", SHARED),
        )
        if len(part) > most * count
    ]
    if found:
        return Check("copies", Status.FAIL, "; ".join(found) + ": divide the data with hopgate dataset split")
    told = f"{count} reported questions, apart from {len(evidence.tuned)} tuned ones"
    return Check("copies", Status.PASS, f"{told}; {evidence.left_out}" if evidence.left_out else told)


def apart(queries: Mapping[str, Query], tuned: Qrels, reported: Qrels, least: int = 1) -> tuple[Qrels, str]:
    """Leave out of tuning what is nearly a reported question, or shares an answer or a scope with one; say how many."""
    gold = {name: relevant(answers, least) for name, answers in tuned.items()}
    left = set[str]().union(*_related(queries, gold, reported, least))
    told = f"{len(left)} of {len(tuned)} questions were not tuned on: they share words, answers or scope with reported"
    return {name: answers for name, answers in tuned.items() if name not in left}, f"{told} ones" if left else ""


def _related(
    queries: Mapping[str, Query], gold: Mapping[str, AbstractSet[str]], others: Qrels, least: int
) -> tuple[set[str], set[str], set[str]]:
    """Of some questions with their answers those that are nearly another, share an answer or are of its scope."""
    near = near_copies({name: queries[name].text for name in gold}, [queries[name].text for name in others])
    theirs = {memory for answers in others.values() for memory in relevant(answers, least)}
    scopes = {queries[name].scope for name in others} - {None}
    of_gold = {name for name, answers in gold.items() if answers & theirs}
    return set(near), of_gold, {name for name in gold if queries[name].scope in scopes}


def near_copies(reported: Mapping[str, str], tuned: Iterable[str]) -> list[str]:
    """Give the reported questions that share nearly all their words with a tuned one, or hold all of one's.

    Examples
    --------
    >>> near_copies({"a": "Tell me: who owns the NAS?", "b": "Where is it?"}, ["Who owns the NAS?"])
    ['a']
    """
    words_of = [frozenset(folded(text).split()) for text in tuned]
    with_word: dict[str, list[int]] = defaultdict(list)
    for place, words in enumerate(words_of):
        for word in words:
            with_word[word].append(place)
    found = []
    for name, text in reported.items():
        own = frozenset(folded(text).split())
        shared: dict[int, int] = defaultdict(int)
        for word in own:
            for place in with_word.get(word, ()):
                shared[place] += 1
        if any(_alike(count, own, words_of[place]) for place, count in shared.items()):
            found.append(name)
    return found


def provenance(evidence: Evidence) -> Check:
    """Whether the questions were made from the graph, or the graph from the questions."""
    made = sum(bool(evidence.queries[name].metadata.get("made")) for name in evidence.reported)
    if made:
        finding = f"{made} reported questions were made from a graph: they explore, and open nothing"
        return Check("provenance", Status.FAIL, finding)
    origin = evidence.origin
    if not origin.known:
        finding = f"who made the graph ({origin.graph}) and whether it saw the questions cannot be known"
        return Check("provenance", Status.UNKNOWN, finding)
    problems = []
    if origin.foreign > FOREIGN * max(1, origin.facts):
        problems.append(f"{origin.foreign} of {origin.facts} facts have words that their memory does not")
    reported, tuned = origin.leaking
    here, there = reported / max(1, len(evidence.reported)), tuned / max(1, len(evidence.tuned))
    if here > there + LEAKING:
        problems.append(f"{reported} reported questions stand in facts on their answers, {tuned} of the tuned ones")
    if problems:
        return Check("provenance", Status.FAIL, "; ".join(problems))
    return Check("provenance", Status.PASS, f"the graph ({origin.graph}) says what the memories say")


def origin_of(evidence: Evidence, memories: Iterable[Memory], triples: Sequence[Triple]) -> Origin:
    """Compare facts that somebody brought with the memories they are on and with the questions."""
    texts = {memory.external_id: _words(f"{memory.title or ''} {memory.text}") for memory in memories}
    said: dict[str, set[str]] = defaultdict(set)
    foreign = 0
    for triple in triples:
        words = _words(triple.subject) | _words(triple.object)
        foreign += not words <= texts.get(triple.doc_id, frozenset())
        said[triple.doc_id] |= words | _words(triple.relation)

    def leaks(name: str, grades: Mapping[str, int]) -> bool:
        words = {word for word in _words(evidence.queries[name].text) if len(word) > 3}
        for memory in relevant(grades, evidence.plan.relevant_from):
            new = words - texts.get(memory, frozenset())
            if len(new) >= 2 and len(new & said[memory]) >= NEAR * len(new):
                return True
        return False

    here, there = (sum(leaks(*asked) for asked in qrels.items()) for qrels in (evidence.qrels, evidence.tuned))
    return Origin("triples.jsonl", known=True, facts=len(triples), foreign=foreign, leaking=(here, there))


def judged(evidence: Evidence) -> Check:
    """Whether what the compared arms found was judged alike."""
    k, names, least = evidence.plan.k, evidence.reported, evidence.plan.relevant_from
    first = {arm.name: {name: arm.run.get(name, ())[:k] for name in names} for arm in _compared(evidence)}
    if any(grade < least for name in names for grade in evidence.qrels[name].values()):
        shares, wrong = {}, {}
        for arm, tops in first.items():
            grades = [evidence.qrels[name].get(memory) for name, top in tops.items() for memory in top]
            others = [grade for grade in grades if grade is None or grade < least]
            shares[arm] = sum(grade is not None for grade in grades) / max(1, len(grades))
            wrong[arm] = sum(grade is not None for grade in others) / max(1, len(others))
        low, high = min(shares, key=lambda arm: shares[arm]), max(shares, key=lambda arm: shares[arm])
        told = f"of the first {k} of {high} {shares[high]:.0%} are judged, of {low} {shares[low]:.0%}"
        # Who finds more answers has more judged, too: what is no answer must have been judged more often as well.
        if shares[high] - shares[low] > JUDGED_APART < wrong[high] - wrong[low]:
            finding = f"{told}: judge what {low} found (hopgate questions pools over all legs)"
            return Check("judged", Status.FAIL, finding)
        return Check("judged", Status.PASS, told)
    found = {
        arm: [len(evidence.gold[name].intersection(top)) / len(evidence.gold[name]) for name, top in tops.items()]
        for arm, tops in first.items()
    }
    whole = [arm for arm, shares in found.items() if min(shares) == 1]
    if len(whole) == 1 and len(first) > 1 and len(names) >= FEW_FOR_POOL:
        finding = f"every answer is among the first {k} of {whole[0]}, as if only what it found had been judged"
        arms = [rung.arm for rung in evidence.rungs]
        if whole[0] in arms or all(round(sum(found[arm]) / len(names), 9) >= 1 - JUDGED_APART for arm in arms):
            return Check("judged", Status.UNKNOWN, f"{finding}, or as it is where an arm finds everything")
        return Check("judged", Status.FAIL, f"{finding}: judge what the others found, with 0 where it is no answer")
    return Check("judged", Status.PASS, "only answers are listed: what is not counts as wrong, for every arm alike")


def reachable(evidence: Evidence) -> Check:
    """Whether each leg's own first candidate can enter the top k, by the lists, in each arm that is compared.

    A leg that is barred in a base is no matter where it is a base of its own, too: that one must be beaten as well.
    """
    shut = [
        f"in {arm.name} a memory of the {leg} leg alone can enter the first {evidence.plan.k} on {entered} of {listed}"
        for arm in _compared(evidence)
        for leg, (entered, listed) in arm.entering.items()
        if barred(entered, listed) and not (arm.name in evidence.bases and leg in evidence.bases)
    ]
    if shut:
        return Check("reachable", Status.FAIL, "; ".join(shut))
    known = [arm for arm in _compared(evidence) if arm.entering]
    if not known:
        return Check("reachable", Status.UNKNOWN, "how these runs were fused is not known")
    return Check("reachable", Status.PASS, f"no leg is barred from the first {evidence.plan.k} in {len(known)} arms")


def barred(entered: int, listed: int) -> bool:
    """Say whether a leg is heard on too few queries to have been tested."""
    return listed >= ENOUGH_LISTS and entered < BARRED * listed


def clusters(evidence: Evidence) -> Check:
    """Whether there are enough questions, and enough groups of them, for a general claim."""
    queries, groups = len(evidence.reported), len(set(evidence.clusters.values()))
    told = f"{queries} questions in {groups} groups"
    if not any(query.cluster or query.scope for query in evidence.queries.values()):
        told += ", as far as is known: no question names its conversation"
    if queries < LEAST_QUERIES or groups < LEAST_CLUSTERS:
        hint = ", or declare --about these" if queries >= LEAST_QUERIES and evidence.plan.about == "new" else ""
        finding = f"{told}: {LEAST_QUERIES} in {LEAST_CLUSTERS} are the least{hint}"
        return Check("clusters", Status.SHORT, finding)
    return Check("clusters", Status.PASS, told)


def _compared(evidence: Evidence) -> list[Arm]:
    """The arms of which a claim is made, each once."""
    names = [name for rung in evidence.rungs for name in (rung.arm, *rung.over)]
    return [evidence.arms[name] for name in dict.fromkeys((*evidence.bases, *names))]


def _depth(lengths: Sequence[int], k: int) -> int:
    """How deep a run goes: its longest list, or the one length below k that most of its lists have."""
    usual = max(set(lengths), key=lengths.count, default=0)
    return usual if usual < k and 2 * lengths.count(usual) > len(lengths) else max(lengths, default=0)


def _alike(shared: int, one: AbstractSet[str], other: AbstractSet[str]) -> bool:
    """Whether two questions share nearly all words, or the longer holds all of the shorter (of four words or more)."""
    within = len(other) >= 4 and shared == len(other) and len(one) <= len(other) + 4
    return within or shared >= NEAR * len(one | other)


def _words(text: str) -> frozenset[str]:
    return frozenset(folded(text).split())
