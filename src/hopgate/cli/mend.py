"""`hopgate mend`: the log of what was changed by hand, and how to take an entry of it back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hopgate.cli.confirm import Yes, asked
from hopgate.cli.output import counted, opened, print_json, say
from hopgate.cli.shared_options import MOST, AsJson, Data, Dsn

if TYPE_CHECKING:
    from hopgate.store.journal import JournalEntry

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

# Of many memories the first few are named.
NAMED = 3


@app.callback()
def top() -> None:
    """Look at what was changed by hand, and take it back.

    Example: hopgate mend log
    """


@app.command()
def log(
    limit: Annotated[int, typer.Option(help="How many entries, the last one first.", min=1, max=MOST)] = 50,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """List merges, refusals, memories that gave way, marks and deletions, the last one first.

    Example: hopgate mend log --limit 10
    """
    with opened(data, dsn) as kb:
        found = kb.upkeep.log(limit=limit)
    if as_json:
        print_json([_plain(entry) for entry in found])
        return
    for entry in found:
        say(f"{entry.id:5}  {entry.done_at:%Y-%m-%d %H:%M}  {described(entry)}{_state(entry)}")
    if not found:
        say("nothing was changed by hand")


@app.command()
def undo(
    entry: Annotated[int, typer.Argument(help="The entry's id, as hopgate mend log lists it.", min=1, max=2**63 - 1)],
    yes: Yes = False,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Take an entry of the log back; a deletion cannot be, and to take a mark away asks first.

    Example: hopgate mend undo 12
    """
    from hopgate.store.journal import MARK

    with opened(data, dsn) as kb:
        found = kb.upkeep.entry(entry)
        if found.action == MARK and found.undoable:
            asked(
                f"make {counted(found.memories, 'memory')} not sensitive any more, as hopgate sensitive --undo does",
                yes=yes,
            )
        done = kb.upkeep.undo(entry)
    print_json(_plain(done)) if as_json else say(f"taken back: {described(done)}")


def described(entry: JournalEntry) -> str:
    """Say in words what an entry did.

    Examples
    --------
    >>> from datetime import datetime
    >>> from hopgate.store.journal import JournalEntry
    >>> described(JournalEntry(1, datetime(2024, 5, 1), "merge", "Ada Lovelace", "Augusta King", [], 0, None))
    "'Augusta King' became part of 'Ada Lovelace'"
    >>> described(JournalEntry(2, datetime(2024, 5, 1), "delete", None, None, [], 3, None))
    '3 memories were deleted'
    """
    from hopgate.store import journal

    one, other = (repr(name) if name else "a name that is gone" for name in (entry.one, entry.other))
    if entry.action == journal.MERGE:
        return f"{other} became part of {one}"
    if entry.action == journal.KEEP_APART:
        return f"{other} stays apart from {one}"
    ends = {
        journal.SUPERSEDE: ("gave way", "gave way"),
        journal.MARK: ("was marked as sensitive", "were marked as sensitive"),
        journal.DELETE: ("was deleted", "were deleted"),
    }[entry.action]
    several = entry.memories != 1
    named = ", ".join(entry.memory_ids[:NAMED]) + (", …" if len(entry.memory_ids) > NAMED else "")
    words = f"{counted(entry.memories, 'memory')} {ends[several]}"
    return f"{words} ({named})" if named else words


def _state(entry: JournalEntry) -> str:
    if entry.undone_at is not None:
        return f" · undone {entry.undone_at:%Y-%m-%d %H:%M}"
    return f" · hopgate mend undo {entry.id}" if entry.undoable else ""


def _plain(entry: JournalEntry) -> dict[str, Any]:
    times = {name: moment.isoformat() if moment else None
             for name, moment in (("done_at", entry.done_at), ("undone_at", entry.undone_at))}  # fmt: skip
    return {**asdict(entry), **times, "undoable": entry.undoable}
