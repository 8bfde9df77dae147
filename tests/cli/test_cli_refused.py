"""What a user does wrong is one sentence and status 2, whichever command: rows of calls and what is said of them."""

import io
import shlex
import sys

import pytest
from cli_run import Runner

import hopgate
from hopgate.memory import Memory

# A call on a store with the memories m0 to m10 -> a part of the sentence.
ON_A_STORE = {
    "recal x": "--help",
    "recall": "--help",
    "recall x --colour": "--help",
    "delete": "--help",
    "db upgrad": "--help",
    "recall ''": "the query is empty",
    f"recall {'w' * 20_001}": "shorten it",
    "recall x --k 0": "--k must be a whole number",
    "recall x --k ten": "--k must be a number",
    "recall x --lexical 9": "--lexical must be a number between 0 and 5",
    "recall x --sort-by colour": "--sort-by is one of",
    "recall x --fuser 'RRF(j=1)'": "RRF has no setting 'j'",
    "recall x --data somewhere": "give one of them",
    "recall x --as-of gestern": "'gestern' is no date: write one like 2024-05-01",
    "recall x --rerank --rerank-model /no/such/model": "there is no model in /no/such/model",
    "recall x --why-not nobody": "there is no memory",
    "settings set colour red": "no setting 'colour'",
    "settings unset k": "does not set 'k'",
    "audit --leg colour": "colour",
    "audit --queries absent.jsonl": "absent.jsonl",
    "add '  '": "nothing to remember",
    "show zzz": "no memory 'zzz'",
    "delete m0 zzz": "no memory 'zzz'",
    "ingest .": "is a directory",
    "ingest gone.jsonl": "cannot be read",
    "ingest FILE": "line 2: not JSON",
    "ingest FILE --as text --map text=body": "--map and --text are for tables",
    "ingest FILE --from-sql x": "needs an address or",
    "ingest - --date-order x": "--date-order is one of dmy, mdy",
    "ingest - --sensitive-match (": "not a regular expression",
    "export --format docx": "'docx' is not one of",
    "export --format parquet": "give --out",
    "edges Paris": "no concept",
    "edges Ada --as-of gestern": "'gestern' is no date",
    "concepts show Nobody": "there is no concept 'Nobody'",
    "undo 999": "no entry 999",
    "build --tie-break": "only a model has a second opinion",
    "embed --embedder colour": "no embedder 'colour'",
    "embed --embedder 'openai:m@http://127.0.0.1:1/v1#colour=1'": "unknown option 'colour'",
    "embed --change": "name it with --embedder",
    "db language klingon": "no text search for 'klingon'",
    "serve --host 0.0.0.0": "--token-file",
    "serve --token-file /nowhere/token": "cannot be read",
    "mcp --http": "--help",
    # What destroys is refused on a pipe, and names the store.
    "db drop": "add --yes",
    "delete m0 m1 m2 m3 m4 m5 m6 m7 m8 m9 m10": "add --yes",
    "embed --change --embedder bge-small": "add --yes",
}
WITHOUT_A_STORE = {
    "cache clear": "add --yes",
    "recall x --sqlite none.db --cluster 1": "leave --cluster out",
    "recall x --sqlite none.db --include-superseded": "leave --include-superseded out",
    "recall x --sqlite none.db --as-of 2024-05-01 --dense 2": "leave --as-of, --dense out",
    "recall x --sqlite none.db --why-not m1": "leave --why-not out",
    "recall x --dsn postgresql://nobody@127.0.0.1:1/none": "PostgreSQL",
    "recall x --dsn postgresql://%": "PostgreSQL",
    "recall x --dsn postgresql://localhost:port/x": "PostgreSQL",
    "recall x --data ''": "--data",
    "db drop --yes --data a=b": "--data",
    "db drop --yes --data postgresql://x/y": "--data",
    "db start --data FILE": "FILE",
    "db stop --data FILE": "FILE",
    # A typo in an address takes no other store instead, and is not repeated: it may hold a password.
    **{
        f"{command} --dsn {address}": "not a PostgreSQL address"
        for command in ("db drop --yes", "db status", "recall x", "delete m", "backfill x.jsonl", "serve", "watch")
        for address in ("postgressql://me:hush@host/notes", "mysql://me:hush@host/n", "notaurl", "''", "hush=1")
    },
}
# Numbers beyond all counting, at {}.
COUNTED = [
    *("undo {}", "log --limit {}", "edges Ada --limit {}", "show m1 --limit {}", "concepts ambiguous --limit {}"),
    *("concepts list --limit {}", "concepts clusters --members {}"),
    *("recall Ada --cluster {}", "recall Ada --k {}", "recall Ada --rerank-depth {}", "extract --limit {}"),
    *("build --limit {}", "gate --k {}"),
]
ENDS = ("99999999999999999999", "9223372036854775808", "-99999999999999999999")
MANY = [f"m{number}" for number in range(11)]


@pytest.fixture(scope="module")
def filled_dsn(module_dsn: str) -> str:
    """A store that is only looked at, since nothing of these calls may change it."""
    with hopgate.open(module_dsn) as kb:
        kb.add(*(Memory(key, "Ada Lovelace lives in London.") for key in MANY))
    return module_dsn


@pytest.mark.parametrize("call", ON_A_STORE)
def test_on_a_store(capsys, filled_dsn, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_text('{"_id": "x", "text": "fine"}\n{broken\n')
    sentence = Runner(capsys, "--dsn", filled_dsn)(*shlex.split(call), status=2).refused()
    assert ON_A_STORE[call] in sentence
    with hopgate.open(filled_dsn) as kb:
        assert len(kb) == len(MANY)


@pytest.mark.parametrize("call", WITHOUT_A_STORE)
def test_without_a_store(bare, call, tmp_path, monkeypatch):
    default = tmp_path / "default"
    monkeypatch.setenv("HOPGATE_STORE", str(default))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").touch()
    sentence = bare(*shlex.split(call), status=2).refused()
    assert WITHOUT_A_STORE[call] in sentence and "hush" not in sentence
    assert not default.exists()


@pytest.mark.parametrize("call", COUNTED)
def test_a_number_beyond_all_counting(capsys, filled_dsn, call):
    for end in ENDS:
        ran = Runner(capsys, "--dsn", filled_dsn)(*call.format(end).split(), status=None)
        assert ran.status in (0, 2) and "Traceback" not in ran.err, ran
        if ran.status == 2:
            ran.refused()


@pytest.mark.parametrize("call", [["db", "drop"], ["delete", *MANY], ["embed", "--change", "--embedder", "bge-small"]])
def test_what_destroys_is_asked_on_a_terminal(capsys, filled_dsn, call, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    asked = Runner(capsys, "--dsn", filled_dsn)(*call, status=2)
    assert "the database test_" in asked.err and "nothing was changed" in asked.err
    with hopgate.open(filled_dsn) as kb:
        assert len(kb) == len(MANY)
