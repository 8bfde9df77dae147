"""A model as the runtime optimised it: the same numbers, and nothing lost where it is damaged or cannot be kept."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from hopgate.embed.bge import BgeSmall
from hopgate.embed.kept_model import KeptModel, kept_models
from hopgate.embed.onnx import model_directory

TEXT = ["The NAS moved to the cellar."]


def test_a_kept_model_gives_the_same_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPGATE_CACHE", str(tmp_path))
    first = BgeSmall().documents(TEXT)
    (kept,) = kept_models(model_directory())
    assert kept.stat().st_mode & 0o777 == 0o600
    written = kept.stat().st_mtime_ns
    np.testing.assert_array_equal(BgeSmall().documents(TEXT), first)
    assert kept.stat().st_mtime_ns == written, "it was read, not made again"
    # A damaged one is as good as none.
    kept.write_bytes(kept.read_bytes()[:-100])
    np.testing.assert_array_equal(BgeSmall().documents(TEXT), first)
    (again,) = kept_models(model_directory())
    assert again.stat().st_mtime_ns != written
    assert not list(tmp_path.rglob("*.tmp"))


def test_one_that_the_runtime_refuses_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPGATE_CACHE", str(tmp_path))
    monkeypatch.setattr(KeptModel, "read", lambda kept: b"no model at all")
    assert BgeSmall().documents(TEXT).shape == (1, 384)


def test_a_full_disk_keeps_nobody_from_embedding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPGATE_CACHE", str(tmp_path))
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(KeptModel, "writing", lambda kept: contextlib.nullcontext(tmp_path / "file" / "below"))
    assert BgeSmall().documents(TEXT).shape == (1, 384)
    assert not kept_models(model_directory())


def test_another_runtime_has_another_file(tmp_path: Path) -> None:
    old, new = (KeptModel(tmp_path, "tiny", "68807e3f", version) for version in ("1.30", "1.31"))
    for kept in (old, new):
        with kept.writing() as path:
            path.write_bytes(b"made by " + kept.runtime.encode())
    assert new.read() == b"made by 1.31"
    assert old.read() is None and len(kept_models(tmp_path)) == 1


def test_a_folder_that_cannot_be_written_to_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = KeptModel(tmp_path / "file" / "below", "tiny", "68807e3f", "1.31")
    with kept.writing() as path:
        path.write_bytes(b"optimised")
    assert kept.read() is None
