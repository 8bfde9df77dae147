"""Words for what belongs to something and is not it: the car's keys, Jellyfin's exporter, Lena's brother."""

from __future__ import annotations

import re
from functools import lru_cache

from hopgate.extract.rules.plural import comparison_form
from hopgate.extract.rules.words import words

# In the singular. A word for the thing itself is none: "the NAS box", "the unifi controller", "the Kestrel project".
_PARTS = words(
    """
    key keyring fob photo photograph picture manual handbook instruction guide brochure warranty guarantee receipt
    invoice bill insurance registration licence license permit contract document paperwork
    charger cable adapter adaptor battery case sleeve pouch holder strap lid remote tyre tire wheel helmet
    pump bow string stool bench trailer saddle tuner food bed bowl toy leash collar carrier litter
    copy backup mirror replica clone snapshot dump log archive exporter runner agent plugin addon add-on client scraper
    importer export import cache config configuration certificate credential password token webhook library
    lesson teacher tutor practice rehearsal ticket booking reservation visa application
    schlüssel foto anleitung handbuch ladegerät kabel akku hülle kopie sicherung versicherung rechnung garantie
    quittung unterlagen spiegel sauvegarde clé clés manuel copia llave llaves sleutel sleutels chiave chiavi
    """
)
# As names are compared, without marks.
_PLAIN = frozenset(word.translate(str.maketrans("üäé", "uae")) for word in _PARTS)
_KIN = words(
    """
    sister brother mother father mum mom dad wife husband son daughter cousin boyfriend girlfriend parent aunt uncle
    niece nephew grandmother grandfather friend boss colleague neighbour neighbor flatmate roommate landlord
    schwester bruder mutter vater sohn tochter tante onkel freundin nachbarin kollegin chefin eltern
    """
)
# Without an apostrophe, where the last word alone may be a surname: Lenas Mann, but Thomas Mann.
_GENITIVE = re.compile(r"(?:.* )?(\w+)s (?:mann|frau|freund|chef|nachbar|kollege|cousin|kind|kinder)")


@lru_cache(maxsize=1 << 14)
def is_part(word: str) -> bool:
    """Whether a word, in the singular or the plural, is one for what belongs to something.

    Examples
    --------
    >>> is_part("keys"), is_part("exporter"), is_part("server")
    (True, True, False)
    """
    return word in _PARTS or comparison_form(word) in _PARTS or word in _PLAIN


def ends_in_part(name_tokens: tuple[str, ...]) -> bool:
    """Whether a name, by its tokens, is that of something's part or of somebody's kin: ("lena", "brother")."""
    return len(name_tokens) > 1 and (name_tokens[-1] in _KIN or is_part(name_tokens[-1]))


def is_part_of(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether one of two names, by their tokens, is that of a part, and the other says nothing of such a part.

    Examples
    --------
    >>> is_part_of(("car", "key"), ("car",)), is_part_of(("car", "key"), ("key",)), is_part_of(("nas", "box"), ("nas",))
    (True, False, False)
    """
    return (ends_in_part(first) and first[-1] not in second) or (ends_in_part(second) and second[-1] not in first)


def is_genitive(name: str) -> bool:
    """Whether a normalised name may be somebody's kin in the genitive."""
    return _GENITIVE.fullmatch(name) is not None


def is_genitive_of(name: str, other: str) -> bool:
    """Whether a normalised name is that of somebody's kin, and another that somebody's.

    Examples
    --------
    >>> is_genitive_of("lenas mann", "lena"), is_genitive_of("thomas mann", "thomas")
    (True, False)
    """
    found = _GENITIVE.fullmatch(name)
    return found is not None and found[1] in other.split()
