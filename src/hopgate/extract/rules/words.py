"""The closed word classes the no-model extractor knows: small lists that a reader can check."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Return the words of a list that is written as running text."""
    return frozenset(text.split())


DETERMINERS = words("a an my our your his her its their this these those each every another some any no")

PRONOUNS = words("he she it they we i you him them us me who whom which")

# Words that neither start, end nor continue a phrase. Verbs are here where they are frequent enough to sit next to a
# noun in most memories; no list of nouns or adjectives is needed.
STOP_WORDS = PRONOUNS | words(
    """
    that what whose where when why how there here then than thus so such both either neither nor not only also too very
    just even still already yet ever never always often sometimes usually soon later again once now today yesterday
    tomorrow tonight well quite rather almost about above across after against along among around as at because before
    behind below beneath beside besides between beyond but by despite down during except for from if in inside instead
    into like near off on onto or out outside over per since through throughout till to toward towards under unless
    until up upon via whether while with within without although though however therefore hence meanwhile moreover
    furthermore nevertheless otherwise regardless due unlike apart none whereas
    am is are was were be been being have has had having do does did doing done will would shall should can could may
    might must ought cannot
    isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't can't couldn't shouldn't
    i'm i've i'll i'd you're you've you'll you'd he's she's it's we're we've we'll we'd they're they've they'll they'd
    that's there's what's who's let's
    become becomes became began begin begins begun bring brought build built buy bought call called calls came come
    comes coming find found finds gave get gets getting give given gives go goes going gone got held hold holds keep
    keeps kept knew know known knows leave leaves led left lose lost made make makes making mean means meant meet met
    need needs needed pay paid put puts run runs running ran said saw say says see seen sees send sent set sets show
    shown shows sold spent stand stood stop take taken takes taking tell tells thank thanks thought told took try tried
    turn turned use used uses using want wanted wants went won work worked works write written wrote
    live lived lives living moved move moves own owns owned manage manages managed depend depends born based located
    released published founded established formed created developed designed directed produced recorded played plays
    appeared appears considered including includes include included following according named joined replaced replaces
    supports support supported serves served starred stars features featured married died
    hi hey hello yeah yep nah yes ok okay oh wow haha lol congrats sounds let please sorry sure really maybe perhaps lot
    lots much many more most less least
    few several all same other others else etc e.g i.e
    """
)

_MONTH_NAMES = (
    "january jan",
    "february feb",
    "march mar",
    "april apr",
    "may",
    "june jun",
    "july jul",
    "august aug",
    "september sept sep",
    "october oct",
    "november nov",
    "december dec",
)
MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()}

WEEKDAYS = words("monday tuesday wednesday thursday friday saturday sunday")

# Join two parts of one name when a capital follows: Vasco da Gama, Ludwig van Beethoven, Rio de la Plata.
PARTICLES = words("de del della der den des di do dos da du la le las los el al bin ibn ben van von zu ter o' o’")

# A capital after these is a person's name.
HONORIFICS = words(
    """
    mr mrs ms miss dr prof professor sir dame lord lady president king queen prince princess emperor empress pope saint
    st captain colonel general lieutenant sergeant senator governor rabbi father sister brother aunt uncle mayor
    chancellor
    """
)
TITLES = HONORIFICS - {"st", "saint"} | words(
    "herr herrn frau fräulein monsieur madame mme señor señora signor signora mevrouw meneer senhor senhora"
)
"""Before a person's name, in any of the languages; a saint is mostly a church."""

ABBREVIATIONS = words(
    "mr mrs ms dr dra sra srta mme mlle prof st jr sr vs no inc ltd co corp mt ft gen col capt lt sgt rev hon vol"
)

NUMBER_WORDS = words(
    """
    one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million
    billion first second third fourth fifth sixth seventh eighth ninth tenth
    """
)

# After a number these measure it; on their own they name nothing.
UNITS = words(
    """
    km km2 km² m m2 m² cm mm mi ft kg g mg lb oz kw mw gw kwh mhz khz ghz hz mph kmh kb mb gb tb kib mib gib ms am pm
    usd eur gbp ha acres miles metres meters feet inches percent
    """
)

NOUNS_IN_LY = words("family supply assembly reply italy jelly belly bully ally anomaly monopoly butterfly")
MONEY = words(
    "rent fee fees price subscription premium salary dues deposit miete beitrag gebühr loyer alquiler huur affitto"
)
"""What is paid: the number after it is an amount, and no time of day."""
