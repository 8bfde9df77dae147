"""`hopgate extract`, `build`, `concepts`, `edges`, `curate`, `log`, `undo` and `graph`: memories become a graph."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopgate.cli import output, parameters
from hopgate.cli.output import counted, print_json, progress_line, say
from hopgate.cli.parameters import Date, Where, as_json, click_options, count, flag, on_store, path, several, together
from hopgate.errors import HopgateError
from hopgate.options import options_of
from hopgate.scale.engine import Engine

if TYPE_CHECKING:
    from hopgate.extract.extraction import Extractor
    from hopgate.extract.runner import Progress
    from hopgate.graph.inspect.edges import ConceptDetail
    from hopgate.graph.inspect.stats import GraphStats
    from hopgate.kb import KnowledgeBase
    from hopgate.store.journal import JournalEntry

# Memories that a model writes statements about at once; the context of a file's model is small.
STATED_AT_ONCE = {"llama": 4, "openai": 16}
# Of many memories the first few are named.
NAMED = 3

name = click.argument("name", help="A name of the concept, any of them.")
dry_run = click.option("--dry-run", is_flag=True, help="Say what would change and change nothing.")
model = click.option("--model", help="A GGUF file for llama, a model's name for openai, a triples.jsonl for replay.")
url = click.option("--url", help="The endpoint for openai; its key comes from OPENAI_API_KEY.")
extractor_name = click.option(
    "--extractor", default="phrases", help="What reads memories: phrases, rules, llama, openai or replay."
)


extractor_options = together(extractor_name, model, url)
run_options = together(
    path("--types", "A types.toml with the kinds and relations that a model should prefer."),
    count("--together", "Memories in one call to a model.", most=100, show_default="100 for openai, 1 for llama"),
    count("--limit", "Only the first so many memories."),
    count("--max-tokens", "Begin no memory once so many tokens are spent."),
    count("--concurrency", "Memories extracted from at once.", 1),
    count("--batch", "Memories written in one transaction.", 64),
)


def make_extractor(kb: KnowledgeBase, given: dict[str, Any]) -> Extractor:
    """Make the extractor that the options name, taking them; a replay may only name memories that the store has."""
    from hopgate.extract.spec import extractor_from

    name = given.pop("extractor")
    options = {option: given.pop(option, None) for option in ("model", "url", "types", "together")}
    known = set(kb.id_map().values()) if name == "replay" else None
    return extractor_from(name, known=known, **options)


@click.command("extract")
@extractor_options
@run_options
@click.option(
    "--write",
    type=click.Choice(["facts", "statements"]),
    default="facts",
    help="facts, into the store; or statements, into a file that build reads.",
)
@path("--out", "The file of --write statements; a file there is added to.")
@on_store
@as_json
def extract(where: Where, write: str, out: Path | None, as_json: bool, **given: Any) -> None:
    """Extract mentions and facts from memories; what is done is not done again, and a stopped run goes on.

    Sensitive memories are never read. Before the first build, `hopgate build` makes the graph of what was extracted;
    in a graph that is built, new mentions and facts take their place at once. The exit status is 1 where nothing could
    be extracted.

    With --write statements a model writes what each memory says in sentences of their own, for
    `hopgate build --statements FILE`.

    Example: hopgate extract --extractor llama --model model.gguf --limit 100
    """
    from hopgate.extract.runner import Run

    if (out is not None) != (write == "statements"):
        raise HopgateError("--write statements needs --out FILE, and --out is for statements only")
    if out is not None:
        _write_statements(where, out, given, as_json=as_json)
        return
    with where.opened() as kb, progress_line() as show:
        extractor, limit = make_extractor(kb, given), given.pop("limit")
        progress = kb.extract(extractor, run=Run(**given), limit=limit, show=show)
        states = kb.extraction_states()
    counts = ", ".join(f"{count:,} {state}" for state, count in states.items())
    output.show(as_json, {**asdict(progress), "states": states}, [*_run_lines(progress), f"memories: {counts}"])
    _end_if_nothing(progress)


def _write_statements(where: Where, out: Path, given: dict[str, Any], *, as_json: bool) -> None:
    """Let the model write statements into a file."""
    several = given["together"] or STATED_AT_ONCE.get(given["extractor"], 1)
    with where.opened() as kb, progress_line() as show:
        extractor = make_extractor(kb, {**given, "types": None})
        run = kb.upkeep.write_statements(extractor, out, together=several, limit=given["limit"], show=show)
    output.show(as_json, run, f"{run}: hopgate build --statements {out}")
    if run.memories and run.unanswered == run.memories:
        sys.exit(1)


@click.command("build")
@extractor_options
@run_options
@several("--single-valued", "A relation of which a concept has one at a time; may be given again.")
@several("--several-valued", "A relation of which it has several after all; may be given again.")
@path("--statements", "A statements.jsonl: sentences about memories, which recall starts from too.")
@flag("--tie-break", "Ask the same model about names that stay undecided.")
@flag("--judge", "Ask the same model which facts of earlier memories no longer hold.")
@flag("--rebuild", "Bring all names together anew.")
@click_options(option for option in options_of(Engine) if option.name != "gpus_per_worker")
@on_store
@as_json
def build(
    where: Where,
    single_valued: Sequence[str],
    several_valued: Sequence[str],
    statements: Path | None,
    tie_break: bool,
    judge: bool,
    rebuild: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Build the graph, or bring it up to date with the memories that are new.

    Extracts, brings the names of one concept together, derives edges and embeds them where memories are embedded. The
    first time all names are clustered; afterwards new names are resolved against the concepts that are there, and what
    stays undecided is listed by `hopgate concepts --ambiguous`. A graph that another extractor made is made anew. What
    people merged or split stays so. With --engine processes several processes read memories for the first build.

    Example: hopgate build --extractor replay --model triples.jsonl --single-valued "runs on"
    """
    from hopgate.extract.model.judge import Judge
    from hopgate.extract.runner import Run

    engine = parameters.made(Engine, given)
    with where.opened() as kb, progress_line() as show:
        extractor, limit = make_extractor(kb, given), given.pop("limit")
        opinion = Judge(extractor) if tie_break else None
        # Names that another extractor found are no ground to resolve these against one by one.
        another = limit is None and kb.upkeep.made_by() not in ("", extractor.identity.extractor)
        built = kb.build(
            extractor,
            ask=opinion.same if opinion else None,
            judge=Judge(extractor) if judge else None,
            run=Run(**given),
            limit=limit,
            several_valued=several_valued,
            statements=statements,
            single_valued=single_valued,
            rebuild=rebuild or another,
            show=show,
            engine=engine,
        )
        merged, apart = kb.graph.tie_break(opinion) if opinion else (0, 0)
        counts = kb.graph.counts()
    read, resolution = built.extraction, built.resolution
    value = {
        "extraction": read,
        "incremental": built.incremental,
        "resolution": resolution if built.incremental else None,
        "graph": counts,
    }
    lines = list(_run_lines(read))
    if built.incremental and statements is None and not (read.memories or read.skipped or read.stopped):
        lines = ["no memory waits to be linked: the graph is up to date"]
    if built.incremental and read.memories:
        lines.append(
            f"new names: {resolution.merged:,} joined concepts, {resolution.ambiguous:,} are undecided, "
            f"{resolution.new:,} are new"
        )
    if opinion:
        asked = f"{counted(opinion.asked, 'question')}, {opinion.answered:,} answered"
        lines.append(
            f"the model was asked about names: {asked}; {merged:,} undecided ones merged, {apart:,} kept apart"
        )
    lines.append(
        f"the graph has {counted(counts['concepts'], 'concept')} by {counted(counts['names'], 'name')}, "
        f"{counted(counts['mentions'], 'mention')} "
        f"and {counted(counts['edges'], 'edge')} of {counted(counts['relations'], 'relation')}; "
        f"{counts['invalidation_rate']:.1%} of the facts were invalidated"
    )
    output.show(as_json, value, lines)
    _end_if_nothing(read)


def _run_lines(progress: Progress) -> Iterator[str]:
    """How a run went, and why memories did not make it."""
    yield str(progress) + (f", {progress.skipped} were done before" if progress.skipped else "")
    for reason, times in sorted(progress.reasons.items(), key=lambda row: (-row[1], row[0]))[:5]:
        yield f"  {times} × {reason}"
    if progress.stopped:
        yield f"stopped: {progress.stopped}; run it again to go on"


def _end_if_nothing(progress: Progress) -> None:
    """End with status 1 where a run asked for extractions and got none."""
    got = progress.memories - progress.failed - progress.truncated
    if got == 0 and (progress.failed or progress.truncated or progress.stopped):
        sys.exit(1)


@click.group("concepts", invoke_without_command=True)
@flag("--ambiguous", "List names that may be the same as another and were left apart.")
@parameters.limit
@on_store
@as_json
@click.pass_context
def concepts(context: click.Context, where: Where, ambiguous: bool, limit: int, as_json: bool) -> None:
    """Look at concepts, merge them and split them.

    Example: hopgate concepts --ambiguous
    """
    if context.invoked_subcommand is not None:
        return
    if not ambiguous:
        say(context.get_help())
        return
    with where.opened() as kb:
        pairs = kb.graph.ambiguous(limit=limit)
    lines = [
        f"{pair.score:.2f}  {pair.name!r} may be {pair.near!r}: hopgate concepts merge {pair.near!r} {pair.name!r}"
        for pair in pairs
    ]
    output.show(as_json, list(map(asdict, pairs)), lines or "no name is undecided")


@concepts.command("list")
@click.option("--kind", help="Only concepts of this kind.")
@parameters.limit
@parameters.as_of
@parameters.known_at
@parameters.scope
@on_store
@as_json
def list_concepts(where: Where, as_json: bool, scope: Sequence[str], **given: Any) -> None:
    """List the concepts that most memories talk about.

    Example: hopgate concepts list --kind person --limit 20
    """
    with where.opened() as kb:
        listed = kb.graph.concepts(scope=scope or None, **given)
    lines = []
    for concept in listed:
        others = ", ".join(alias for alias in concept.aliases if alias != concept.name)
        equal = f"  = {others}" if others else ""
        lines.append(f"{concept.memory_count:6,}  {concept.name}{_bracketed(concept.kind)}{equal}")
    output.show(as_json, list(map(asdict, listed)), lines or "there are no concepts: run hopgate build first")


@concepts.command("show")
@name
@count("--limit", "How many memories and edges.", 20)
@parameters.as_of
@parameters.known_at
@on_store
@as_json
def show_concept(
    where: Where, name: str, limit: int, as_of: datetime | None, known_at: datetime | None, as_json: bool
) -> None:
    """Show a concept: its names and merges, the memories that talk about it, and its edges.

    Example: hopgate concepts show "nas-2" --as-of 2024-03-01
    """
    with where.opened() as kb:
        detail = kb.graph.concept(name, as_of=as_of, known_at=known_at, limit=limit)
    output.show(as_json, detail, _concept_lines(detail, known_at))


def _concept_lines(detail: ConceptDetail, known_at: datetime | None) -> Iterator[str]:
    concept = detail.concept
    yield concept.name + _bracketed(concept.kind)
    yield f"names: {', '.join(concept.aliases)}"
    for merge in detail.merges:
        score = "" if merge.score is None else f", score {merge.score:.2f}"
        yield f"merged: {merge.merged_name!r} ({merge.method}{score}, {merge.done_at:%Y-%m-%d})"
    left_out = concept.memory_count - len(detail.memories)
    more = f" and {left_out:,} more" if left_out > 0 and known_at is None else ""
    yield f"memories: {', '.join(detail.memories)}{more}"
    for edge in detail.edges:
        since = f" from {edge.valid_from:%Y-%m-%d}" if edge.valid_from else ""
        until = f" until {edge.valid_to:%Y-%m-%d}" if edge.valid_to else ""
        evidence = f" [{', '.join(edge.evidence[:3])}]" if edge.evidence else ""
        yield f"  {edge.source} → {edge.relation} → {edge.target}{since}{until}{evidence}"


@concepts.command("clusters")
@click.option("--resolution", type=float, default=1.0, help="Above 1 more and smaller clusters, below 1 fewer.")
@click.option("--level", type=int, default=0, help="0 is the coarsest; each further level splits the one before.")
@click.option("--members", type=int, help="Show one cluster's concepts: its id.", show_default="all clusters")
@parameters.scope
@on_store
@as_json
def clusters(
    where: Where, resolution: float, level: int, members: int | None, scope: Sequence[str], as_json: bool
) -> None:
    """Show the clusters that the graph makes of its concepts.

    Example: hopgate concepts clusters --resolution 2
    """
    with where.opened() as kb:
        found = kb.graph.clusters(resolution=resolution, level=level, scope=scope or None)
    if members is not None:
        cluster = found[members]
        lines = [f"{concept.memory_count:6,}  {concept.name}{_bracketed(concept.kind)}" for concept in cluster.members]
        output.show(as_json, cluster, [f"{cluster.id}  {cluster.label}", *lines])
        return
    none = "there are no concepts: run hopgate build first"
    output.show(as_json, found, str(found).splitlines() if found.clusters else none)


@concepts.command("merge")
@click.argument("kept", help="A name of the concept that stays.")
@click.argument("merged", help="A name of the concept that becomes part of it.")
@dry_run
@on_store
@as_json
def merge(where: Where, kept: str, merged: str, dry_run: bool, as_json: bool) -> None:
    """Make two concepts one; `hopgate concepts split` takes it back.

    Example: hopgate concepts merge "New York City" NYC --dry-run
    """
    with where.opened() as kb:
        change = kb.graph.merge(kept, merged, dry_run=dry_run)
    _show_changes([change], "would join" if dry_run else "joined", dry_run, as_json)


@concepts.command("split")
@name
@dry_run
@on_store
@as_json
def split(where: Where, name: str, dry_run: bool, as_json: bool) -> None:
    """Undo every merge into a concept; its edges and mentions come back as they were.

    Example: hopgate concepts split "New York City"
    """
    with where.opened() as kb:
        changes = kb.graph.split(name, dry_run=dry_run)
    _show_changes(changes, "would leave" if dry_run else "left", dry_run, as_json)


def _show_changes(changes: Sequence[Any], verb: str, dry_run: bool, as_json: bool) -> None:
    output.show(
        as_json,
        {"dry_run": dry_run, "changes": changes},
        (
            f"{', '.join(map(repr, change.names))} {verb} {change.kept!r}: {counted(change.memories, 'memory')} and "
            f"{counted(change.edges, 'group of facts', 'groups of facts')} follow"
            for change in changes
        ),
    )


def _bracketed(kind: str | None) -> str:
    return f" ({kind})" if kind else ""


@click.command("edges")
@click.argument("concept", help="A name of the concept, any of them.")
@parameters.as_of
@parameters.known_at
@parameters.scope
@parameters.limit
@on_store
@as_json
def edges(where: Where, concept: str, scope: Sequence[str], as_json: bool, **given: Any) -> None:
    """List the edges of a concept, heaviest first, each with its interval and its evidence.

    Example: hopgate edges "backup job" --as-of 2024-03-01
    """
    with where.opened() as kb:
        listed = kb.graph.edges(concept, scope=scope or None, **given)
    lines = []
    for edge in listed:
        start, end = (f"{moment:%Y-%m-%d}" if moment else "…" for moment in (edge.valid_from, edge.valid_to))
        evidence = f"  ({', '.join(edge.evidence)})" if edge.evidence else ""
        lines.append(f"{edge.source} — {edge.relation} → {edge.target}  {start} to {end}{evidence}")
    then = " then" if given["as_of"] or given["known_at"] else ""
    output.show(as_json, list(map(asdict, listed)), lines or f"{concept} has no edges{then}")


@click.command("curate")
@flag("--apply", "Carry the proposals out.")
@click.option("--since", type=Date(), help="Only memories made since this date are new.")
@flag("--all", "Also list memories that are simply kept.", "every")
@several("--restore", "Take back that this _id was superseded; may be given again.")
@on_store
@as_json
def curate(
    where: Where,
    apply: bool,
    since: datetime | None,
    every: bool,
    restore: Sequence[str],
    as_json: bool,
) -> None:
    """Propose what each new memory means for older ones: ADD, UPDATE, DELETE or NOOP. Nothing changes without --apply.

    A memory that gives way is never deleted: it keeps a tombstone and is left out of recall. It says nothing but facts
    that another memory states as well, or that are over: run hopgate build first.

    Example: hopgate curate --since 2024-06-01 --apply
    """
    with where.opened() as kb:
        if restore:
            done = kb.graph.restore(restore)
            line = f"{counted(done, 'memory')} {'is' if done == 1 else 'are'} no longer superseded"
            output.show(as_json, {"restored": done}, line)
            return
        proposals = kb.graph.curate(since=since, apply=apply)
    listed = [proposal for proposal in proposals if every or proposal.gives_way]
    gone, gave = sum(proposal.gives_way is not None for proposal in listed), "gave" if apply else "would give"
    lines = []
    for proposal in listed:
        older = f" ↔ {proposal.older}" if proposal.older else ""
        # Of two ids it must be plain which one goes.
        way = f"; {proposal.gives_way} {gave} way" if proposal.gives_way else ""
        lines.append(f"{proposal.action.value:<6} {proposal.memory}{older}: {proposal.reason}{way}")
    lines.append(f"{counted(gone, 'memory')} {gave} way" + ("" if apply or not gone else "; --apply does it"))
    rows = [asdict(proposal) | {"reason": proposal.reason, "gives_way": proposal.gives_way} for proposal in listed]
    output.show(as_json, {"applied": apply, "proposals": rows}, lines)


@click.command("log")
@parameters.limit
@on_store
@as_json
def log(where: Where, limit: int, as_json: bool) -> None:
    """List merges, refusals, memories that gave way, marks and deletions, the last one first.

    Example: hopgate log --limit 10
    """
    with where.opened() as kb:
        entries = kb.upkeep.log(limit=limit)
    lines = [f"{entry.id:5}  {entry.done_at:%Y-%m-%d %H:%M}  {described(entry)}{_state(entry)}" for entry in entries]
    output.show(as_json, list(map(_entry, entries)), lines or "nothing was changed by hand")


@click.command("undo")
@click.argument("entry", help="The entry's id, as hopgate log lists it.", type=click.IntRange(1, 2**63 - 1))
@parameters.yes
@on_store
@as_json
def undo(where: Where, entry: int, yes: bool, as_json: bool) -> None:
    """Take an entry of the log back; a deletion cannot be, and to take a mark away asks first.

    Example: hopgate undo 12
    """
    from hopgate.store.journal import MARK

    with where.opened() as kb:
        mark = kb.upkeep.entry(entry)
        if mark.action == MARK and mark.undoable:
            memories = counted(mark.memories, "memory")
            parameters.ask(f"make {memories} not sensitive any more, as hopgate sensitive --undo does", yes=yes)
        done = kb.upkeep.undo(entry)
    output.show(as_json, _entry(done), f"taken back: {described(done)}")


def described(entry: JournalEntry) -> str:
    """Say in words what an entry did.

    Examples
    --------
    >>> from hopgate.store.journal import JournalEntry
    >>> described(JournalEntry(1, datetime(2024, 5, 1), "merge", "Ada Lovelace", "Augusta King", [], 0, None))
    "'Augusta King' became part of 'Ada Lovelace'"
    >>> described(JournalEntry(2, datetime(2024, 5, 1), "delete", None, None, [], 3, None))
    '3 memories were deleted'
    """
    from hopgate.store import journal

    kept, other = (repr(name) if name else "a name that is gone" for name in (entry.one, entry.other))
    if entry.action == journal.MERGE:
        return f"{other} became part of {kept}"
    if entry.action == journal.KEEP_APART:
        return f"{other} stays apart from {kept}"
    ends = {
        journal.SUPERSEDE: ("gave way", "gave way"),
        journal.MARK: ("was marked as sensitive", "were marked as sensitive"),
        journal.DELETE: ("was deleted", "were deleted"),
    }[entry.action]
    named = ", ".join(entry.memory_ids[:NAMED]) + (", …" if len(entry.memory_ids) > NAMED else "")
    words = f"{counted(entry.memories, 'memory')} {ends[entry.memories != 1]}"
    return f"{words} ({named})" if named else words


def _state(entry: JournalEntry) -> str:
    if entry.undone_at is not None:
        return f" · undone {entry.undone_at:%Y-%m-%d %H:%M}"
    return f" · hopgate undo {entry.id}" if entry.undoable else ""


def _entry(entry: JournalEntry) -> dict[str, Any]:
    return {**asdict(entry), "undoable": entry.undoable}


@click.group("graph")
def graph() -> None:
    """Measure the graph, or write it for other tools."""


@graph.command("stats")
@click.option(
    "--damping",
    type=click.FloatRange(0.05, 0.95),
    default=0.5,
    help="Damping of the walks that are compared with degree.",
)
@on_store
@as_json
def stats(where: Where, damping: float, as_json: bool) -> None:
    """Count nodes, edges, hubs, components, kinds and relations; say how much PageRank resembles degree here.

    Example: hopgate graph stats --json
    """
    with where.opened() as kb:
        counts = kb.graph.stats(damping=damping)
    output.show(as_json, counts, _stats_lines(counts))


def _stats_lines(counts: GraphStats) -> Iterator[str]:
    yield f"memories      {counts.memories:,}, of which {counts.linked_memories:,} talk about a concept"
    undecided = f"{counted(counts.merges, 'merge')}, {counts.ambiguous:,} undecided"
    yield f"concepts      {counts.concepts:,} by {counted(counts.names, 'name')}; {undecided}"
    yield f"mentions      {counts.mentions:,}"
    yield f"edges         {counts.edges:,} believed, {counts.retired:,} retired, {counts.name_links:,} links by name"
    yield f"invalidated   {counts.invalidation_rate:.1%} of the facts"
    relations = f"{counts.relations:,} from {counts.raw_relations:,} as extracted"
    yield f"relations     {relations}; {counts.single_valued:,} single-valued"
    yield f"components    {counts.components:,}; the largest holds {counts.largest_component:.1%} of the nodes"
    for title, rows in (("kinds", counts.kinds), ("relations", counts.top_relations), ("hubs", counts.hubs)):
        listed = ", ".join(f"{name or 'unknown'} {count:,}" for name, count in rows)
        yield f"{'top ' + title:<13} {listed or 'none'}"
    if counts.degree is not None:
        degree = counts.degree
        yield (
            f"degree        at damping {degree.damping} the first {degree.top} of two unrelated walks overlap by "
            f"{degree.between_queries:.2f} ({degree.between_queries_corrected:.2f} corrected for degree), and with the "
            f"ranking by degree by {degree.with_degree:.2f} ({degree.with_degree_corrected:.2f})"
        )


@graph.command("export")
@path("--out", "A file ending in .graphml or .json.", show_default="standard output")
@click.option("--format", "form", type=click.Choice(["graphml", "json"]), help="json is node-link.")
@flag("--memories", "Also memories and what they mention.")
@parameters.as_of
@parameters.known_at
@on_store
def export(
    where: Where,
    out: Path | None,
    form: str | None,
    memories: bool,
    as_of: datetime | None,
    known_at: datetime | None,
) -> None:
    """Write the graph as GraphML or node-link JSON: concepts and edges with ids, names and times, no memory's text.

    Example: hopgate graph export --out notes.graphml
    """
    from hopgate.exports import graph as exporting

    with where.opened() as kb:
        network = kb.graph.to_networkx(as_of=as_of, known_at=known_at, memories=memories)
    if out is not None:
        exporting.write_network(network, out, form)
        nodes, arcs = counted(network.number_of_nodes(), "node"), counted(network.number_of_edges(), "edge")
        say(f"wrote {nodes} and {arcs} to {out}")
    elif form == "graphml":
        sys.stdout.write(exporting.graphml(network))
    else:
        print_json(exporting.node_link(network))
