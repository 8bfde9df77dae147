"""A bundled model as the runtime optimised it, kept on disk: a process that asks it once spares doing that again.

Its session is made in 115 ms and not in 250, and gives the same numbers, bit for bit (docs/research/speed.md).
"""

from __future__ import annotations

import contextlib
import hashlib
import platform
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hopgate.private_files import replace_file

SUFFIX = ".onnx"
# What is optimised is optimised for a processor: a folder may be shared by machines.
_PROCESSOR = Path("/proc/cpuinfo")


@dataclass(frozen=True, slots=True)
class KeptModel:
    """A file whose name ends with the digest of what is in it.

    Parameters
    ----------
    directory : Path
        Where it is kept.
    name, sha256, runtime : str
        Which model it was made of, that one's digest, and which version of the runtime made it.

    Examples
    --------
    >>> kept = KeptModel(Path(tempfile.mkdtemp()), "tiny", "68807e3f", "1.31")
    >>> with kept.writing() as path:
    ...     _ = path.write_bytes(b"optimised")
    >>> kept.read(), [file.suffix for file in kept_models(kept.directory)]
    (b'optimised', ['.onnx'])
    """

    directory: Path
    name: str
    sha256: str
    runtime: str

    @property
    def _prefix(self) -> str:
        made_of = f"{self.sha256} {self.runtime} {platform.machine()} {_features()}"
        return f"{self.name}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}-"

    def read(self) -> bytes | None:
        """The optimised model; none where there is none, or it is damaged."""
        for path in self.directory.glob(f"{self._prefix}*{SUFFIX}"):
            with contextlib.suppress(OSError):
                model = path.read_bytes()
                if path.name == self._prefix + hashlib.sha256(model).hexdigest() + SUFFIX:
                    return model
        return None

    @contextlib.contextmanager
    def writing(self) -> Iterator[Path]:
        """Give a path to write the optimised model to; it is kept if it is there at the end.

        A folder that cannot be written to keeps nothing.
        """
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "model"
            yield made
            with contextlib.suppress(OSError):
                model = made.read_bytes()
                target = self.directory / (self._prefix + hashlib.sha256(model).hexdigest() + SUFFIX)
                replace_file(target, [model])
                # Those of other versions of the runtime, and damaged ones, are nobody's any more.
                for other in self.directory.glob(f"{self.name}-*{SUFFIX}"):
                    if other != target:
                        other.unlink(missing_ok=True)


def kept_models(directory: Path) -> list[Path]:
    """The models that are kept in a folder."""
    return sorted(directory.glob(f"*{SUFFIX}"))


def _features() -> str:
    """What the processor can do, where the system says it."""
    try:
        lines = _PROCESSOR.read_text(errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
