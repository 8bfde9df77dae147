"""Patterns that are kept on disk: what comes back is what `re.compile` gives, whatever became of the file."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopgate.extract.rules import kept_patterns
from hopgate.extract.rules.fact_patterns import FACTS, _compiled
from hopgate.extract.rules.kept_patterns import KeptPatterns
from hopgate.extract.rules.needed_texts import needed_texts

PATTERNS = [r"(?P<a>\w+) runs (?:on|at) (?P<b>[a-zé]+)", r"(?i)moved\b", r"x{2,5}?(?=y)|z", "", r"[^\W\d_]+ ⟨\d+⟩"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kept" / "some.patterns"
    kept = KeptPatterns(path)
    for pattern in PATTERNS:
        kept.compiled(pattern)
    kept.save()
    return path


def test_a_kept_pattern_is_the_compiled_one(file: Path) -> None:
    again = KeptPatterns(file)
    for pattern in PATTERNS:
        found, made = again.compiled(pattern), re.compile(pattern)
        assert (found, found.groupindex, again.needs(found)) == (made, made.groupindex, needed_texts(made))
    assert not again.missing
    assert file.stat().st_mode & 0o077 == 0


def test_the_patterns_of_facts_come_back_as_they_were(tmp_path: Path) -> None:
    texts = [_compiled(raw).pattern for _, raw in FACTS._raw[::20]]
    first = KeptPatterns(tmp_path / "facts.patterns")
    made = [first.compiled(text) for text in texts]
    first.save()
    again = KeptPatterns(tmp_path / "facts.patterns")
    assert [again.compiled(text) for text in texts] == made == [re.compile(text) for text in texts]
    assert not again.missing and all(again.needs(one) == needed_texts(one) for one in made)


def test_flags_are_part_of_a_pattern(file: Path) -> None:
    again = KeptPatterns(file)
    assert again.compiled(PATTERNS[0], re.IGNORECASE).match("GITEA RUNS ON birch")
    assert again.missing == 1 and again.compiled(PATTERNS[0]).match("GITEA RUNS ON birch") is None


@given(at=st.integers(min_value=0), bit=st.integers(0, 7))
def test_a_damaged_file_costs_time_and_nothing_else(
    at: int, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("kept") / "some.patterns"
    kept = KeptPatterns(path)
    made = [kept.compiled(pattern) for pattern in PATTERNS]
    kept.save()
    content = bytearray(path.read_bytes())
    content[at % len(content)] ^= 1 << bit
    path.write_bytes(content)
    assert [KeptPatterns(path).compiled(pattern) for pattern in PATTERNS] == made
    path.write_bytes(content[: at % len(content)])
    assert [KeptPatterns(path).compiled(pattern) for pattern in PATTERNS] == made


def test_what_two_processes_compiled_is_kept_together(file: Path) -> None:
    one, other = KeptPatterns(file), KeptPatterns(file)
    one.compiled("only one"), other.compiled("the other")
    one.save(), other.save()
    again = KeptPatterns(file)
    for pattern in (*PATTERNS, "only one", "the other"):
        again.compiled(pattern)
    assert not again.missing


def test_a_file_that_grew_too_large_begins_anew(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as small:
        small.setattr(kept_patterns, "MOST_BYTES", 10)
        more = KeptPatterns(file)
        more.compiled("more")
        more.save()
    again = KeptPatterns(file)
    again.compiled("more"), again.compiled(PATTERNS[0])
    assert again.missing == 1


def test_a_file_of_somebody_else_is_not_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    again = KeptPatterns(file)
    assert again.compiled(PATTERNS[0]).match("gitea runs on birch") and again.missing == 1


def test_a_disk_that_is_full_is_left_as_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    more = KeptPatterns(file)
    more.compiled("more")
    more.save()
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_no_pattern_of_a_notes_words_is_kept() -> None:
    """What is made inside a function may hold what somebody wrote; only the table of facts is compiled late."""
    late = set()
    for path in (Path(kept_patterns.__file__).parents[1]).rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        for made in (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)):
            calls = (one.func for one in ast.walk(made) if isinstance(one, ast.Call))
            late |= {f"{path.stem}.{made.name}" for func in calls if getattr(func, "id", "") == "compiled"}
    assert late == {"fact_patterns._compiled"}


def test_a_pattern_that_is_none_is_refused_as_ever(file: Path) -> None:
    with pytest.raises(re.error, match="unterminated"):
        KeptPatterns(file).compiled("(")


def test_nothing_is_kept_where_nothing_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for path in (None, tmp_path / "file" / "some.patterns"):
        kept = KeptPatterns(path)
        assert kept.compiled("a+").fullmatch("aa")
        kept.save()


def test_an_engine_that_is_another_compiles_as_the_library_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(kept_patterns.compiler, "_code")
    kept = KeptPatterns(tmp_path / "some.patterns")
    found = kept.compiled(PATTERNS[0])
    assert found == re.compile(PATTERNS[0]) and kept.needs(found) == needed_texts(found) and not kept.missing


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    code = (
        "from hopgate.extract.rules import phrases, kept_patterns\n"
        "from hopgate.extract.extraction import Source\n"
        "from hopgate.memory import Cleared\n"
        "found = phrases.Phrases().extract([Source('m', Cleared('Moved immich from cedar to alder.'))])\n"
        "print(kept_patterns._patterns().missing > 0, len(found[0].facts))"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"HOPGATE_CACHE": str(tmp_path), "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert said[0][0] == "True" and said[1] == ["False", said[0][1]]
    assert len(kept_patterns.kept_pattern_files(tmp_path / "patterns")) == 1
