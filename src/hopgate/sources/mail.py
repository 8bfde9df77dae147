"""A mailbox in the mbox format, or one message."""

import email
import mailbox
import re
from collections.abc import Iterator
from datetime import datetime
from email import policy
from email.message import EmailMessage
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.sources.source import Place, ReadOptions, Record, Records, Repeated, digest, head, read_bytes, set_aside

# Of one header so many characters are read: anybody may write it, and Python takes the square of its length over some.
MAX_HEADER = 1000
_ID = re.compile(r"<([^<>\s]+)>")


class _BoundedHeaders(policy.EmailPolicy):
    """Reads the beginning of each header."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        if len(value) > MAX_HEADER and not hasattr(value, "name"):
            value = f"{value[:MAX_HEADER]} …"
        return super().header_fetch_parse(name, value)


# Of messages that read it so: the types know the policy by another name.
_POLICY: Any = _BoundedHeaders()


def recognises(place: Place) -> bool:
    """Whether a file is a mailbox or a message, by its name or its first line."""
    if not place.is_file():
        return False
    name, beginning = place.name.lower(), head(place, 512)
    return name.endswith((".mbox", ".eml")) or (beginning.startswith("From ") and "\n" in beginning)


def records(place: Place, options: ReadOptions) -> Records:
    """Give the messages: subject as the title, body without what it quotes, sender as a keyword, thread and answer."""
    numbered = Repeated()
    for number, message in enumerate(_messages(place, options), start=1):
        yield from set_aside(f"message {number}", _record(message, options, numbered))


def _record(message: EmailMessage, options: ReadOptions, numbered: Repeated) -> Iterator[Record]:
    """The message as a memory, or nothing."""
    text = _body(message)
    subject = str(message.get("subject") or "").strip()
    if not text and not subject:
        return
    own = _ids(message, "message-id")
    before = _ids(message, "in-reply-to")[:1]
    chain = [*_ids(message, "references"), *before, *own]
    key = own[0] if own else digest(options.id_key, subject, text, str(message.get("date")))
    sender = _sender(message)
    record: Record = {"_id": numbered(f"mail:{key}"), "title": subject, "text": text}
    record["thread"] = f"mail:{chain[0] if chain else key}"
    if before:
        record["reply_to"] = f"mail:{before[0]}"
    if when := _date(message):
        record["created_at"] = when.isoformat()
    if sender:
        record["expanded_keywords"] = [sender]
    if tags := _words_of(message, "keywords"):
        record["tags"] = tags
    # "Personal", "Private" and "Company-Confidential": whoever wrote it wanted few to read it.
    if any(word.casefold() != "normal" for word in _words_of(message, "sensitivity")):
        record["is_sensitive"] = True
    people = {name: str(message[name]) for name in ("from", "to", "cc") if message[name]}
    yield record | ({"extra": people} if people else {})


def _messages(place: Place, options: ReadOptions) -> Iterator[EmailMessage]:
    if place.name.lower().endswith(".eml"):
        yield email.message_from_bytes(read_bytes(place, options.max_mb), policy=_POLICY)
        return
    if not isinstance(place, Path):
        raise HopgateError(f"{place} lies in an archive: unpack the mailbox first")

    box = mailbox.mbox(place, create=False)
    try:
        if not head(place, 5).startswith("From "):
            raise HopgateError(f"{place} is not a mailbox: its first line must begin with 'From '")
        for key in box.iterkeys():
            yield email.message_from_bytes(box.get_bytes(key), policy=_POLICY)
    finally:
        box.close()


def _body(message: EmailMessage) -> str:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    try:
        text = str(part.get_content())
    except (LookupError, UnicodeError, AttributeError):
        text = bytes(part.get_payload(decode=True) or b"").decode("utf-8", "replace")
    if part.get_content_subtype() == "html":
        text = _words(text)
    kept = [line for line in text.splitlines() if not line.startswith(">")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


class _HtmlWords(HTMLParser):
    """Collects the words of a page, and leaves styles and programs out."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        del attrs
        self._hidden += tag in ("style", "script", "head")
        self.parts += ["\n"] if tag in ("br", "p", "div", "tr", "li") else []

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("style", "script", "head")

    def handle_data(self, data: str) -> None:
        self.parts += [] if self._hidden > 0 else [data]


def _words(page: str) -> str:
    reader = _HtmlWords()
    reader.feed(page)
    return "\n".join(" ".join(line.split()) for line in "".join(reader.parts).splitlines())


def _ids(message: EmailMessage, name: str) -> list[str]:
    return _ID.findall(str(message.get(name) or ""))


def _words_of(message: EmailMessage, name: str) -> list[str]:
    """The words of a header that has several, or that stands several times."""
    values = ",".join(map(str, message.get_all(name, ())))
    return [word.strip() for word in values.split(",") if word.strip()]


def _sender(message: EmailMessage) -> str:
    try:
        address = message["from"].addresses[0]
        return str(address.display_name or address.addr_spec)
    except (AttributeError, IndexError, TypeError):
        return str(message.get("from") or "")


def _date(message: EmailMessage) -> datetime | None:
    try:
        found: datetime | None = message["date"].datetime
        return found
    except (AttributeError, TypeError, ValueError):
        return None
