"""Names of languages, as PostgreSQL's text search calls them."""

from __future__ import annotations

import re

from hopgate.errors import HopgateError

# Those that PostgreSQL has a stemmer for. Chinese, Japanese and Korean are found by their characters and need none.
CODES = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "ja": "simple", "ko": "simple", "lt": "lithuanian", "ne": "nepali",
    "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish", "zh": "simple",
}  # fmt: skip
# A name, with or without the schema that it is in.
_NAME = re.compile(r"\w{1,63}(\.\w{1,63})?")


def configuration(language: str | None) -> str | None:
    """The text-search configuration of a language, by its name or its code, whether the server has it or not.

    Examples
    --------
    >>> configuration("de"), configuration("pt-BR"), configuration("Simple")
    ('german', 'portuguese', 'simple')
    """
    if language is None:
        return None
    name = language.strip().lower()
    name = CODES.get(re.split("[-_]", name)[0], name)
    if not _NAME.fullmatch(name):
        raise HopgateError(f"{language[:40]!r} is no language: give one such as english, german or simple, or a code")
    return name
