"""The checks of a gate: each can fail, and says what it found. The control is judged part by part (`verdict`)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

from hopgate.eval.data.dataset import Query, folded
from hopgate.eval.data.runs import Qrels, relevant
from hopgate.eval.evidence import Arm, Evidence
from hopgate.eval.plan import LEAST_CLUSTERS, LEAST_QUERIES
from hopgate.extract.files import Triple
from hopgate.memory import Memory

NEAR = 0.8
"""Two questions that share this much of their words are nearly the same."""
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
    checks = (coverage, copies, provenance, judged, reachable, clusters)
    return tuple(Check(check.__name__, *check(evidence)) for check in checks)


def coverage(evidence: Evidence) -> tuple[Status, str]:
    """Whether every compared run answers every judged query, to the same depth, and is a run of its own."""
    k, queries, problems = evidence.plan.k, evidence.reported, list(evidence.doubts)
    lists = {name: [arm.run.get(query, ()) for query in queries] for name, arm in _compared(evidence).items()}
    depths = {name: _depth([len(ids) for ids in listed], k) for name, listed in lists.items()}
    twins: dict[tuple[tuple[str, ...], ...], str] = {}
    for name, listed in lists.items():
        if missing := sum(query not in evidence.arms[name].run for query in queries):
            problems.append(f"{name} has no list for {missing} of {len(queries)} judged queries")
        if evidence.arms[name].configuration:
            continue
        if depths[name] < min(k, max(depths.values())):
            problems.append(f"{name} is cut at {depths[name]}, others list more, and {k} are judged")
        twin = twins.setdefault(tuple(tuple(ids[:k]) for ids in listed), name)
        if twin != name and len(queries) >= LEAST_QUERIES:
            problems.append(f"{twin} and {name} are one run")
    without = len(evidence.qrels) - len(queries)
    finding = "; ".join(problems) or f"every arm ranks all {len(queries)} judged queries"
    finding += f"; {without} queries without an answer are left out" if without else ""
    return (Status.FAIL if problems else Status.PASS), finding


def copies(evidence: Evidence) -> tuple[Status, str]:
    """Whether what was tuned on shares words, an answer or a scope with what is reported."""
    count, tuned = len(evidence.reported), len(evidence.tuned)
    if not tuned and not any(arm.configuration for arm in _compared(evidence).values()):
        return Status.UNKNOWN, "what these runs were tuned on is not known"
    share = "share words, an answer or a scope with reported ones"
    if shared := related(evidence.queries, evidence.tuned, evidence.qrels, evidence.plan.relevant_from):
        finding = f"{len(shared)} of {tuned} questions that were tuned on {share}"
        return Status.FAIL, f"{finding}: divide the data with hopgate dataset split"
    finding = f"{count} reported questions, apart from {tuned} tuned ones" if tuned else "nothing was tuned on"
    return Status.PASS, finding + (f"; {evidence.left_out} were left out, which {share}" if evidence.left_out else "")


def related(queries: Mapping[str, Query], tuned: Qrels, reported: Qrels, least: int = 1) -> set[str]:
    """Give the tuned questions that are nearly a reported one, or share an answer or a scope with one."""
    theirs = {memory for answers in reported.values() for memory in relevant(answers, least)}
    scopes = {queries[name].scope for name in reported} - {None}
    asked = [_words(queries[name].text) for name in reported]
    return {
        name
        for name, answers in tuned.items()
        if queries[name].scope in scopes or relevant(answers, least) & theirs or near(queries[name].text, asked)
    }


def near(text: str, others: Iterable[AbstractSet[str]]) -> bool:
    """Say whether a question shares nearly all words with another, or holds all of one's (of four words or more)."""
    own = _words(text)
    return any(
        len(own & words) >= NEAR * len(own | words) or (words <= own and 4 <= len(words) >= len(own) - 4)
        for words in others
    )


def provenance(evidence: Evidence) -> tuple[Status, str]:
    """Whether the questions were made from the graph, or the graph from the questions."""
    if made := sum(bool(evidence.queries[name].metadata.get("made")) for name in evidence.reported):
        return Status.FAIL, f"{made} reported questions were made from a graph: they explore, and open nothing"
    status, finding = evidence.provenance
    return Status(status), finding


def compared_facts(evidence: Evidence, memories: Iterable[Memory], triples: Sequence[Triple]) -> tuple[Status, str]:
    """Compare facts that somebody brought with the memories they are on and with the questions.

    They should have no words that their memory does not. A question leaks where nearly all its words that its answer
    does not have stand in facts on that answer; of the reported ones no more should than of those that were tuned on.
    """
    texts = {memory.external_id: _words(f"{memory.title or ''} {memory.text}") for memory in memories}
    stated: dict[str, set[str]] = defaultdict(set)
    foreign = 0
    for triple in triples:
        words = _words(triple.subject) | _words(triple.object)
        foreign += not words <= texts.get(triple.doc_id, frozenset())
        stated[triple.doc_id] |= words | _words(triple.relation)

    def leaks(name: str, grades: Mapping[str, int]) -> bool:
        words = {word for word in _words(evidence.queries[name].text) if len(word) > 3}
        for memory in relevant(grades, evidence.plan.relevant_from):
            new = words - texts.get(memory, frozenset())
            if len(new) >= 2 and len(new & stated[memory]) >= NEAR * len(new):
                return True
        return False

    here, there = (sum(leaks(*asked) for asked in qrels.items()) for qrels in (evidence.qrels, evidence.tuned))
    problems = []
    if foreign > FOREIGN * len(triples):
        problems.append(f"{foreign} of {len(triples)} facts have words that their memory does not")
    if here / max(1, len(evidence.reported)) > there / max(1, len(evidence.tuned)) + LEAKING:
        problems.append(f"{here} reported questions stand in facts on their answers, {there} of the tuned ones")
    if problems:
        return Status.FAIL, "; ".join(problems)
    return Status.PASS, "the facts of triples.jsonl say what the memories say"


def judged(evidence: Evidence) -> tuple[Status, str]:
    """Whether what the compared arms found was judged alike."""
    k, names, least = evidence.plan.k, evidence.reported, evidence.plan.relevant_from
    first = {arm: {name: made.run.get(name, ())[:k] for name in names} for arm, made in _compared(evidence).items()}
    if any(grade < least for name in names for grade in evidence.qrels[name].values()):
        shares, wrong = {}, {}
        for arm, tops in first.items():
            grades = [evidence.qrels[name].get(memory) for name, top in tops.items() for memory in top]
            others = [grade for grade in grades if grade is None or grade < least]
            shares[arm], wrong[arm] = (
                sum(grade is not None for grade in part) / max(1, len(part)) for part in (grades, others)
            )
        low, high = min(shares, key=lambda arm: shares[arm]), max(shares, key=lambda arm: shares[arm])
        finding = f"of the first {k} of {high} {shares[high]:.0%} are judged, of {low} {shares[low]:.0%}"
        # Who finds more answers has more judged, too: what is no answer must have been judged more often as well.
        if shares[high] - shares[low] > JUDGED_APART < wrong[high] - wrong[low]:
            return Status.FAIL, f"{finding}: judge what {low} found (hopgate questions pools over all legs)"
        return Status.PASS, finding
    recalls = {
        arm: [len(evidence.gold[name].intersection(top)) / len(evidence.gold[name]) for name, top in tops.items()]
        for arm, tops in first.items()
    }
    whole = [arm for arm, shares in recalls.items() if min(shares) == 1]
    if len(whole) != 1 or len(first) == 1 or len(names) < FEW_FOR_POOL:
        return Status.PASS, "only answers are listed: what is not counts as wrong, for every arm alike"
    finding = f"every answer is among the first {k} of {whole[0]}, as if only what it found had been judged"
    arms = [rung.arm for rung in evidence.rungs]
    if whole[0] in arms or all(round(sum(recalls[arm]) / len(names), 9) >= 1 - JUDGED_APART for arm in arms):
        return Status.UNKNOWN, f"{finding}, or as it is where an arm finds everything"
    return Status.FAIL, f"{finding}: judge what the others found, with 0 where it is no answer"


def reachable(evidence: Evidence) -> tuple[Status, str]:
    """Whether each leg's own first candidate can enter the top k, by the lists, in each arm that is compared.

    A leg that is barred in a base is no matter where it is a base of its own, too: that one must be beaten as well.
    """
    k, known = evidence.plan.k, {name: arm for name, arm in _compared(evidence).items() if arm.entering}
    shut = [
        f"in {name} a memory of the {leg} leg alone can enter the first {k} on {entered} of {listed}"
        for name, arm in known.items()
        for leg, (entered, listed) in arm.entering.items()
        if barred(entered, listed) and not (name in evidence.bases and leg in evidence.bases)
    ]
    if shut:
        return Status.FAIL, "; ".join(shut)
    if not known:
        return Status.UNKNOWN, "how these runs were fused is not known"
    return Status.PASS, f"no leg is barred from the first {k} in {len(known)} arms"


def barred(entered: int, listed: int) -> bool:
    """Say whether a leg is heard on too few queries to have been tested."""
    return listed >= ENOUGH_LISTS and entered < BARRED * listed


def clusters(evidence: Evidence) -> tuple[Status, str]:
    """Whether there are enough questions, and enough groups of them, for a general claim."""
    queries, groups = len(evidence.reported), len(set(evidence.clusters.values()))
    finding = f"{queries} questions in {groups} groups"
    if not any(query.cluster or query.scope for query in evidence.queries.values()):
        finding += ", as far as is known: no question names its conversation"
    if queries < LEAST_QUERIES or groups < LEAST_CLUSTERS:
        hint = ", or declare --about these" if queries >= LEAST_QUERIES and evidence.plan.about == "new" else ""
        return Status.SHORT, f"{finding}: {LEAST_QUERIES} in {LEAST_CLUSTERS} are the least{hint}"
    return Status.PASS, finding


def _compared(evidence: Evidence) -> dict[str, Arm]:
    """The arms of which a claim is made."""
    names = [name for rung in evidence.rungs for name in (rung.arm, *rung.over)]
    return {name: evidence.arms[name] for name in (*evidence.bases, *names)}


def _depth(lengths: Sequence[int], k: int) -> int:
    """How deep a run goes: its longest list, or the one length below k that most of its lists have."""
    usual = max(set(lengths), key=lengths.count, default=0)
    return usual if usual < k and 2 * lengths.count(usual) > len(lengths) else max(lengths, default=0)


def _words(text: str) -> frozenset[str]:
    return frozenset(folded(text).split())
