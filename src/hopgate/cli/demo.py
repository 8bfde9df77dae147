"""`hopgate demo`: the whole of it on a synthetic corpus and one graph, in under a minute."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hopgate.cli.output import Table, counted, one_line, progress, say, stages
from hopgate.cli.parameters import flag, path
from hopgate.times import moment, utc

if TYPE_CHECKING:
    from hopgate.demo import Corpus, Question
    from hopgate.kb import KnowledgeBase
    from hopgate.recall.hit import Hit

# Picked by hand so that something is to be seen; the gate asks all of the corpus's questions.
# Kind of question -> the question, and how many hits are shown.
SHOWN = {
    "two hops through notes": ("q0093", 10),
    "a conversation": ("q0384", 3),
    "as of a date": ("q0296", 5),
}
WIDTH = 96
REPORT = "page.html"
SAMPLED = 8
QUESTIONS = "synthetic-homelab"


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
        for title, (key, top) in SHOWN.items():
            query = next(query for query in synthetic.queries if query.id == key)
            answer(kb, title, query, synthetic, top)
        report = gate(kb, place, synthetic)
    if keep:
        say(f"store:  {place / 'store'}   (try: hopgate recall --data {place / 'store'} --explain '…')")
    say(f"report: {report}")


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
    say(
        f"{len(kb)} synthetic memories in an embedded PostgreSQL: {turns} turns of conversations, {sensitive} sensitive"
    )
    with progress("embedding memories", kb.pending_vectors()) as advance:
        kb.embed(progress=advance)
    say(f"embedded with {kb.embedder_name()}; the sensitive ones were not")
    with progress("building the graph"):
        kb.build()
    counts = kb.graph.counts()
    say(
        f"graph of {counted(counts['concepts'], 'concept')} and {counted(counts['edges'], 'edge')}, "
        "read out of the texts without a language model"
    )


def answer(kb: KnowledgeBase, title: str, query: Question, synthetic: Corpus, top: int) -> None:
    """Ask one question with and without the graph, side by side."""
    gold = {key for split in synthetic.qrels.values() for key in split.get(query.id, ())}
    as_of = moment(query.metadata.get("as_of"))
    sides = (kb.recall(query.text, parts=()), kb.recall(query.text, explain=True, as_of=as_of))

    def shown(hit: Hit) -> str:
        text = one_line(hit.memory)
        mark = "●" if hit.external_id in gold else " "
        return f"{mark} {text if len(text) <= WIDTH else text[: WIDTH - 1] + '…'}"

    rows = [[str(rank), *map(shown, pair)] for rank, pair in enumerate(zip(*sides, strict=False), 1)][:top]
    heads = ("", "without the graph", "with the graph")
    say(Table(heads, rows, title=f"{query.text}  ({title}; ● answers it)"))
    if as_of is None:
        for hit in sides[1][:top]:
            if hit.external_id in gold and hit.path:
                say(f"   the graph's path: {' → '.join(hit.path)}")
        return
    # What the graph read out of the memory that answers, with the time in which it held.
    subject = next(fact.subject for fact in synthetic.facts if (fact.evidence,) == query.evidence)
    edges = [edge for edge in kb.graph.edges(subject) if gold & set(edge.evidence)]
    for edge in sorted(edges, key=lambda edge: edge.valid_from or utc(datetime.min)):
        say(f"   {edge}")


def gate(kb: KnowledgeBase, place: Path, synthetic: Corpus) -> Path:
    """Judge the graph that was just asked; give the report's path."""
    from hopgate.eval.data.dataset import read_dataset
    from hopgate.eval.gate import gate_store
    from hopgate.eval.ledger import Ledger
    from hopgate.eval.plan import Plan

    read = read_dataset(questions(place, synthetic), kb.export())
    count = sum(map(len, read.splits.values()))
    say(
        f"\nthe gate, on this store and its graph: {count} of the corpus's questions, half to tune on and half to judge"
    )
    with stages() as stage:
        judgement = gate_store(kb, read, Plan(shuffles=19), out=place / "report", stage=stage, ledger=Ledger(None))
    say(f"\n{judgement.headline}")
    say("\nAn illustration, not evidence: this corpus was made up. On your own data: hopgate gate DIR\n")
    return place / "report" / REPORT
