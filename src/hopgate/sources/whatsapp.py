"""WhatsApp's export of a chat: a text file, or the archive that holds it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from hopgate.errors import HopgateError
from hopgate.sources.source import Place, ReadOptions, Record, Records, Repeated, digest, files_below, head, read_utf8

_LINE = re.compile(
    r"\[?(\d{1,4})([./-])(\d{1,2})\2(\d{1,4}),?\s+(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:\s*([ap])\.?\s?m\.?)?"
    r"(?:\]\s*|\s+[-–]\s+)(.*)",
    re.IGNORECASE,
)
_AUTHOR = re.compile(r"([^:]{1,80}): (.*)", re.DOTALL)
_MEDIA = re.compile(
    r"<(media omitted|attached: [^>]*)>|(image|video|audio|sticker|document|GIF) omitted", re.IGNORECASE
)
ORDERS = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}
"""Where year, month and day lie among a date's three numbers."""


@dataclass(frozen=True, slots=True)
class ChatLine:
    """One message with its date as it is written."""

    number: int
    date: tuple[int, int, int]
    clock: tuple[int, int, int]
    text: str


def recognises(place: Place) -> bool:
    """Whether the first lines of a text begin with a date, a time and a name."""
    file = _file(place)
    return file is not None and any(_LINE.match(_clean(line)) for line in head(file).splitlines()[:3])


def records(place: Place, options: ReadOptions) -> Records:
    """Give the messages with their authors; the app's own notices and left-out media are left out."""
    file = _file(place) or place
    lines = list(_lines(read_utf8(file)))
    if not lines:
        raise HopgateError(f"{file} is not a WhatsApp chat: no line begins with a date, a time and a name")
    order = ORDERS[options.date_order or _order(lines, file)]
    chat = re.sub(r"^WhatsApp Chat (with|-) |\.txt$", "", file.name) or file.name
    # Inside an archive the file has always the same name, and the archive that of the chat.
    if chat == "_chat":
        chat = re.sub(r"^WhatsApp Chat (with|-) |\.zip$", "", place.name or str(place).rstrip("/").rpartition("/")[2])
    numbered, before = Repeated(), None
    for line in lines:
        spoken = _AUTHOR.fullmatch(line.text)
        if not spoken or _MEDIA.fullmatch(spoken[2].strip()):
            continue
        when = _moment(line, order, file)
        record: Record = {
            "_id": numbered(f"whatsapp:{chat}:{digest(options.id_key, when, spoken[1], spoken[2])}"),
            "text": f"{spoken[1]}: {spoken[2].strip()}",
            "thread": f"whatsapp:{chat}",
            "category": chat,
            "created_at": when,
        }
        if before:
            record["reply_to"] = before
        before = record["_id"]
        yield f"line {line.number}", record


def _file(place: Place) -> Place | None:
    if not place.is_dir():
        return place if place.name.lower().endswith(".txt") else None
    inner = place / "_chat.txt"
    if inner.exists():
        return inner
    texts = [file for _, file in files_below(place, ".txt")]
    return texts[0] if len(texts) == 1 and texts[0].name.startswith("WhatsApp") else None


def _clean(line: str) -> str:
    """A line without the marks of direction, and with plain spaces, that the app puts in."""
    return re.sub(r"[\u200e\u200f\u202a-\u202c\ufeff]", "", line).replace("\u202f", " ").replace("\u00a0", " ")


def _lines(text: str) -> Iterator[ChatLine]:
    current: ChatLine | None = None
    said: list[str] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = _clean(raw)
        found = _LINE.match(line)
        if not found:
            said.append(line)
            continue
        if current:
            yield replace(current, text="\n".join(said))
        first, _, second, third, hour, minute, sec, half, rest = found.groups()
        hours = int(hour) if not half else int(hour) % 12 + (12 if half.lower() == "p" else 0)
        clock = (hours, int(minute), int(sec or 0))
        current = ChatLine(number, (int(first), int(second), int(third)), clock, rest)
        # Put together at the end: each line would copy all before it.
        said = [rest]
    if current:
        yield replace(current, text="\n".join(said))


def _order(lines: Sequence[ChatLine], file: Place) -> str:
    """How the dates are to be read: by a number above 12, or by the one order in which time never runs back."""
    fits = []
    for name, (year, month, day) in ORDERS.items():
        dates = [(line.date[year] % 100, line.date[month], line.date[day]) for line in lines]
        # A year of two digits may lie anywhere; one of four shows where it is.
        years = all(line.date[year] > 31 or line.date[year] < 100 for line in lines)
        other = any(line.date[place] > 99 for line in lines for place in (month, day))
        if years and not other and all(m <= 12 and 1 <= d <= 31 for _, m, d in dates) and dates == sorted(dates):
            fits.append(name)
    plain = [name for name in fits if name != "ymd"] or fits
    if len(plain) != 1:
        raise HopgateError(f"{file}: its dates can be read in {len(plain)} ways: say --date-order dmy or mdy")
    return plain[0]


def _moment(line: ChatLine, order: tuple[int, int, int], file: Place) -> str:
    year, month, day = (line.date[at] for at in order)
    try:
        return datetime(year + 2000 if year < 100 else year, month, day, *line.clock, tzinfo=UTC).isoformat()
    except ValueError:
        raise HopgateError(
            f"{file}, line {line.number}: not a date in the order {line.date}: see --date-order"
        ) from None
