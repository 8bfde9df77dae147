"""Credentials out of what is shown or stored: the one function that every message with an address or an answer passes.

Everything here is linear in the text: what a server answers may be long, and made to be slow.
"""

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

HIDDEN = "…"
# Where an address may end in a sentence.
_ENDS = re.compile(r"[\s'\"<>()\[\]{},]")
# What is given by name, in a connection string, a query of a URL, a header or JSON.
_NAMED = re.compile(
    r"\b(password|passwd|sslpassword|api[_-]?key|token|secret|authorization)(\"?\s?[=:]\s?)"
    r"('(?:[^'\\]|\\.)*'?|\"[^\"]*\"?|(?:bearer |basic )?[^\s&'\",]+)",
    re.IGNORECASE,
)
_TOKENS = re.compile(r"\bbearer [\w.~+/=-]+|\bsk-[\w-]{8,}", re.IGNORECASE)
# As many of a key's characters tell it apart: a server that repeats the beginning of a key shows too much already.
_PREFIX = 8


def redacted(text: str, *secrets: str) -> str:
    """Take passwords, keys and tokens out of a text.

    `secrets` are not shown whatever they look like; nor is their beginning, nor their percent-encoded form.

    Examples
    --------
    >>> redacted("cannot reach postgresql://me:pass@word@host/db or https://token@host/v1")
    'cannot reach postgresql://me:…@host/db or https://…@host/v1'
    >>> redacted("host=db password='p w' user=me"), redacted("Incorrect key: abcdefghijk", "abcdefghijk")
    ('host=db password=… user=me', 'Incorrect key: …')
    """
    for secret in {form for one in secrets if one for form in (one, quote(one, safe=""), unquote(one))}:
        if len(secret) > _PREFIX:
            text = re.sub(re.escape(secret[:_PREFIX]) + r"[^\s'\"]*", HIDDEN, text)
        text = text.replace(secret, HIDDEN)
    text = "".join(_without_userinfo(text))
    return _TOKENS.sub(HIDDEN, _NAMED.sub(rf"\1\2{HIDDEN}", text))


def without_credentials(address: str) -> str:
    """Give an address without user and password, as it may be stored.

    Examples
    --------
    >>> without_credentials("openai:m@https://me:word@host/v1#key=MY_KEY"), without_credentials("bge-small")
    ('openai:m@https://host/v1#key=MY_KEY', 'bge-small')
    """
    head, mark, rest = address.partition("://")
    end = re.search(r"[/?#]", rest)
    stop = end.start() if end else len(rest)
    return f"{head}{mark}{rest[:stop].rpartition('@')[2]}{rest[stop:]}"


def password_parts(address: str) -> list[str]:
    """All that may be a password in an address, or a piece of one that was taken for something else.

    Examples
    --------
    >>> password_parts("postgresql://me:p@ss/word@host/db")
    ['p@ss/word', 'ss/word', 'word']
    """
    _, mark, rest = address.partition("://")
    userinfo, at, _ = rest.rpartition("@") if mark else ("", "", "")
    password = userinfo.partition(":")[2] if at else ""
    found = [password]
    for cut in re.finditer(r"[:@/?#]", password):
        found.append(password[cut.end() :])
    found += re.split(r"[:@/?#]", password)
    # A shorter piece would take half of the message with it.
    return [one for one in dict.fromkeys(found) if len(one) > 2]


def _without_userinfo(text: str) -> Iterator[str]:
    """Pass a text on; in each address the password, and of an http address the whole of what stands before the @."""
    at = 0
    while (mark := text.find("://", at)) >= 0:
        start = mark + 3
        end = _ENDS.search(text, start)
        stop = end.start() if end else len(text)
        split = text.rfind("@", start, stop)
        yield text[at:start]
        if split < 0:
            yield text[start:stop]
        else:
            user, colon, _ = text[start:split].partition(":")
            web = text[max(at, mark - 5) : mark].lower().endswith(("http", "https"))
            # A user's name alone is no secret, except where it may be a token.
            yield HIDDEN if web else f"{user}:{HIDDEN}" if colon else user
            yield text[split:stop]
        at = stop
    yield text[at:]
