"""A backup that comes from somebody else is data and no program; and a restore destroys nothing that came meanwhile."""

from __future__ import annotations

import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hopgate
from hopgate import Memory
from hopgate.errors import HopgateError
from hopgate.guard import SensitivityRules
from hopgate.kb import KnowledgeBase
from hopgate.store import backup
from hopgate.store.backup import MANIFEST


@pytest.fixture
def made(kb: KnowledgeBase, tmp_path: Path) -> Path:
    """A backup of a store with one memory."""
    kb.add(Memory("m", "Ada keeps the key."))
    kb.upkeep.backup(tmp_path / "made.hopgate")
    return tmp_path / "made.hopgate"


def rewritten(path: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """The backup with another manifest, and its tables as they are."""
    other = path.with_name("other.hopgate")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        values = json.loads(old.read(MANIFEST))
        changed = change(values)
        new.writestr(MANIFEST, changed if isinstance(changed, str | bytes) else json.dumps(values))
        for name in old.namelist():
            if name != MANIFEST:
                new.writestr(name, old.read(name))
    return other


def with_type(kind: str, name: str = "more") -> Callable[[dict[str, Any]], None]:
    def change(values: dict[str, Any]) -> None:
        values["tables"]["memories"]["columns"][name] = kind

    return change


def test_a_backup_runs_no_statement_of_its_own(made: Path, other: str) -> None:
    """The embedded server's user may do anything there: a statement would be a program on this machine."""
    taken = "CREATE TABLE public.taken (a int)"
    with hopgate.open(other) as target:
        for kind, name in (
            (f"text; {taken}", "more"),
            ("text DEFAULT pg_sleep(0)::text", "more"),
            ("text", f'a" text; {taken}; --'),
        ):
            with pytest.raises(HopgateError) as said:
                target.upkeep.restore(rewritten(made, with_type(kind, name)))
            row = target.store.run(lambda c: c.execute("SELECT to_regclass('public.taken')").fetchone())
            assert row == (None,) and len(target) == 0 and "Ada" not in str(said.value)


def test_a_manifest_of_another_shape_is_one_sentence(made: Path, other: str) -> None:
    shapes: list[Callable[[dict[str, Any]], Any]] = [
        lambda _: "[" * 100_000,
        lambda _: b"\xff",
        lambda values: values.update(schema="base"),
        lambda values: values.update(tables=[]),
        lambda values: values["tables"]["memories"].update(columns={"id": 1}),
        lambda values: values["tables"].update(memories=None),
    ]
    with hopgate.open(other) as target:
        for change in shapes:
            with pytest.raises(HopgateError, match="not a backup of hopgate"):
                target.upkeep.restore(rewritten(made, change))


def test_what_comes_while_a_backup_is_read_stays(made: Path, other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store was empty when it was looked at, and is emptied before it is filled."""
    real_load = backup._load

    def meanwhile(*given: Any) -> Any:
        with hopgate.open(other) as beside:
            beside.add(Memory("n", "Bea feeds the cat."))
        return real_load(*given)

    monkeypatch.setattr(backup, "_load", meanwhile)
    with hopgate.open(other) as target:
        with pytest.raises(HopgateError, match="holds 1 memories"):
            target.upkeep.restore(made)
        assert target.get("n") is not None and target.get("m") is None


def test_a_backup_is_for_its_owner_alone_and_replaces_nothing(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.add(Memory("m", "Ada keeps the key.", is_sensitive=True))
    old = os.umask(0)
    try:
        kb.upkeep.backup(tmp_path / "b.hopgate")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "b.hopgate").stat().st_mode) == 0o600
    with pytest.raises(HopgateError, match="exists already"):
        kb.upkeep.backup(tmp_path / "b.hopgate")
    assert [path.name for path in tmp_path.iterdir()] == ["b.hopgate"]


def test_the_rules_of_the_store_that_is_restored_into_stay_and_hold(
    kb: KnowledgeBase, other: str, tmp_path: Path
) -> None:
    """Somebody who has a rule and restores an older backup believes that the rule still holds."""
    kb.add(Memory("m1", "Ada Lovelace lives in London.", tags=("private",)), Memory("m2", "Bea lives in Paris."))
    kb.add_sensitivity(SensitivityRules(patterns=("PIN",)))
    kb.upkeep.catch_up()
    kb.upkeep.backup(tmp_path / "made.hopgate")
    with hopgate.open(other) as target:
        target.add_sensitivity(SensitivityRules(tags=("private",)))
        target.upkeep.restore(tmp_path / "made.hopgate")
        assert target.sensitivity() == SensitivityRules(tags=("private",), patterns=("PIN",))
        assert [memory.external_id for memory in target.export() if memory.is_sensitive] == ["m1"]
        names = {name for concept in target.graph.concepts() for name in (concept.name, *concept.aliases)}
        assert "Bea" in names and not names & {"Ada Lovelace", "London"}
        assert target.pending_vectors() == 0
        assert target.store.run(
            lambda c: c.execute("SELECT count(*) FROM memories WHERE embedding IS NULL").fetchone()
        ) == (1,)


def test_nobody_reads_what_was_restored_before_the_rules_hold(
    kb: KnowledgeBase, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.add(Memory("m1", "Ada Lovelace lives in London.", tags=("private",)))
    kb.upkeep.backup(tmp_path / "made.hopgate")
    with hopgate.open(other) as target:
        target.add_sensitivity(SensitivityRules(tags=("private",)))

        def breaks(*_: object) -> None:
            raise HopgateError("broken off")

        with monkeypatch.context() as patched:
            patched.setattr(target._writer, "_mark", breaks)
            with pytest.raises(HopgateError, match="broken off"):
                target.upkeep.restore(tmp_path / "made.hopgate")
        assert len(target) == 0 and target.sensitivity() == SensitivityRules(tags=("private",))
