"""The user's looks at questions: who tries five configurations on the same questions and tells of the best had five.

A look is kept for the user and not for a folder, and by the texts of the questions and not by their ids or files: a
data set that is copied, renamed, cut or added to is still the same questions. Texts are compared without case, marks,
punctuation and white space, and kept as digests, in a file that only the user can read. Who removes the file, works as
another user or writes every question anew starts at one again: "no look is recorded here" is the most that is claimed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import folded
from hopgate.files import private_file, private_folder, private_opener, user_folder
from hopgate.jsonl import json_lines, refuse


@dataclass(frozen=True)
class Ledger:
    """A file with one look a line; without a path nothing is counted."""

    path: Path | None

    @classmethod
    def of_user(cls) -> Ledger:
        """Give the ledger of this user, made where there is none; refused at once where it could not be kept."""
        remedy = "set XDG_STATE_HOME to a folder"
        path = user_folder("state", remedy) / "looks.jsonl"
        try:
            private_folder(path.parent)
            private_file(path)
        except OSError as error:
            raise HopgateError(f"looks cannot be kept in {path} ({error.strerror}): {remedy}") from None
        return cls(path)

    def look(self, questions: Iterable[str]) -> int:
        """Say which look at these questions the next one is: 1 for the first, 0 where nothing is counted.

        A look counts for every question in it. A set of questions has been looked at as often as that one of them which
        was looked at most: parts of a set, sets that hold it and sets that share a question with it count together.
        """
        if self.path is None:
            return 0
        looks: Counter[str] = Counter()
        for number, row in json_lines(self.path) if self.path.exists() else ():
            kept = row.get("questions")
            if not isinstance(kept, list) or not all(isinstance(each, str) for each in kept):
                refuse(self.path, number, "this is no look: remove the line")
            looks.update(set(kept))
        return 1 + max((looks[key] for key in _keys(questions)), default=0)

    def record(self, questions: Iterable[str], what: str) -> None:
        """Write a look down, with what it was for; before anything of it is shown."""
        if self.path is None:
            return
        row = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "what": what, "questions": _keys(questions)}
        # One unbuffered write, at the end of the file: looks of two processes never mix.
        with open(self.path, "ab", buffering=0, opener=private_opener) as file:
            file.write((json.dumps(row) + "\n").encode())


def _keys(questions: Iterable[str]) -> list[str]:
    """Digests of the questions' folded texts; a text of marks alone is folded to nothing and stands for itself."""
    texts = {folded(question) or question for question in questions}
    return sorted(hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts)
