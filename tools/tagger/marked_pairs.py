"""Two notes of one person, of which the later may tell that what the earlier says is over: with marks, for training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from marked_notes import HERE, Marked, Spans, found_in, rows_of, stories_of_sets, told_by, unmarked


class Pair(NamedTuple):
    """An earlier note, a later one, whether that ends what the first says, and the marks of both where it does.

    In the earlier one T is the thing and O the value that is over; in the later one N is what holds instead. `beside`
    are other notes of the same person.
    """

    source: str
    earlier: str
    later: str
    is_end: bool
    of_earlier: Spans
    of_later: Spans
    relation: str | None = None
    beside: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether both merely state something, and neither tells of a change: in either order one ends the other."""
        return self.source.startswith("states")


def all_pairs() -> list[Pair]:
    """Everything to train on."""
    return [*pairs_of_sets(), *written_pairs()]


def written_pairs() -> Iterator[Pair]:
    """Stories with marks: {"kind": "move", "old": "[T:Gitea] runs on [O:birch]", "new": "… on [N:oak]"}."""
    for path in sorted((HERE / "stories").glob("*.jsonl")):
        for row in rows_of(path):
            (earlier, of_earlier), (later, of_later) = unmarked(row["old"]), unmarked(row["new"])
            yield Pair(path.stem, earlier, later, row["kind"] == "move", of_earlier, of_later)


def notes_of_pairs() -> Iterator[Marked]:
    """Each note of the written stories by itself; of what only looks like a change another thing may have changed."""
    for pair in written_pairs():
        if not pair.of_earlier:
            continue  # a change beside any other note of its notebook, which may tell one itself
        state = [(begin, end, "N" if mark == "O" else mark) for begin, end, mark in pair.of_earlier]
        yield Marked(pair.source, "state", pair.earlier, state)
        if pair.is_end:
            yield Marked(pair.source, "state" if pair.is_plain else "change", pair.later, pair.of_later)


def pairs_of_sets() -> Iterator[Pair]:
    """The stories of `benchmarks/notes`: what their labels name is looked for. Reporting halves are never read."""
    for told in stories_of_sets():
        if pair := _of_story(*told):
            yield pair


def _of_story(source: str, story: dict[str, Any], texts: dict[str, Any]) -> Pair | None:
    before, after = story["before"]["object"], story["after"]["object"]
    told = {key: told_by(texts[key]) for key in story["notes"]}
    earlier = next((key for key, text in told.items() if found_in(text, [before])), "")
    news = [key for key, text in told.items() if after and after != before and found_in(text, [after])]
    later = (story.get("supersedes") or news[-1:] or [""])[0] if story["is_move"] else story["notes"][-1]
    if not earlier or not later or earlier == later:
        return None
    names = [story["subject"], *story.get("subjects", ())]

    def marks(text: str, *, now: str | None) -> Spans:
        kinds = (("T", names), ("O", [before]), ("N", [now]))
        return [(begin, end, mark) for mark, forms in kinds for begin, end in found_in(text, forms)]

    now = after if story["is_move"] and after != before else None
    beside = tuple(text for key, text in told.items() if key not in (earlier, later))
    spans = marks(told[earlier], now=None), marks(told[later], now=now)
    return Pair(source, told[earlier], told[later], story["is_move"], *spans, story["relation"], beside)
