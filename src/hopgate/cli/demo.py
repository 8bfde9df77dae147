"""`hopgate demo`: the whole of it on a synthetic corpus and one graph, in under a minute."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hopgate.cli.output import Table, counted, one_line, progress, say, stages
from hopgate.cli.parameters import flag, path

if TYPE_CHECKING:
    from hopgate.demo import Corpus
    from hopgate.eval.verdict import Claim
    from hopgate.kb import KnowledgeBase
    from hopgate.recall.hit import Hit

# So many hits of a question are shown.
FIRST = 3
WIDTH = 96
REPORT = "page.html"
# The gate asks every eighth question.
SAMPLED = 8
QUESTIONS = "synthetic-homelab"
VERDICTS = {"OPEN": "it helps", "CLOSED": "not worth it", "INCONCLUSIVE": "not decided", "INVALID": "not a fair test"}


@dataclass(frozen=True, slots=True)
class Story:
    """A question, picked by hand so that something is to be seen, and the memories that answer it."""

    title: str
    query: str
    answers: tuple[str, ...]


STORIES = (
    Story(
        "A question that takes two notes",
        "Where do I press the button of the machine that Immich runs on?",
        ("m0178", "m0351"),
    ),
    Story("What is over stands below what is so, and says until when", "Where does Lukas Meier live now?", ("m0301",)),
    Story("In a chat the answer is the turn beside, in other words", "Who keeps the key of the tool shed?", ("t0004",)),
)


@click.command("demo", epilog="Example: hopgate demo --keep --folder hopgate-demo")
@flag("--keep", "Leave the store for exploring.")
@flag("--serve", "Show the filled store in a browser, instead of the questions and the gate.")
@path(
    "--folder",
    "Where the report goes, and the store that is kept.",
    show_default="demo in the user's cache directory",
)
def demo(keep: bool, serve: bool, folder: Path | None) -> None:
    """See it work on a synthetic corpus: ingest, embed, build the graph, three questions, the gate and its report.

    The graph is read out of the texts without a language model; the questions are asked of it and the gate judges it.

    Can be run again. Embeddings are cached, so that the second time is quicker. With --serve the store is shown in a
    browser until Ctrl-C ends it.
    """
    import hopgate
    from hopgate.cli.serve import require_packages, run
    from hopgate.demo import corpus
    from hopgate.files import cache_folder
    from hopgate.serve.settings import ServeSettings, new_token
    from hopgate.store.server import throwaway_folder

    if serve:
        require_packages()
    synthetic, place = corpus(), folder or cache_folder() / "demo"
    where = contextlib.nullcontext(place / "store") if keep else throwaway_folder()
    # A temporary one's server goes with it, or a minute after whoever is killed.
    with where as directory, hopgate.open(directory, linger=None if keep else 60) as kb:
        fill(kb, synthetic)
        if serve:
            # On any port that is free.
            run(kb, ServeSettings(new_token(), port=0))
            return
        for number, story in enumerate(STORIES, start=1):
            tell(kb, number, story)
        page = judge(kb, place, synthetic)
    say(f"the verdict's page: {page.absolute().as_uri()}")
    look = f"hopgate serve --open --data {place / 'store'}" if keep else "hopgate demo --serve"
    say(f"look around in a browser: {look}")


def questions(place: Path, synthetic: Corpus) -> Path:
    """Write every eighth question of each half and its judgements: enough for an illustration, and little waiting.

    Without the triples, of whose facts they were made: a gate that judged a graph made of them would be circular.
    """
    from hopgate.demo import write

    few = {name: dict(list(rows.items())[::SAMPLED]) for name, rows in synthetic.qrels.items()}
    kept = {query for rows in few.values() for query in rows}
    asked = [query for query in synthetic.queries if query.id in kept]
    made = replace(synthetic, queries=asked, qrels=few)
    return write(place / QUESTIONS, made, leave_out=("corpus.jsonl", "triples.jsonl", "facts.jsonl"))


def fill(kb: KnowledgeBase, synthetic: Corpus) -> None:
    """Ingest, embed, extract and build."""
    # One person's memory: what is said at home of work belongs together.
    kb.store_settings.set({"scopes": "shared"})
    kb.add(*synthetic.memories)
    sensitive = sum(memory.is_sensitive for memory in synthetic.memories)
    turns = sum(memory.thread is not None for memory in synthetic.memories)
    say(f"{len(kb)} made-up memories in an embedded PostgreSQL, {turns} of them turns of chats, {sensitive} sensitive")
    with progress("embedding memories", kb.pending_vectors()) as advance:
        kb.embed(progress=advance)
    say(f"embedded with {kb.embedder_name()}; the sensitive ones were not")
    with progress("building the graph"):
        kb.build()
    counts = kb.graph.counts()
    say(
        f"a graph of {counted(counts['concepts'], 'concept')} and {counted(counts['edges'], 'edge')}, "
        "read out of the texts without a language model"
    )


def tell(kb: KnowledgeBase, number: int, story: Story) -> None:
    """Ask one question with and without the graph, side by side, and say what that made of it."""
    without = kb.recall(story.query, k=FIRST, parts=())
    with_graph = kb.recall(story.query, k=FIRST, explain=True)
    pairs = enumerate(zip(without, with_graph, strict=True), start=1)
    rows = [[str(rank), shown(left, story), shown(right, story)] for rank, (left, right) in pairs]
    say(f"\n{number}. {story.title}")
    say(Table(("", "without the graph", "with the graph"), rows, title=f"{story.query}  (● answers it)"))
    before, after = (sum(hit.external_id in story.answers for hit in hits) for hits in (without, with_graph))
    total = len(story.answers)
    say(f"   answers among the first {FIRST}: {before} of {total} without the graph, {after} of {total} with it")
    for hit in with_graph:
        # A path of three parts says no more than that the memory names the concept.
        if hit.external_id in story.answers and len(hit.path) > 3:
            say(f"   the graph's way to {hit.external_id}: {' → '.join(hit.path)}")
    for fact in dict.fromkeys(str(fact) for hit in with_graph if hit.outdated for fact in hit.facts if fact.over):
        say(f"   {fact}")


def shown(hit: Hit, story: Story) -> str:
    """A hit in a column: whether it answers, whether it is over, its text."""
    text = ("over: " if hit.outdated else "") + one_line(hit.memory)
    mark = "●" if hit.external_id in story.answers else " "
    return f"{mark} {text if len(text) <= WIDTH else text[: WIDTH - 1] + '…'}"


def judge(kb: KnowledgeBase, place: Path, synthetic: Corpus) -> Path:
    """Let the gate judge the graph that was just asked, part by part; give its page."""
    from hopgate.eval.data.dataset import read_dataset
    from hopgate.eval.gate import gate_store
    from hopgate.eval.ledger import Ledger
    from hopgate.eval.plan import Plan

    read, plan = read_dataset(questions(place, synthetic), kb.export()), Plan(shuffles=19)
    with stages() as stage:
        judgement = gate_store(kb, read, plan, out=place / "report", stage=stage, ledger=Ledger(None))
    main = judgement.main
    say("\n4. Does the graph help in general? What the gate says, part by part")
    heads = ("part of the graph", "found more of 100", "likely between", "verdict")
    rows = [[claim.title, *gain(claim), VERDICTS[claim.verdict.name]] for claim in judgement.claims]
    say(Table(heads, rows, title=f"{main.queries} questions, answers among the first ten, with and without the part"))
    if main.verdict.name == "INCONCLUSIVE":
        few, enough = main.queries, f"{main.needed[0]:,}"
        say(f"   {few} questions are too few: to tell {100 * plan.worthwhile:g} more of 100 takes about {enough}.")
    say("   This corpus was made up, so whatever is said here is an illustration. On your own data: hopgate gate DIR\n")
    return place / "report" / REPORT


def gain(claim: Claim) -> tuple[str, str]:
    """How many answers more of a hundred are found with a part, and between which numbers that is likely to be."""
    low, high = claim.interval
    return f"{100 * claim.difference:+.0f}", f"{100 * low:+.0f} and {100 * high:+.0f}"
