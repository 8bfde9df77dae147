"""Markdown: a folder, an Obsidian vault or one note; a memory a note, or a section of one."""

import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from hopgate.corpus import READERS, check_unknown, nearest
from hopgate.errors import HopgateError
from hopgate.sources import documents
from hopgate.sources.source import (
    IGNORE,
    Place,
    ReadOptions,
    Record,
    Records,
    Repeated,
    files_below,
    read_utf8,
    set_aside,
)
from hopgate.times import moment

SUFFIXES = (".md", ".markdown")
# No bracket opens inside a link, and a heading's own spaces are stripped afterwards: each would be tried from anew.
_LINK = re.compile(r"!?\[\[([^\[\]|#^\n]*)(?:[#^][^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")
_TAG = re.compile(r"(?<![\w&/#])#([^\W\d_][\w/-]*)")
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^(#{1,6})[ \t]+(\S.*)$")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
# What front matter calls the fields of a memory.
_CALLED = {"created": "created_at", "date": "created_at", "tag": "tags", "aliases": "expanded_keywords"} | {
    "alias": "expanded_keywords",
    "lang": "language",
}
# Front matter stands between two lines of three dashes at the top of a note.
_FENCE = re.compile(r"\A\s*^---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
# Other marks of front matter: a fence that names its language, TOML, JSON, and a fence that nobody closed.
_OTHER_FENCE = re.compile(
    r"\s*(?:---[ \t]*(?:ya?ml|toml|json)\b|(?:\+\+\+|;;;)[ \t]*$|---[ \t]*\n\s*[\w\"'][^\n:]*:(?:\s|$))", re.MULTILINE
)
_COMMENT = re.compile(r"<!--.*?-->|%%.*?%%", re.DOTALL)
# So much of a note is looked through for front matter that does not begin it.
_TOP = 4000
# A memory holds a quarter of one; the sections of a note may be more.
MAX_NOTE_MB = 4
# So many values of front matter at most: what refers to itself grows without end.
MOST_VALUES = 10_000


def is_vault(place: Place) -> bool:
    """Whether a folder is an Obsidian vault."""
    return place.is_dir() and (place / ".obsidian").is_dir()


def is_markdown(place: Place) -> bool:
    """Whether a file is Markdown, or a folder has some in it."""
    if place.is_dir():
        return next(files_below(place, *SUFFIXES), None) is not None
    return place.name.lower().endswith(SUFFIXES)


def markdown(place: Place, options: ReadOptions) -> Records:
    """Give the notes; a note's id is its path from the root of its folder, a section's that and its heading."""
    root = root_of(place, options.folders) if isinstance(place, Path) else None
    if place.is_dir():
        notes = files_below(place, *SUFFIXES, *documents.suffixes_in_folders(), root=root)
    else:
        alone = place.resolve().relative_to(root).as_posix() if isinstance(place, Path) and root else place.name
        notes = iter([(alone, place)])
    for path, note in notes:
        read = documents.memories_of if documents.is_document(note) else _memories_of
        yield from set_aside(str(note), read(path, note, options))


def root_of(place: Path, known: Collection[str] = ()) -> Path:
    """Find where the ids of a folder or a note begin: at the nearest folder, it or above it, that shows itself a root.

    That is a vault, one with a `.hopgateignore`, or one of those `known` from before; else it is the folder itself.
    """
    folder = place.resolve() if place.is_dir() else place.resolve().parent
    for above in (folder, *folder.parents):
        if str(above) in known or (above / ".obsidian").is_dir() or (above / IGNORE).is_file():
            return above
    return folder


def written_when(folder: Path) -> dict[str, int]:
    """When each note of a folder was written: other than before where one came, changed or went."""
    if not folder.is_dir():
        raise HopgateError(f"{folder} is no folder: give one of notes")
    notes = files_below(folder, *SUFFIXES, *documents.suffixes_in_folders())
    return {path: note.stat().st_mtime_ns for path, note in notes if isinstance(note, Path)}


def _memories_of(path: str, note: Place, options: ReadOptions) -> Iterator[Record]:
    written = read_utf8(note, min(options.max_mb, MAX_NOTE_MB))
    front, text = split_front_matter(written)
    record = _record(path, front, text, _written(note))
    for name in front:
        field = _CALLED.get(name, name)
        try:
            if field in READERS:
                READERS[field](record.get(field), name)
        except HopgateError as error:
            lines = enumerate(written.splitlines(), start=1)
            line = next((number for number, line in lines if line.lstrip("\ufeff\"' -").startswith(name)), 1)
            raise HopgateError(f"line {line}: {error}") from None
    yield from _sections(record, path) if options.sections else [record | _contents(record["text"], record)]


def _record(path: str, front: dict[str, Any], text: str, written: datetime | None) -> Record:
    """A note with its front matter; what it has beyond a memory's fields is kept in `extra`."""
    fields: dict[str, Any] = {}
    for name, value in front.items():
        known = _CALLED.get(name, name)
        if known in fields:
            raise HopgateError(f"the front matter gives {known!r} twice, once as {name!r}: keep one of them")
        fields[known] = value
    extra = {name: value for name, value in fields.items() if name not in READERS and name != "title"}
    check_unknown(list(extra), "front matter", kept=True)
    if aliases := front.get("aliases", front.get("alias")):
        # They are searched as keywords, and a graph makes them names of what the note's title names.
        extra["aliases"] = _texts("aliases", aliases, ",")
    if "tags" in fields:
        fields["tags"] = [tag.lstrip("#") for tag in _texts("tags", fields["tags"], r"[,;|\s]")]
    if "expanded_keywords" in fields:
        fields["expanded_keywords"] = _texts("keywords", fields["expanded_keywords"], ",")
    stem = path.rpartition("/")[2].rpartition(".")[0]
    first, _, rest = text.lstrip().partition("\n")
    heading = _HEADING.match(first)
    title = fields.pop("title", None)
    if title is None and heading and len(heading[1]) == 1:
        title, text = _heading_text(heading), rest
    day = _DAY.search(stem)
    record: Record = {"_id": path, "title": str(title or stem), "text": text.strip()}
    # An empty flag is no flag: the memory is refused.
    kept = (name for name, value in fields.items() if value is not None or name == "is_sensitive")
    record |= {name: fields[name] for name in kept if name in READERS}
    if "created_at" not in record and (when := moment(day and day[0]) or written):
        record["created_at"] = when.isoformat()
    if "category" not in record and "/" in path:
        record["category"] = path.rpartition("/")[0]
    return record | ({"extra": extra} if extra else {})


def _texts(name: str, value: Any, separator: str) -> list[str]:
    """The texts of a list, however deep it is, or of one text with several; what is no text is refused."""
    if isinstance(value, list):
        return [text for inner in value for text in _texts(name, inner, r"\Z")]
    if isinstance(value, dict | bool):
        what = "a word that YAML takes for true or false" if isinstance(value, bool) else "an object"
        raise HopgateError(f"the front matter's {name} hold {what}: write a list of words, in quotes")
    return [part.strip() for part in re.split(separator, str(value)) if part.strip()] if value is not None else []


def _contents(text: str, record: Record) -> Record:
    """A text with its links as plain words, the links as keywords and its #tags as tags."""
    prose = _CODE.sub(" ", text)
    linked = [target.strip().rpartition("/")[2] for target, _ in _LINK.findall(prose) if target.strip()]
    tags = dict.fromkeys([*record.get("tags", ()), *_TAG.findall(prose)])
    keywords = dict.fromkeys([*record.get("expanded_keywords", ()), *linked])
    return {
        "text": _unlinked(text).strip(),
        **({"tags": list(tags)} if tags else {}),
        **({"expanded_keywords": list(keywords)} if keywords else {}),
    }


def _sections(record: Record, path: str) -> Iterator[Record]:
    """The parts of a note under its headings; they are one thread, and what comes before the first has no heading."""
    numbered, fenced = Repeated(), False
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line in record["text"].splitlines():
        fenced ^= line.startswith(("```", "~~~"))
        heading = None if fenced else _HEADING.match(line)
        if heading:
            parts.append((_heading_text(heading), []))
        else:
            parts[-1][1].append(line)
    whole = {name: value for name, value in record.items() if name not in ("_id", "title", "text")}
    for heading_text, lines in parts:
        text = "\n".join(lines).strip()
        if not text:
            continue
        slug = re.sub(r"[^\w]+", "-", heading_text.lower()).strip("-")
        section = whole | {"_id": numbered(f"{path}#{slug}" if slug else path), "thread": path}
        section["title"] = f"{record['title']}: {heading_text}" if heading_text else record["title"]
        yield section | _contents(text, whole)


def _heading_text(heading: re.Match[str]) -> str:
    """A heading's words; the marks that may close it are no part of them."""
    return _unlinked(heading[2].rstrip().rstrip("#").rstrip())


def _unlinked(text: str) -> str:
    return _LINK.sub(lambda found: found[2] or found[1], text)


def _written(note: Place) -> datetime | None:
    if not isinstance(note, Path):
        return None
    return datetime.fromtimestamp(int(note.stat().st_mtime), UTC)


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Part a note into its front matter and its text."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    fence = _FENCE.match(text)
    if not fence:
        if _OTHER_FENCE.match(text):
            raise HopgateError("line 1: this looks like front matter and is none: write YAML between two lines `---`")
        if _has_late_front_matter(text):
            raise HopgateError("line 1: front matter stands at the top of a note: move what is before it below")
        return {}, text
    above = text[: fence.start(1)].count("\n")
    try:
        fields = _plain(yaml.load(fence[1], Loader=_FrontMatter), [MOST_VALUES])
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = f"line {mark.line + above + 1}: " if mark else ""
        advice = f": if it is a template, list it in {IGNORE}" if "{{" in fence[1] else ""
        raise HopgateError(f"{line}the front matter is no YAML ({problem or type(error).__name__}){advice}") from None
    except (RecursionError, ValueError):
        raise HopgateError("the front matter holds more than hopgate reads: make it smaller") from None
    if not isinstance(fields, dict | None):
        raise HopgateError(f"line {above + 1}: the front matter has no fields, each in a line `name: value`")
    return fields or {}, text[fence.end() :]


def _has_late_front_matter(text: str) -> bool:
    """Whether comments or headings stand before what else would be front matter with tags or a flag."""
    lines = [line.strip() for line in _COMMENT.sub("", text[:_TOP]).split("\n")]
    start = next((at for at, line in enumerate(lines) if line and not line.startswith(("#", "//"))), len(lines))
    if "---" not in lines[start + 1 :] or lines[start] != "---":
        return False
    fenced = lines[start + 1 : lines.index("---", start + 1)]
    names = (line.partition(":")[0].strip("-\"' ") for line in fenced if ":" in line)
    return any(nearest(name) in ("is_sensitive", "tags") for name in names)


def _plain(value: Any, left: list[int]) -> Any:
    """A value of YAML as JSON has it; what refers to itself ends where too many values were read."""
    left[0] -= 1
    if left[0] < 0:
        raise ValueError
    if isinstance(value, dict):
        return {str(name): _plain(inner, left) for name, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(inner, left) for inner in value]
    return value if isinstance(value, str | bool | int | float | None) else str(value)


class _FrontMatter(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which a name stands once, and dates and times are the texts that they are written as."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        names: set[str] = set()
        for key, _ in node.value:
            if (name := str(key.value)) in names:
                raise yaml.constructor.ConstructorError(None, None, f"{name!r} is given twice", key.start_mark)
            names.add(name)
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        return made


# YAML 1.1 reads 12:30 as 750, 010 as 8, and 2024-03-01 as what JSON has no value for.
_NUMBERS = {"int": re.compile(r"0$|-?[1-9][0-9]{0,17}$"), "float": re.compile(r"-?[0-9]{1,18}\.[0-9]{1,18}$")}
_FrontMatter.yaml_implicit_resolvers = {
    first: [
        (tag, _NUMBERS.get(tag.rpartition(":")[2], pattern))
        for tag, pattern in pairs
        if not tag.endswith((":timestamp", ":merge"))
    ]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
