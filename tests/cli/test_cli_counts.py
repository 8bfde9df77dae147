"""One is not several: no command says "1 memories"."""

from __future__ import annotations

import re
from pathlib import Path

import hopgate.cli

# A number of these is written by `counted`, which knows what one of them is called.
THINGS = "memories|concepts|edges|facts|mentions|statements|nodes|queries|vectors|models"


def test_commands_count_with_the_word_for_one() -> None:
    written = re.compile(rf"\{{[^{{}}]*:,\}} (?:{THINGS})\b")
    here = Path(hopgate.cli.__file__).parent
    found = {path.name: written.findall(path.read_text(encoding="utf-8")) for path in sorted(here.glob("*.py"))}
    # Of a triples file the two are counted together, and there is no word for one of either.
    found["export.py"].remove("{len(rows):,} facts")
    assert not {name: some for name, some in found.items() if some}
