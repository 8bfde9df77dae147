"""Every python and console block of the README and the guide runs, every command and option is documented, and every
notebook runs from top to bottom and is stored with its outputs.
"""

import os
import re
import runpy
import shlex
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import matplotlib
import nbformat
import pytest
from cli_run import Runner
from matplotlib import pyplot
from nbclient import NotebookClient
from psycopg.conninfo import conninfo_to_dict
from word_endpoint import serving

import hopgate
from hopgate.demo import fill

ROOT = Path(__file__).parents[1]
GUIDE = sorted((ROOT / "docs" / "guide").glob("*.md"))
PAGES = [ROOT / "README.md", *GUIDE]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# What a page may show without the tests running it: other programs, and models that are not on every machine.
SHELL = "git|cd|make|pip|python -m venv|python -m pip|export|createdb|psql|sudo|[.]"
# Pages that look at the synthetic corpus; the others begin with nothing.
ON_EXAMPLE = ("recall", "rerank", "settings", "audit", "graph", "time", "troubleshooting", "mcp")
matplotlib.use("agg")
ADDRESS = "postgresql://me@localhost/notes"
ENDPOINT = "openai:my-model@http://localhost:8080/v1#key=none"


@pytest.fixture(scope="module")
def example(module_dsn: str) -> str:
    """The address of a database with the synthetic corpus and its graph, which pages and notebooks only read."""
    with hopgate.open(module_dsn) as kb:
        kb.store_settings.set({"late": "bundled"})
        fill(kb)
    return module_dsn


@pytest.fixture
def place(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """An empty folder, an empty store, and a real address for each one that pages make up."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOPGATE_STORE", dsn)
    parts = conninfo_to_dict(dsn)
    address = f"postgresql://{parts['user']}@/{parts['dbname']}?host={quote(str(parts['host']), safe='')}"
    with hopgate.open(dsn) as kb:
        kb.store_settings.set({"late": "bundled"})
    with serving("my-model") as endpoint:
        yield {ADDRESS: address, ENDPOINT: endpoint.spec}


FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of a page, and what it prints: the lines of a `text` block right below one of python."""

    page: Path
    line: int
    language: str
    text: str
    prints: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def commands(self) -> list[tuple[str, list[str]]]:
        """Each command of a console block with the lines it is said to print."""
        commands: list[tuple[str, list[str]]] = []
        for line in filter(str.strip, self.text.splitlines()):
            if line.startswith("$ "):
                commands.append((line[2:], []))
            else:
                assert commands, f"{self}: output without a command"
                commands[-1][1].append(line)
        return commands


def blocks(page: Path, real: Mapping[str, str] | None = None) -> list[Block]:
    """The blocks of a page, what it made up replaced by what is real."""
    text = page.read_text(encoding="utf-8")
    for made_up, there in (real or {}).items():
        text = text.replace(made_up, there)
    fences, made = list(FENCE.finditer(text)), []
    for fence, after in zip(fences, [*fences[1:], None], strict=True):
        shown = after is not None and after[1] == "text" and not text[fence.end() : after.start()].strip()
        lines = tuple(filter(str.strip, after[2].splitlines())) if after is not None and shown else ()
        made.append(Block(page, text[: fence.start()].count("\n") + 2, fence[1], fence[2], lines))
    return made


def run_command(line: str, bare: Runner) -> str:
    """Run `hopgate …`, with `> FILE` where a page has it, and give what it printed."""
    command, _, target = line.partition(" > ")
    program, *words = shlex.split(command)
    assert program == "hopgate", f"only hopgate's own commands are console blocks: {line}"
    ran = bare(*words)
    if target:
        Path(target).write_text(ran.out, encoding="utf-8")
    return ran.out + ran.err


def assert_shown(expected: list[str], printed: str, where: object) -> None:
    """Every line a page shows was printed, in that order; … stands for anything, and space is space."""
    flat, at = " ".join(printed.split()), 0
    for line in expected:
        pattern = r".*?".join(re.escape(" ".join(part.split())) for part in line.split("…"))
        match = re.compile(pattern.replace(r"\ ", " ")).search(flat, at)
        assert match, f"{where}: not printed: {line}\n{printed}"
        at = match.end()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_a_page_runs(page, place, example, bare, capsys, monkeypatch):
    if page.stem in ON_EXAMPLE:
        monkeypatch.setenv("HOPGATE_STORE", example)
    namespace = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in blocks(page, place):
            if block.language == "python":
                capsys.readouterr()
                # Line numbers of a traceback are those of the page.
                exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), namespace)
                assert_shown(list(block.prints), capsys.readouterr().out, block)
            elif block.language == "console":
                for line, expected in block.commands:
                    assert_shown(expected, run_command(line, bare), f"{block}: {line}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_hits_that_are_printed_are_shown_and_what_is_not_run_is_other_programs(page):
    """One page printed the wrong memory, and the test that ran it did not look."""
    for block in blocks(page):
        if block.language == "console":
            assert all(shown for line, shown in block.commands if line.startswith("hopgate recall")), block
        elif block.language == "python" and "recall(" in block.text and "print(" in block.text:
            assert block.prints, block
        assert block.language in ("python", "console", "sh", "json", "toml", "text"), block
        if block.language == "sh":
            for line in filter(None, map(str.strip, block.text.splitlines())):
                assert re.match(rf"({SHELL}) |#", line) or "MODEL" in line, f"{block}: a test could run {line}"


def test_the_reference_of_commands_has_every_command_and_setting():
    written = runpy.run_path(str(ROOT / "docs" / "hooks" / "commands.py"))["reference"]()
    parts = ("## hopgate concepts merge", "`--sort-by [relevance\\|", "| `lexical_ranker` |", "| `HOPGATE_STORE` |")
    assert [part for part in parts if part not in written] == []


# A kernel takes half a minute; that the code of each runs is seen below.
@pytest.mark.full
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, example, tmp_path):
    variables = {**os.environ, "HOPGATE_STORE": example, "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    notebook, resources = nbformat.read(path, as_version=4), {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=800, resources=resources).execute(env=variables)


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if "gate" not in path.stem], ids=lambda path: path.stem)
def test_the_code_of_a_notebook_runs_on_a_store_without_typed_edges(path, kb, dsn, monkeypatch):
    """In this process, which is quicker than a kernel; the gate's notebook reads a data set and no store."""
    words = ["alder", "birch", "cedar", "dogwood", "elder", "fir", "gorse", "hazel", "ivy", "juniper", "kelp", "larch"]
    kb.add(*(hopgate.Memory(f"m{at}", f"note {at}", tags=(words[at % 12], words[at * 5 % 12])) for at in range(24)))
    kb.embed()
    kb.build()
    assert not [edge for edge in kb.graph.edges() if edge.evidence]
    monkeypatch.setenv("HOPGATE_STORE", dsn)
    monkeypatch.setenv("MPLBACKEND", "agg")
    namespace: dict[str, object] = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, f"{path.name}: {cell.source.splitlines()[0]}", "exec"), namespace)
    pyplot.close("all")


def test_notebooks_are_stored_with_their_outputs_and_without_a_trace_of_the_machine():
    assert len(NOTEBOOKS) == 4
    for path in NOTEBOOKS:
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert all(cell.execution_count for cell in cells) and any(cell.outputs for cell in cells), (
            f"{path.name} is stored without its outputs: run docs/screenshots/take.py notebooks"
        )
        assert not re.search(r"/(home|root|tmp|work)/|Traceback|stderr", path.read_text(encoding="utf-8")), path.name
