"""Words for what belongs to something and is not it: the car's keys, Jellyfin's exporter, Lena's brother."""

from __future__ import annotations

from functools import lru_cache

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.plural import comparison_form
from hopgate.extract.rules.words import words

OF_IT = compiled(
    r"(?<!deadline )(?<!date )(?<!price )(?<!cost )(?<!rent )(?<!fee )\bof (?:(?:the|my|our|his|her|their) )?$|"
    # "für den Hort von ihrer Mia", "den Hort ihrer Mia"
    r"(?<!miete )(?<!preis )(?<!beitrag )\bvon (?:(?:der|dem|den|mein|unser|sein|ihr)(?:e[mnr]?)? )?$|"
    r"[^\W\d_] (?:mein|unser|sein|ihr)e[rs] $"
)
"""Before a name of which something is told that is not it: "the presentation of the report"."""
# "labels for the printer", "Jonas' class at Leibniz-Gymnasium"
FOR_IT = compiled(
    r"[^\W\d_] (?:for|beside|near|behind|under|above|inside) (?:(?:the|my|our) )?$|⟩ (?:am|im|an der|in der|at) $"
)
"""Before a name for which something is, or beside which."""
# In the singular. A word for the thing itself is none: "the NAS box", "the unifi controller", "the Kestrel project".
_PARTS = words(
    """
    key keyring fob photo photograph picture manual handbook instruction guide brochure warranty guarantee receipt
    slide deck invoice bill insurance registration licence license permit contract document paperwork
    charger cable adapter adaptor battery case sleeve pouch holder strap lid remote tyre tire wheel helmet
    pump bow string stool bench trailer saddle tuner food bed bowl toy leash collar carrier litter
    copy photocopy cover backup mirror replica clone snapshot dump log archive exporter runner agent plugin addon add-on
    client scraper importer export import cache config configuration certificate credential password token webhook
    library doc docs documentation readme changelog
    lesson teacher tutor practice rehearsal ticket booking reservation visa application
    schlüssel foto anleitung handbuch ladegerät kabel akku hülle kopie sicherung versicherung rechnung garantie
    quittung unterlagen spiegel sauvegarde clé clés manuel copia llave llaves sleutel sleutels chiave chiavi
    """
)
# What something has, told in a sentence; as the last word of a name these may be the thing itself: Paramount Film.
_PIECES = words(
    """
    theme skin movie film media thumbnail poster artwork metadata volume data file peg pole bag blade filter brush hose
    toner cartridge lens ink glove demo talk slide deck budget design launch
    """
)
# As names are compared, without marks.
_PLAIN = frozenset(word.translate(str.maketrans("üäé", "uae")) for word in _PARTS)
# With these it is the thing itself: "the Postgres database" is Postgres, "the Jellyfin theme" is not Jellyfin.
_ITSELF = words(
    """
    server service instance container app application database db stack vm pod deployment site website wiki bot daemon
    cluster frontend backend setup install installation broker registry proxy bridge gateway hub dashboard controller
    box machine host node project programme program initiative team group club account subscription contract repo
    repository software tool system platform product boat ship van car bike guitar piano printer laptop phone tablet
    camera router switch nas dienst datenbank projekt
    """
)
_NOUN_IS = compiled(r"⟩ ([^\W\d_]+) (?:is|are|was|were|lives?|runs?|sits?|ist|sind|läuft|est|sont|está) ")
_NO_NOUN = words(
    "now also still just finally itself both all which that who it they currently already only and or jetzt nun "
    "auch inzwischen maintenant ahora nu"
)


@lru_cache(maxsize=1 << 14)
def is_part(word: str) -> bool:
    """Whether a word, in the singular or the plural, is one for what belongs to something.

    Examples
    --------
    >>> is_part("keys"), is_part("exporter"), is_part("server")
    (True, True, False)
    """
    return _belongs(word) or word in _PIECES or comparison_form(word) in _PIECES


def _belongs(word: str) -> bool:
    return word in _PARTS or comparison_form(word) in _PARTS or word in _PLAIN


def is_itself(word: str) -> bool:
    """Whether a word after a name says what it is, and not what it has."""
    return word in _ITSELF


def tells_of_more(text: str) -> bool:
    """Whether an encoded text tells of what something has, by a noun between its name and the verb.

    Examples
    --------
    >>> tells_of_more("⟨0⟩ theme is on ⟨1⟩"), tells_of_more("⟨0⟩ server is on ⟨1⟩"), tells_of_more("⟨0⟩ now is on ⟨1⟩")
    (True, False, False)
    """
    found = _NOUN_IS.search(text)
    return found is not None and not (found[1] in _ITSELF or found[1] in _NO_NOUN or found[1].endswith("ly"))
