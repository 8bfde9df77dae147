"""What every source shares: its name, how it is recognised, how it is read, and the ids that it makes."""

import hashlib
import hmac
import json
import re
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from hopgate.errors import HopgateError
from hopgate.jsonl import parse_json
from hopgate.options import check, setting

Place = Path | zipfile.Path
"""A file or folder, or one inside a ZIP archive: exports come as either."""

# A file that is gone or may not be read; an archive that is damaged or locked by a password.
UNREADABLE = (OSError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error)
# What a reader meets in a file whose fields are not where its program puts them.
MISPLACED = (*UNREADABLE, LookupError, TypeError, AttributeError, ValueError, ArithmeticError)
# What is left out of a folder, in the grammar of .gitignore; ids begin at the folder that it lies in.
IGNORE = ".hopgateignore"
# More are tried in more ways than anybody waits for.
_MANY_STARS = re.compile(r"(?:\*+[^*]+){4}\*|(?:\*\*[^*]+){2}\*\*")

Record = dict[str, Any]
"""A memory as a line of corpus.jsonl would have it."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a source is read."""

    # A memory's field -> the column, or the path such as `message.body`, that holds it.
    fields: Mapping[str, str] = field(default_factory=dict)
    # Of the store that the memories are for: the secret that ids are made with where a source has none, and the folders
    # that notes came from before.
    id_key: bytes = field(default=b"", repr=False)
    folders: Collection[str] = field(default=(), repr=False)
    sections: bool = setting(False, "a memory for each section of a note, not for each note")
    date_order: Literal["dmy", "mdy"] | None = setting(None, "where a chat's dates can be read both ways")
    query: str | None = setting(
        None, "a table or a SELECT of the SQLite file or server that PATH names", called="from_sql"
    )
    text: str | None = setting(None, "a row's text, made of its columns: '{item} from {shop}, {price} €'")
    keep_unknown: bool = setting(False, "keep fields that are not a memory's, as extra, instead of refusing them")
    scope: str | None = setting(None, "the scope of every memory that names none")
    max_mb: int = setting(256, "the largest file that is read whole, in megabytes", low=1)
    strict: bool = setting(False, "refuse all of a folder, a mailbox or an export of chats for one item that is wrong")

    def __post_init__(self) -> None:
        check(self)

    @property
    def keeps(self) -> bool:
        """Whether fields that are not a memory's are kept: also the columns that a text is made of."""
        return self.keep_unknown or self.text is not None


# So much of a JSON file is enough to see the names of its first record.
PEEKED = 65536

Records = Iterator[tuple[str, Record | HopgateError]]
"""Records, each with where it lies in its file; for one that cannot be read, the reason in its place."""


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """A kind of file that memories can come from."""

    name: str  # what `--as` calls it
    title: str  # what it is, for a sentence
    recognises: Callable[[Place], bool]  # whether a place looks like it; cheap
    records: Callable[[Place, ReadOptions], Records]  # the records of a place
    takes_columns: bool = False  # whether `--map` says which of its columns holds what
    takes_query: bool = False  # whether `--from-sql` says which rows
    of_items: bool = False  # whether an item that is wrong is set aside, and the others are read


@dataclass(frozen=True, slots=True)
class Rejected:
    """An item of a source that was set aside: where it lies, and why it is no memory."""

    where: str
    reason: str

    def __str__(self) -> str:
        if self.reason.startswith(self.where):
            return self.reason
        return f"{self.where}{',' if self.reason.startswith('line ') else ':'} {self.reason}"


def set_aside(where: str, records: Iterable[Record]) -> Records:
    """Pass on the records of an item, such as a note or a chat; what ends them early stands in their place."""
    try:
        yield from ((where, record) for record in records)
    except HopgateError as error:
        yield where, error
    except MISPLACED as error:
        yield where, HopgateError(f"not in a known layout: {type(error).__name__} {error}")


def digest(key: bytes, *parts: object) -> str:
    """Sixteen hexadecimal digits of some values: with the same key the same in every run.

    Who does not know the key cannot tell by an id whether a guess at a text is right.
    """
    text = json.dumps(parts, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")
    return hmac.new(key, text, hashlib.sha256).hexdigest()[:16]


class Repeated:
    """Numbers ids that come again: the second `x` is `x-2`."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def __call__(self, name: str) -> str:
        """Give the name, or the name with a number where it was given before."""
        self._counts[name] += 1
        return name if self._counts[name] == 1 else f"{name}-{self._counts[name]}"


def read_bytes(place: Place, max_mb: int) -> bytes:
    """The bytes of a file, or why it cannot be read; no more are unpacked of an archive than are allowed."""
    try:
        with place.open("rb") as stream:
            data: bytes = stream.read(max_mb * 2**20 + 1)
    except UNREADABLE as error:
        raise HopgateError(f"{place} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > max_mb * 2**20:
        raise HopgateError(f"{place} holds more than {max_mb} MB: part it, or allow more where it is no note, --max-mb")
    return data


def read_utf8(place: Place, max_mb: int) -> str:
    """The text of a UTF-8 file without its byte-order mark."""
    data = read_bytes(place, max_mb)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise HopgateError(f"{place}, line {line}: not UTF-8 at byte {error.start}: save it as UTF-8") from None


def head(place: Place, size: int = 4096) -> str:
    """The beginning of a file, to recognise it by; nothing where it cannot be read."""
    try:
        with place.open("rb") as stream:
            data: bytes = stream.read(size)
        return data.decode("utf-8-sig", "replace")
    except UNREADABLE:
        return ""


class LeftOutWarning(UserWarning):
    """Something in a folder was not read: a link out of it, or what is no note."""


def files_below(place: Place, *suffixes: str, root: Path | None = None) -> Iterator[tuple[str, Place]]:
    """The files of a folder with one of the suffixes, each with its path from the root, by default the folder itself.

    Hidden ones are left out, and what the root's `.hopgateignore` lists. No link is followed: what it names inside the
    folder is read where it lies, and what lies outside is not read, which a warning says.
    """
    folder = place.resolve() if isinstance(place, Path) else None
    root = root or folder
    ignored = _ignored(root or place)

    def below(inside: Place, path: str) -> Iterator[tuple[str, Place]]:
        entries: list[Place] = list(inside.iterdir())
        for inner in sorted(entries, key=lambda entry: entry.name):
            name, is_folder = path + inner.name, inner.is_dir()
            if inner.name.startswith((".", "__MACOSX")) or ignored(name + "/" * is_folder):
                continue
            if folder and isinstance(inner, Path) and inner.is_symlink():
                named = is_folder or inner.name.lower().endswith(suffixes)
                if named and not inner.resolve().is_relative_to(folder):
                    sentence = f"{inner} is a link out of {folder}: it was not read"
                    warnings.warn(sentence, LeftOutWarning, stacklevel=2)
            elif is_folder:
                yield from below(inner, f"{name}/")
            elif inner.is_file() and inner.name.lower().endswith(suffixes):
                yield name, inner

    yield from below(place, f"{folder.relative_to(root).as_posix()}/" if root and folder and folder != root else "")


def _ignored(root: Place) -> Callable[[str], bool]:
    """Say of paths from a folder whether its `.hopgateignore` lists them."""
    if not (root / IGNORE).is_file():
        return lambda _: False
    from pathspec import GitIgnoreSpec

    lines = read_utf8(root / IGNORE, 1).splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            if not line.startswith("#") and _MANY_STARS.search(line):
                raise ValueError
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            raise HopgateError(f"{root / IGNORE}, line {number}: not a pattern as .gitignore has them") from None
    return GitIgnoreSpec.from_lines(lines).match_file


def read_json(place: Place, max_mb: int) -> Any:
    """Parse a whole JSON file."""
    try:
        return parse_json(read_utf8(place, max_mb))
    except json.JSONDecodeError as error:
        raise HopgateError(f"{place}, line {error.lineno}: not JSON ({error.msg} at column {error.colno})") from None
    except (RecursionError, ValueError) as error:
        raise HopgateError(f"{place} is not JSON that can be read: {error}") from None
    except HopgateError as error:
        raise HopgateError(str(error) if str(place) in str(error) else f"{place}: {error}") from None


def shows(place: Place, *names: str) -> bool:
    """Whether the beginning of a JSON file has all these names."""
    beginning = head(place, PEEKED)
    return beginning.lstrip()[:1] in ("[", "{") and all(f'"{name}"' in beginning for name in names)


def rows_of(value: Any, place: Place, what: str) -> list[dict[str, Any]]:
    """A list of objects, or why it is none."""
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise HopgateError(f"{place} is not {what}: a list of objects is expected")
    return value
