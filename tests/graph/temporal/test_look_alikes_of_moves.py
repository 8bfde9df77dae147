"""What looks like a move and is none: another thing, a part, somebody else's, some days only, in passing, hearsay."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import hopgate
from hopgate.memory import Memory

LOOK_ALIKES = (
    ("The ladder is in the garage.", "The small ladder is in the basement now.", "garage"),
    ("The tent is in the attic.", "The tent pegs are in the car now.", "attic"),
    ("Bin day is Tuesday.", "Bin day at my parents' is Thursday now.", "tuesday"),
    ("Standup is at 9:30.", "Standup is at 9:45 on Fridays now.", "9:30"),
    ("The car is in the garage.", "The car is in the snow now.", "garage"),
    ("Jellyfin runs on otter.", "Tomas' Jellyfin is on badger now.", "otter"),
    ("Jellyfin runs on otter.", "Tomas moved his Jellyfin to badger.", "otter"),
    ("Jellyfin runs on otter.", "At work Jellyfin is on badger now.", "otter"),
    ("Jellyfin runs on otter.", "Moved Jellyfin's cache from otter to badger.", "otter"),
    ("Femke lives in Utrecht.", "Femke works in Lisbon now, two days a week.", "utrecht"),
    ("Femke lives in Utrecht.", "They say Femke lives in Lisbon now.", "utrecht"),
    ("The rent is €870.", "The garage rent is €95 now.", "€870"),
)


def test_what_looks_like_a_move_ends_nothing(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        for at, (state, later, _) in enumerate(LOOK_ALIKES):
            kb.add(
                Memory(f"a{at}", state, scope=str(at), created_at=datetime(2024, 3, 4, tzinfo=UTC)),
                Memory(f"b{at}", later, scope=str(at), created_at=datetime(2024, 5, 4, tzinfo=UTC)),
            )
        kb.build()
        for at, (_, later, value) in enumerate(LOOK_ALIKES):
            held = kb.graph.edges(as_of=datetime(2024, 6, 4, tzinfo=UTC), scope=str(at))
            assert value in {edge.target.lower() for edge in held}, later


@pytest.mark.parametrize(
    ("state", "later", "old", "new"),
    [
        ("The ladder is in the garage.", "The ladder is in the basement now.", "garage", "basement"),
        ("Jellyfin runs on otter.", "Moved Jellyfin to badger.", "otter", "badger"),
    ],
)
def test_a_move_still_does(tmp_path: Path, state: str, later: str, old: str, new: str) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(
            Memory("a", state, created_at=datetime(2024, 3, 4, tzinfo=UTC)),
            Memory("b", later, created_at=datetime(2024, 5, 4, tzinfo=UTC)),
        )
        kb.build()
        held = {edge.target.lower() for edge in kb.graph.edges(as_of=datetime(2024, 6, 4, tzinfo=UTC))}
    assert new in held
    assert old not in held
