"""What a name shows of itself: a town (`tables/towns.toml`), so that nobody moves to Linear, or a firm."""

from __future__ import annotations

from hopgate.extract.rules.capitals import is_given, plain
from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.words import words

TOWNS = frozenset(form.replace("_", " ") for form in table("towns")["towns"].split())
"""The names, in lower case and without accents."""


def is_town(name: str) -> bool:
    """Whether a name is a town's, a region's or a country's, and no given name.

    Examples
    --------
    >>> is_town("Zwolle"), is_town("Den Haag"), is_town("Zürich"), is_town("Linear")
    (True, True, True, False)
    """
    return name[:1].isupper() and plain(name) in TOWNS and not is_given(name)


_FIRMS = words(
    """
    inc ltd llc llp plc corp co gmbh ag kg se sarl sa nv bv ab as oy spa srl & bank hospital clinic university college
    school academy institute labs lab laboratories systems solutions technologies consulting consultants partners group
    holding industries motors airlines energy foods studio studios media insurance agency council ministry department
    software logistics electronics pharma bakery restaurant hotel library museum theatre klinik krankenhaus universität
    hochschule schule stadtwerke werke verlag versicherung bau banque hôpital université école banco universidad
    """
)


def is_firm(name: str) -> bool:
    """Whether a name says itself that it is where people work.

    Examples
    --------
    >>> is_firm("Guy's Hospital"), is_firm("Harbour Logistics"), is_firm("Izmir")
    (True, True, False)
    """
    said = name.lower().replace(".", "").split()
    return len(said) > 1 and (said[-1] in _FIRMS or "&" in said or said[0] in _FIRMS)
