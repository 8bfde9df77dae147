"""Patterns as the library compiled them, kept on disk: a process that reads one note spares compiling hundreds.

Python compiles a pattern in Python, and the patterns of facts have thousands of words in them: to compile those that
sixty notes need took 2.4 s of CPU, to read them back takes 0.03 (docs/research/speed.md). What is kept is what
`re.compile` hands to its engine, which checks it once more; whatever is wrong with a file, the pattern is compiled.

Only patterns of the rules themselves come here, which a test holds: one that is made of a note's words would leave them
on the disk.
"""

from __future__ import annotations

import _sre  # type: ignore[import-not-found]
import atexit
import contextlib
import hashlib
import marshal
import mmap
import os
import re
import sys
import zlib
from array import array
from collections.abc import Mapping
from functools import cache
from pathlib import Path

# The standard library's own steps of `re.compile`; these modules are private, and any change of theirs means that
# nothing is kept.
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import NamedTuple

from hopgate.errors import HopgateError
from hopgate.extract.rules.needed_texts import Needs, needed_by_tree, needed_texts
from hopgate.files import cache_folder, own_file, replace_file

SUFFIX = ".patterns"
# A larger file is let go, and with it what editions gone by had compiled; one edition's take 11 MB.
MOST_BYTES = 64 << 20
_HEAD = hashlib.sha256().digest_size + 8
# Raised where what is kept of a pattern, or what is read off it, changes.
_EDITION = 2


class _Entry(NamedTuple):
    """One pattern: where its code is in the file and what it sums to, and what else the engine and the rules want."""

    start: int
    size: int
    crc: int
    letter: str
    flags: int
    groups: int
    names: dict[str, int]
    needs: Needs


class KeptPatterns:
    r"""Compiles patterns, or takes them from a file; `save` adds those that it had to compile.

    Parameters
    ----------
    file : Path, optional
        Where they are kept; without one nothing is.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / f"some{SUFFIX}"
    >>> first = KeptPatterns(file)
    >>> first.compiled(r"(?P<thing>\w+) runs on").match("immich runs on cedar")["thing"]
    'immich'
    >>> first.save()
    >>> again = KeptPatterns(file)
    >>> again.compiled(r"(?P<thing>\w+) runs on") == first.compiled(r"(?P<thing>\w+) runs on"), again.missing
    (True, 0)
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._kept, self._codes = _read(file) if file else ({}, memoryview(b""))
        self._made: dict[bytes, tuple[_Entry, bytes]] = {}
        self._needs: dict[re.Pattern[str], Needs] = {}

    @property
    def missing(self) -> int:
        """How many patterns had to be compiled."""
        return len(self._made)

    def compiled(self, pattern: str, flags: int = 0) -> re.Pattern[str]:
        """What `re.compile` gives."""
        key = _key(pattern, flags)
        entry = self._kept.get(key)
        if entry is not None:
            packed = self._codes[entry.start : entry.start + entry.size]
            if len(packed) == entry.size and zlib.crc32(packed) == entry.crc:
                # An engine that does not know this code says so.
                with contextlib.suppress(Exception):
                    return self._engine(pattern, entry, packed)
        try:
            tree = parser.parse(pattern, flags)
            code = compiler._code(tree, flags)
            letter = "H" if max(code) < 1 << 16 else "I"
            made_code, every_flag = array(letter, code).tobytes(), int(flags | tree.state.flags)
            entry = _Entry(
                0, len(made_code), zlib.crc32(made_code), letter, every_flag, tree.state.groups - 1,
                dict(tree.state.groupdict), needed_by_tree(tree, every_flag),
            )  # fmt: skip
            made = self._engine(pattern, entry, made_code)
        except re.error:
            raise
        except Exception:
            # Another edition of Python, whose steps are others.
            return re.compile(pattern, flags)
        self._made[key] = (entry, made_code)
        return made

    def needs(self, pattern: re.Pattern[str]) -> Needs:
        """What `needed_texts` reads off a pattern."""
        if pattern not in self._needs:
            self._needs[pattern] = needed_texts(pattern)
        return self._needs[pattern]

    def _engine(self, pattern: str, entry: _Entry, packed: bytes | memoryview) -> re.Pattern[str]:
        names: list[str | None] = [None] * (entry.groups + 1)
        for name, number in entry.names.items():
            names[number] = name
        code = array(entry.letter)
        code.frombytes(packed)
        made: re.Pattern[str] = _sre.compile(
            pattern, entry.flags, code.tolist(), entry.groups, entry.names, tuple(names)
        )
        self._needs[made] = entry.needs
        return made

    def save(self) -> None:
        """Keep what was compiled beside what is kept, by whichever process; a folder that is closed keeps nothing."""
        if not self._file or not self._made:
            return
        with contextlib.suppress(OSError):
            known, codes = _read(self._file)
            parts = {key: (entry, codes[entry.start : entry.start + entry.size]) for key, entry in known.items()}
            _write(self._file, {**parts, **self._made})


def _key(pattern: str, flags: int) -> bytes:
    return hashlib.blake2b(f"{flags} {pattern}".encode(), digest_size=16).digest()


def _read(file: Path) -> tuple[dict[bytes, _Entry], memoryview]:
    """The entries of a file, and its codes, which are read when they are wanted; nothing of a file that is damaged."""
    with contextlib.suppress(Exception), os.fdopen(own_file(file), "rb") as opened:
        if os.fstat(opened.fileno()).st_size <= MOST_BYTES:
            content = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
            size = int.from_bytes(content[_HEAD - 8 : _HEAD], "big")
            index = content[_HEAD : _HEAD + size]
            if hashlib.sha256(index).digest() == content[: _HEAD - 8]:
                return {key: _Entry(*row) for key, row in marshal.loads(index).items()}, content[_HEAD + size :]
    return {}, memoryview(b"")


def _write(file: Path, parts: Mapping[bytes, tuple[_Entry, bytes | memoryview]]) -> None:
    rows, at = {}, 0
    for key, (entry, packed) in parts.items():
        rows[key] = tuple(entry._replace(start=at, size=len(packed)))
        at += len(packed)
    index = marshal.dumps(rows)
    head = hashlib.sha256(index).digest() + len(index).to_bytes(8, "big")
    replace_file(file, [head, index, *(packed for _, packed in parts.values())])


def pattern_folder() -> Path:
    """Where patterns are kept."""
    return cache_folder() / "patterns"


def kept_pattern_files(folder: Path) -> list[Path]:
    """The files of patterns in a folder: one for each edition of Python that was used."""
    return sorted(folder.glob(f"*{SUFFIX}"))


@cache
def _patterns() -> KeptPatterns:
    """Those of this process, which writes what it had to compile when it ends."""
    made_of = f"{_EDITION} {sys.version} {_sre.MAGIC} {_sre.CODESIZE} {sys.byteorder}"
    name = hashlib.sha256(made_of.encode()).hexdigest()[:16]
    try:
        folder = pattern_folder()
    except HopgateError:
        return KeptPatterns(None)
    kept = KeptPatterns(folder / f"{name}{SUFFIX}")
    atexit.register(kept.save)
    return kept


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, from the user's cache where an earlier process compiled it.

    Examples
    --------
    >>> compiled("a+").findall("aa b a")
    ['aa', 'a']
    """
    return _patterns().compiled(pattern, flags)


def needs_of(pattern: re.Pattern[str]) -> Needs:
    """What `needed_texts` reads off a pattern, kept with it.

    Examples
    --------
    >>> [sorted(one) for one in needs_of(compiled("moved (?:from|off)"))]
    [['moved '], ['from', 'off']]
    """
    return _patterns().needs(pattern)
