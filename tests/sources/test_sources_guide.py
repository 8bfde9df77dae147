"""Every row of the guide's two tables is run: each source on a sample, each format into a file."""

import json
import re
import shlex
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
import samples
from psycopg.conninfo import conninfo_to_dict

import hopgate
from hopgate.cli import main
from hopgate.memory import Memory
from hopgate.store.sqlite import create

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "sources.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\| [^|]+ \| `(hopgate [^`]+)` \|", PAGE, re.MULTILINE)
# What needs a package that the tests do without; tests/extras runs it.
EXTRA = ("parquet",)


@pytest.fixture
def folder(tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder with a sample of every source, and the address of a database with a table."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOPGATE_STORE", dsn)
    for make, _ in samples.ALL:
        make(tmp_path)
    (tmp_path / "bought.csv").write_text("item,shop,price,date\nUPS,Conrad,129.50,2024-03-01\n")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n\nOne.\n\n## B\n\nTwo.\n")
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "m1", "text": "It hums."}) + "\n")
    create(tmp_path / "memories.sqlite", [Memory("q1", "The cat sleeps.")])
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE app_notes AS SELECT 1 AS id, 'Ada calls.' AS body")
    parts = conninfo_to_dict(dsn)
    return f"postgresql://{parts['user']}@/{parts['dbname']}?host={quote(str(parts['host']), safe='')}"


def test_the_tables_are_there():
    assert len([line for line in COMMANDS if " ingest " in line]) >= 14
    assert len([line for line in COMMANDS if " export " in line]) == 9


@pytest.mark.parametrize("line", COMMANDS, ids=lambda line: line.split(" ", 1)[1][:40])
def test_a_row_of_the_guide_runs(folder, line, capsys):
    words = [word.replace("postgresql://me@localhost/notes", folder) for word in shlex.split(line)[1:]]
    if "export" in words:
        with hopgate.open() as kb:
            kb.add(Memory("m1", "Ada Lovelace lives in London."))
            kb.build()
        if any(name in words for name in EXTRA):
            return
    try:
        main([*words, *(["--later"] if words[0] == "ingest" else [])])
    except SystemExit as end:
        assert not end.code, capsys.readouterr().err
    printed = capsys.readouterr().out
    if "export" in words:
        assert Path(words[-1]).exists() and "wrote" in printed
    else:
        assert re.search(r": .*, (?:1 memory|[1-9]\d* memories), [1-9]\d* of them new", printed), printed
