"""LoCoMo: long conversations in dated sessions, and questions with the turns that are their evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from hopgate.errors import HopgateError
from hopgate.eval.data.new_dataset import NewDataset
from hopgate.times import utc

# The numbers of the published file; 5 is adversarial: a question whose answer is not there, so there is no gold.
TYPES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_TURN = re.compile(r"D\s*:?\s*(\d+)\s*:\s*0*(\d+)")
_SESSION = re.compile(r"session_(\d+)")


def gather(conversations: Iterable[dict[str, Any]], data: NewDataset) -> None:
    """Add every turn as a memory in its conversation's scope, and every answerable question.

    A few questions name turns that do not exist; those turns are left out, and the question too when none is left.
    """
    for conversation in conversations:
        scope = str(conversation["sample_id"])
        turns = _turns(conversation["conversation"], scope, data)
        for number, row in enumerate(conversation["qa"]):
            kind = TYPES.get(row["category"])
            named = [f"D{session}:{turn}" for text in row.get("evidence", ()) for session, turn in _TURN.findall(text)]
            gold = [turns[turn] for turn in named if turn in turns]
            if kind and gold:
                answer = row.get("answer")
                data.query(f"{scope}/q{number}", row["question"], gold, scope=scope, type=kind, answer=answer)


def _turns(conversation: dict[str, Any], scope: str, data: NewDataset) -> dict[str, str]:
    turns = {}
    for key, session in conversation.items():
        if not _SESSION.fullmatch(key):
            continue
        when = _instant(conversation[f"{key}_date_time"])
        for turn in session:
            name = f"{scope}/{turn['dia_id']}"
            photo = f" [shares a photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            metadata = {"scope": scope, "category": key, "created_at": when, "thread": f"{scope}/{key}"}
            data.corpus[name] = {
                "_id": name,
                "title": "",
                "text": f"{turn['speaker']}: {turn['text']}{photo}",
                "metadata": metadata,
            }
            turns[turn["dia_id"]] = name
    return turns


def _instant(text: str) -> str:
    try:
        return utc(datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y")).isoformat()
    except ValueError:
        raise HopgateError(f"a session's date must read like '1:56 pm on 8 May, 2023', not {text!r}") from None
