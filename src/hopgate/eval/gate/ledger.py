"""The ledger beside a data set: how often its reported queries have been looked at.

Every look at a test split spends some of its level: who tries five configurations on it and reports the best has five
chances. The ledger counts; the report says so, and gives the verdict at the level that is left.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.eval.gate.fingerprint import digest
from hopgate.files import private_file, private_folder

FILE = "looks.txt"


@dataclass(frozen=True)
class Ledger:
    """A file with one look a line, as JSON.

    Parameters
    ----------
    path : Path

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger.beside(Path(folder))
    ...     before = ledger.looks(["q1", "q2"])
    ...     ledger.record(["q2", "q1"], verdict="CLOSED")
    ...     before, ledger.looks(["q1", "q2"]), ledger.looks(["q1"])
    (0, 1, 0)
    """

    path: Path

    @classmethod
    def beside(cls, folder: Path) -> Ledger:
        """Give the ledger of a data set; where its folder cannot be written to, one in the user's cache."""
        path = folder / FILE
        try:
            with path.open("a", encoding="utf-8"):
                return cls(path)
        except OSError:
            from hopgate.files import cache_folder

            kept = cache_folder() / "looks" / f"{digest(str(folder.resolve()))}.txt"
            # Whoever makes the cache's folder makes it private: what comes into it later is not for others.
            private_folder(kept.parent)
            private_file(kept)
            return cls(kept)

    def looks(self, queries: Iterable[str]) -> int:
        """Count the looks at exactly these queries."""
        wanted = digest(sorted(queries))
        return sum(row.get("queries") == wanted for row in self._rows())

    def record(self, queries: Iterable[str], **told: Any) -> None:
        """Write a look down."""
        moment = datetime.now(UTC).isoformat(timespec="seconds")
        row = {"at": moment, "queries": digest(sorted(queries)), **told}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def _rows(self) -> list[Mapping[str, Any]]:
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        rows: list[Mapping[str, Any]] = []
        for number, line in enumerate(lines, start=1):
            try:
                rows.append(dict(json.loads(line)))
            except (ValueError, TypeError):
                raise HopgateError(f"{self.path}, line {number}: this is no look; a ledger is not edited") from None
        return rows
