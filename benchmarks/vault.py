"""Changes inside notes and garbage among names: a vault of one person, in `benchmarks/notes/vault.md`.

    python benchmarks/vault.py [FILE] [--errors]

A change is rightly superseded where an edge of what was is over and its memory is the note that tells it; an edge that
is over and is none of these is wrongly superseded.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

import hopgate
from hopgate.graph.names import normalise

VAULT = Path(__file__).with_name("notes") / "vault.md"


class Change(NamedTuple):
    """One line of the file's last part."""

    note: str
    thing: str
    former: str
    value: str
    day: str
    form: str


def read_vault(path: Path) -> tuple[dict[str, str], list[Change]]:
    """The texts of the notes by their paths, and the changes that they tell."""
    parts = re.split(r"^=== (.+)\n", path.read_text("utf-8"), flags=re.MULTILINE)[1:]
    texts = dict(zip(parts[::2], parts[1::2], strict=True))
    rows = texts.pop("changes").strip().splitlines()
    return texts, [Change(*map(str.strip, row.split("|"))) for row in rows]


def shares(name: str, other: str) -> bool:
    """Whether all words of the one are in the other."""
    words, others = set(normalise(name).split()), set(normalise(other).split())
    return words <= others or others <= words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=VAULT)
    parser.add_argument("--errors", action="store_true", help="list what was missed, wrongly ended, and every concept")
    options = parser.parse_args()
    texts, changes = read_vault(options.file)
    with tempfile.TemporaryDirectory() as folder, hopgate.open(Path(folder) / "store") as kb:
        for name, text in texts.items():
            note = Path(folder) / "vault" / name
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(text, "utf-8")
        kb.ingest(Path(folder) / "vault")
        kb.embed()
        kb.build()
        edges = kb.graph.edges(limit=100_000)
        concepts = kb.graph.concepts(limit=100_000)
    over = [edge for edge in edges if edge.valid_to is not None]
    ended = {
        change: [
            edge
            for edge in over
            if shares(edge.target, change.former) and (change.note in edge.evidence or change.form == "two notes")
        ]
        for change in changes
    }
    right = [change for change, found in ended.items() if found]
    explained = [edge for found in ended.values() for edge in found]
    wrong = [edge for edge in over if edge not in explained]
    dated = [change for change in right if f"{ended[change][0].valid_to:%F}".startswith(change.day)]
    if options.errors:
        for change, found in ended.items():
            print("right" if change in dated else "another day" if found else "missed", "|", " | ".join(change))
            for edge in found or [edge for edge in edges if change.note in edge.evidence]:
                print(
                    "   ",
                    edge.source,
                    "|",
                    edge.relation,
                    "|",
                    edge.target,
                    "|",
                    edge.valid_to and f"{edge.valid_to:%F}",
                )
        for edge in wrong:
            print("wrong |", edge.source, "|", edge.relation, "|", edge.target, "|", edge.valid_to, edge.evidence)
        print("\n".join(sorted(f"{each.name} ({each.kind}) {list(each.aliases)}" for each in concepts)))
    counts = {
        "notes": len(texts),
        "changes": len(changes),
        "superseded rightly": len(right),
        "on their day": len(dated),
    }
    print(json.dumps(counts | {"superseded wrongly": len(wrong), "concepts": len(concepts)}))


if __name__ == "__main__":
    main()
