"""`hopgate extract`, `build`, `concepts`, `edges`, `curate`, `log`, `undo` and `graph`: memories become a graph."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopgate.cli import parameters
from hopgate.cli.output import Shown, counted, print_json, progress_line, say
from hopgate.cli.parameters import Location, click_options, count, flag, on_store, path, several, together, with_store
from hopgate.exports import graph as exporting
from hopgate.extract.runner import Run
from hopgate.extract.spec import extractor_from
from hopgate.progress import Progress
from hopgate.scale.engine import Engine
from hopgate.store.journal import MARK

if TYPE_CHECKING:
    from hopgate.extract.extraction import Extractor
    from hopgate.graph.build.merge import Change
    from hopgate.kb import KnowledgeBase
    from hopgate.store.graph.concept_rows import Concept

NO_CONCEPTS = "there are no concepts: run hopgate build first"

name = click.argument("name", help="A name of the concept, any of them.")
dry_run = flag("--dry-run", "Say what would change and change nothing.")
extractor_options = together(
    click.option(
        "--extractor", default="phrases", help="What reads memories: phrases, rules, llama, openai or replay."
    ),
    click.option("--model", help="A GGUF file for llama, a model's name for openai, a triples.jsonl for replay."),
    click.option("--url", help="The endpoint for openai; its key comes from OPENAI_API_KEY."),
)
run_options = together(
    count("--together", "Memories in one call to a model.", most=100, show_default="100 for openai, 1 for llama"),
    count("--limit", "Only the first so many memories."),
    click_options(Run),
)


def make_extractor(kb: KnowledgeBase, given: dict[str, Any]) -> Extractor:
    """Make the extractor that the options name, taking them; a replay may only name memories that the store has."""
    name = given.pop("extractor")
    options = {option: given.pop(option, None) for option in ("model", "url", "together")}
    known = set(kb.id_map().values()) if name == "replay" else None
    return extractor_from(name, known=known, **options)


@click.command("extract", epilog="Example: hopgate extract --extractor llama --model model.gguf --limit 100")
@extractor_options
@run_options
@flag("--statements", "Write instead what each memory says in sentences of the model's, which recall starts from too.")
@with_store
def extract(kb: KnowledgeBase, limit: int | None, statements: bool, **given: Any) -> Shown:
    """Extract mentions and facts from memories; what is done is not done again, and a stopped run goes on.

    Sensitive memories are never read. Before the first build, `hopgate build` makes the graph of what was extracted;
    in a graph that is built, new mentions and facts take their place at once. The exit status is 1 where nothing could
    be extracted.
    """
    extractor = make_extractor(kb, given)
    with progress_line() as show:
        read = kb.upkeep.write_statements if statements else kb.extract
        done = read(extractor, run=parameters.made(Run, given), limit=limit, show=show)
    states = kb.extraction_states()
    counts = ", ".join(f"{count:,} {state}" for state, count in states.items())
    lines = [*_run_lines(done), f"memories: {counts}"]
    return {**asdict(done), "states": states}, lines, _nothing_done(done)


@click.command(
    "build", epilog='Example: hopgate build --extractor replay --model triples.jsonl --single-valued "runs on"'
)
@extractor_options
@run_options
@several("--single-valued", "A relation of which a concept has one at a time; may be given again.")
@several("--several-valued", "A relation of which it has several after all; may be given again.")
@path("--statements", "A statements.jsonl: sentences about memories, which recall starts from too.")
@flag("--tie-break", "Ask the same model about names that stay undecided.")
@flag("--judge", "Ask the same model which facts of earlier memories no longer hold.")
@flag("--rebuild", "Bring all names together anew.")
@click_options(Engine)
@with_store
def build(kb: KnowledgeBase, tie_break: bool, judge: bool, rebuild: bool, limit: int | None, **given: Any) -> Shown:
    """Build the graph, or bring it up to date with the memories that are new.

    Extracts, brings the names of one concept together, derives edges and embeds them where memories are embedded. The
    first time all names are clustered; afterwards new names are resolved against the concepts that are there, and what
    stays undecided is listed by `hopgate concepts ambiguous`. A graph that another extractor made is made anew. What
    people merged or split stays so. With --engine processes several processes read memories for the first build.
    """
    from hopgate.extract.model.judge import Judge

    engine, extractor = parameters.made(Engine, given), make_extractor(kb, given)
    opinion = Judge(extractor) if tie_break else None
    # Names that another extractor found are no ground to resolve these against one by one.
    another = limit is None and kb.upkeep.status()["extractor"] not in ("", extractor.identity.extractor)
    with progress_line() as show:
        built = kb.build(
            extractor,
            judge=Judge(extractor) if judge else None,
            run=parameters.made(Run, given),
            rebuild=rebuild or another,
            show=show,
            engine=engine,
            limit=limit,
            **given,
        )
        merged, apart = kb.graph.tie_break(opinion) if opinion else (0, 0)
    counts = kb.graph.counts()
    read, resolution = built.extraction, built.resolution if built.incremental else None
    lines = list(_run_lines(read))
    if resolution and given["statements"] is None and not (read.memories or read.skipped or read.stopped):
        lines = ["no memory waits to be linked: the graph is up to date"]
    if resolution and read.memories:
        known = f"{resolution.merged:,} joined concepts, {resolution.ambiguous:,} are undecided"
        lines.append(f"new names: {known}, {resolution.new:,} are new")
    if opinion:
        asked = f"{counted(opinion.asked, 'question')}, {opinion.answered:,} answered"
        lines.append(f"the model was asked about names: {asked}; {merged:,} undecided merged, {apart:,} kept apart")
    parts = ", ".join(counted(counts[f"{what}s"], what) for what in ("concept", "name", "mention", "edge", "relation"))
    lines.append(f"the graph has {parts}; {counts['invalidation_rate']:.1%} of the facts were invalidated")
    value = {"extraction": read, "incremental": built.incremental, "resolution": resolution, "graph": counts}
    return value, lines, _nothing_done(read)


def _run_lines(progress: Progress) -> Iterator[str]:
    """How a run went, and why memories did not make it."""
    yield str(progress) + (f", {progress.skipped} were done before" if progress.skipped else "")
    for reason, times in sorted(progress.reasons.items(), key=lambda row: (-row[1], row[0]))[:5]:
        yield f"  {times} × {reason}"
    if progress.stopped:
        yield f"stopped: {progress.stopped}; run it again to go on"


def _nothing_done(progress: Progress) -> int:
    """The exit status of a run: 1 where it asked for extractions and got none."""
    got = progress.memories - progress.failed - progress.truncated
    return int(got == 0 and bool(progress.failed or progress.truncated or progress.stopped))


concepts = click.Group("concepts", help="Look at concepts, merge them and split them.")


@concepts.command("ambiguous", epilog="Example: hopgate concepts ambiguous")
@parameters.limit
@with_store
def ambiguous(kb: KnowledgeBase, limit: int) -> Shown:
    """List names that may be the same as another and were left apart."""
    pairs = kb.graph.ambiguous(limit=limit)
    return pairs, [
        f"{pair.score:.2f}  {pair.name!r} may be {pair.near!r}: hopgate concepts merge {pair.near!r} {pair.name!r}"
        for pair in pairs
    ] or "no name is undecided"


@concepts.command("list", epilog="Example: hopgate concepts list --kind person --limit 20")
@click.option("--kind", help="Only concepts of this kind.")
@parameters.limit
@parameters.in_time
@parameters.scope
@with_store
def list_concepts(kb: KnowledgeBase, **given: Any) -> Shown:
    """List the concepts that most memories talk about."""
    listed = kb.graph.concepts(**given)
    return listed, [_concept_line(concept) for concept in listed] or NO_CONCEPTS


def _concept_line(concept: Concept) -> str:
    others = ", ".join(alias for alias in concept.aliases if alias != concept.name)
    kind = f" ({concept.kind})" if concept.kind else ""
    return f"{concept.memory_count:6,}  {concept.name}{kind}{f'  = {others}' if others else ''}"


@concepts.command("show", epilog='Example: hopgate concepts show "nas-2" --as-of 2024-03-01')
@name
@count("--limit", "How many memories and edges.", 20)
@parameters.in_time
@with_store
def show_concept(kb: KnowledgeBase, name: str, **given: Any) -> Shown:
    """Show a concept: its names and merges, the memories that talk about it, and its edges."""
    detail = kb.graph.concept(name, **given)
    lines = [_concept_line(detail.concept).strip()]
    for merge in detail.merges:
        score = "" if merge.score is None else f", score {merge.score:.2f}"
        lines.append(f"merged: {merge.merged_name!r} ({merge.method}{score}, {merge.done_at:%Y-%m-%d})")
    return detail, [*lines, f"memories: {', '.join(detail.memories)}", *(f"  {edge}" for edge in detail.edges)]


@concepts.command("clusters", epilog="Example: hopgate concepts clusters --resolution 2")
@click.option("--resolution", type=float, default=1.0, help="Above 1 more and smaller clusters, below 1 fewer.")
@click.option("--members", type=int, help="Show one cluster's concepts: its id.", show_default="all clusters")
@parameters.scope
@with_store
def clusters(kb: KnowledgeBase, members: int | None, **given: Any) -> Shown:
    """Show the clusters that the graph makes of its concepts."""
    listed = kb.graph.clusters(**given)
    if members is None:
        return listed, str(listed).splitlines() if listed.clusters else NO_CONCEPTS
    cluster = listed[members]
    return cluster, [f"{cluster.id}  {cluster.label}", *map(_concept_line, cluster.members)]


@concepts.command("merge", epilog='Example: hopgate concepts merge "New York City" NYC --dry-run')
@click.argument("kept", help="A name of the concept that stays.")
@click.argument("merged", help="A name of the concept that becomes part of it.")
@dry_run
@with_store
def merge(kb: KnowledgeBase, kept: str, merged: str, dry_run: bool) -> Shown:
    """Make two concepts one; `hopgate concepts split` takes it back."""
    change = kb.graph.merge(kept, merged, dry_run=dry_run)
    return _changes([change], "would join" if dry_run else "joined", dry_run)


@concepts.command("split", epilog='Example: hopgate concepts split "New York City"')
@name
@dry_run
@with_store
def split(kb: KnowledgeBase, name: str, dry_run: bool) -> Shown:
    """Undo every merge into a concept; its edges and mentions come back as they were."""
    changes = kb.graph.split(name, dry_run=dry_run)
    return _changes(changes, "would leave" if dry_run else "left", dry_run)


def _changes(changes: Sequence[Change], verb: str, dry_run: bool) -> Shown:
    lines = [
        f"{', '.join(map(repr, change.names))} {verb} {change.kept!r}: {counted(change.memories, 'memory')} and "
        f"{counted(change.edges, 'group of facts', 'groups of facts')} follow"
        for change in changes
    ]
    return {"dry_run": dry_run, "changes": changes}, lines


@click.command("edges", epilog='Example: hopgate edges "backup job" --as-of 2024-03-01')
@name
@parameters.in_time
@parameters.scope
@parameters.limit
@with_store
def edges(kb: KnowledgeBase, name: str, **given: Any) -> Shown:
    """List the edges of a concept, heaviest first, each with its interval and its evidence."""
    listed = kb.graph.edges(name, **given)
    then = " then" if given["as_of"] or given["known_at"] else ""
    return listed, listed or f"{name} has no edges{then}"


@click.command("curate", epilog="Example: hopgate curate --since 2024-06-01 --apply")
@flag("--apply", "Carry the proposals out.")
@click.option("--since", type=parameters.date, help="Only memories made since this date are new.")
@with_store
def curate(kb: KnowledgeBase, apply: bool, since: datetime | None) -> Shown:
    """Propose what each new memory means for older ones: UPDATE, DELETE or NOOP. Nothing changes without --apply.

    A memory that gives way is never deleted: it keeps a tombstone and is left out of recall; hopgate undo takes that
    back. It says nothing but facts that another memory states as well, or that are over: run hopgate build first.
    """
    listed = [proposal for proposal in kb.graph.curate(since=since, apply=apply) if proposal.gives_way]
    gave = "gave" if apply else "would give"
    lines = [
        # Of two ids it must be plain which one goes.
        f"{each.action.value:<6} {each.memory} ↔ {each.older}: {each.reason}; {each.gives_way} {gave} way"
        for each in listed
    ]
    lines.append(f"{counted(len(listed), 'memory')} {gave} way" + ("" if apply or not listed else "; --apply does it"))
    rows = [asdict(each) | {"reason": each.reason, "gives_way": each.gives_way} for each in listed]
    return {"applied": apply, "proposals": rows}, lines


@click.command("log", epilog="Example: hopgate log --limit 10")
@parameters.limit
@with_store
def log(kb: KnowledgeBase, limit: int) -> Shown:
    """List merges, refusals, memories that gave way, marks and deletions, the last one first."""
    entries, lines = kb.upkeep.log(limit=limit), []
    for entry in entries:
        undone = f" · undone {entry.undone_at:%Y-%m-%d %H:%M}" if entry.undone_at else ""
        undo = f" · hopgate undo {entry.id}" if entry.undoable else ""
        lines.append(f"{entry.id:5}  {entry.done_at:%Y-%m-%d %H:%M}  {entry}{undone}{undo}")
    return entries, lines or "nothing was changed by hand"


@click.command("undo", epilog="Example: hopgate undo 12")
@click.argument("entry", help="The entry's id, as hopgate log lists it.", type=click.IntRange(1, 2**63 - 1))
@parameters.yes
@with_store
def undo(kb: KnowledgeBase, entry: int, yes: bool) -> Shown:
    """Take an entry of the log back; a deletion cannot be, and to take a mark away asks first."""
    mark = kb.upkeep.entry(entry)
    if mark.action == MARK and mark.undoable:
        memories = counted(mark.memories, "memory")
        parameters.ask(f"make {memories} not sensitive any more, as hopgate sensitive --undo does", yes=yes)
    done = kb.upkeep.undo(entry)
    return done, f"taken back: {done}"


graph = click.Group("graph", help="Measure the graph, or write it for other tools.")


@graph.command("stats", epilog="Example: hopgate graph stats --json")
@with_store
def stats(kb: KnowledgeBase) -> dict[str, Any]:
    """Count nodes, edges, hubs, components, kinds and relations; say how much PageRank resembles degree here."""
    return kb.graph.stats().to_dict()


@graph.command("export", epilog="Example: hopgate graph export --out notes.graphml")
@path("--out", "A file ending in .graphml or .json.", show_default="standard output")
@click.option("--format", "form", type=click.Choice(["graphml", "json"]), help="json is node-link.")
@flag("--memories", "Also memories and what they mention.")
@parameters.in_time
@on_store
def export(location: Location, out: Path | None, form: str | None, **given: Any) -> None:
    """Write the graph as GraphML or node-link JSON: concepts and edges with ids, names and times, no memory's text."""
    with location.opened() as kb:
        data = kb.graph.node_link(**given)
    if out is not None:
        exporting.write_network(data, out, form)
        say(f"wrote {counted(len(data['nodes']), 'node')} and {counted(len(data['links']), 'arc')} to {out}")
    elif form == "graphml":
        sys.stdout.write(exporting.graphml(data))
    else:
        print_json(data)
