"""How people tell what somebody or something has one of: the wordings around a role, and verbs that stand for one."""

from __future__ import annotations

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.role_table import ROLE_HINTS, ROLES

NAME = r"⟨(?:team )?\d+⟩"
# A port, a version, an address, a room: what has a digit.
_CODE = r"[^\W\d_]{0,2}\d[\w./:-]*"
_V, _A = (rf"(?P<{key}>{NAME}|{_CODE})" for key in "va")
_ARTICLES = (
    r"(?:(?:red|blue|green|black|white|silver|grey|gray|yellow|"
    r"the|a|an|my|our|version|number|port|room|desk|der|die|das|den|dem|ein|eine|le|la|un|une|el|il|lo|de|het|"
    r"een) )*"
)
_NOW = (
    r"(?:(?:now|still|currently|already|finally|just|immer|noch|nog|toujours|todavía|ancora|jetzt|nun|aktuell|inzwischen|"
    r"mittlerweile|seit (?:dem |der )?⟦\d+⟧|seit dem ersten|maintenant|"
    r"désormais|ahora|actualmente|nu|inmiddels|ora|adesso) )*"
)
_ARROW = r"(?:->|→|=>|-->)"
_TO = rf"(?:to|onto|zu|zur|zum|auf|à|au|a|al|naar|{_ARROW})"
_CHANGED = (
    r"(?:changed|switched|moved|updated|upgraded|bumped|set|renumbered|transferred|went|swapped|ported|gewechselt|"
    r"geändert|umgestellt|changé|passé|cambiado|cambió|gewijzigd|veranderd)"
)
_CLOSED = (
    r"(?=$| [,;:()–-]| ⟦| (?:now|since|from|and|instead|statt|seit|ab|jetzt|maintenant|ahora|as|these|nu|because|so|in|"
    r"on|for|at|aus|vom|bei|again|who|which|y|und|et|every|jeden|jede)\b)"
)
# "landlord of the practice", "Vorsitzende im Kleingartenverein": what has no name.
_NOUN = r"(?!my |our |his |her |their |a |an )[^\W\d_][\w-]{2,}"
_OF = (
    rf"(?:(?:of|for|on|von|vom|für|der|des|im|beim|bei der|de|du|del|van) {_ARTICLES}(?P<of>{NAME}) |"
    rf"(?:of|for|at) the (?P<noun>{_NOUN}(?: {_NOUN})??) |"
    rf"(?:der|des|vom|im|beim|in der|meine[rs]|unsere[rs]|seine[rs]|ihre[rs]) (?P<nomen>{_NOUN}) )?"
)
# What follows a role: "is V", "from A to V", "A -> V", "changed, it's V now".
STATE = compiled(
    rf" {_OF}(?:is|are|'s|ist|est|es|è|:|=|heißt|heet|s'appelle|se llama|comes from|runs on|lies with) {_NOW}"
    rf"(?:(?:(?:an? [^\W\d_]+ )?(?:called|named)|(?P<by>with|at|by|from|bei|beim|chez|con|bij|via)) )?"
    rf"{_ARTICLES}{_V}{_CLOSED}"
)
CHANGE = compiled(
    rf" {_OF}(?:: )?(?:(?:has|have|is|was|got|been|just|finally|hat|wurde|a été|est) )*(?:{_CHANGED} )?(?:over )?"
    rf"(?:(?:from|von|de|van) {_ARTICLES}{_A} )?(?:over )?{_TO} {_ARTICLES}{_V}{_CLOSED}"
)
ARROWED = compiled(rf" (?:: )?{_ARTICLES}{_A} {_ARROW} {_ARTICLES}{_V}{_CLOSED}")
NO_LONGER = compiled(
    rf" {_OF}(?:is|are|ist|est|es) no longer {_ARTICLES}{_A} (?:, )?(?:but|sondern|mais|sino|,)"
    rf"(?: it 's| it is)? {_NOW}{_ARTICLES}{_V}"
)
# "has a new piano teacher, Mr Okafor"
APPOSED = compiled(rf" , (?:an? |einen? )?{_V}(?=$| [,;])")
# "our landlord Mr Petrakis called", "my dentist, Dr Kaya, rang"; not "my dentist Dr Kaya's sister"
BESIDE_ROLE = compiled(rf" (?:, (?=⟨\d+⟩ ,))?(?P<v>{NAME})(?! (?:'s|and ⟨|und ⟨))")
LISTED_ROLE = compiled(rf" {NAME}(?= ,|$)")
LEAVING = compiled(
    r"\b(?:retir\w+|leav\w+|left|quits?|resign\w*|stepp\w+|stood|died|dead|ill|sick|away|gone|sells?|sold|selling|"
    r"until|till|used|was|were|would|could|should|might|if|hört(?=[^,;]* auf(?: ?$| [,;]))|aufgehört|"
    r"kündigt|gekündigt|geht|ging|verlässt|"
    r"verkauft|gestorben|krank|weg|bis|war|waren|würde|könnte|falls|rente|ruhestand)\b"
)
THEN = compiled(rf" (?:has )?{_CHANGED} , (?:it|he|she) (?:'s|is) {_NOW}{_ARTICLES}{_V}{_CLOSED}")
# "changed our bank to …", but not "changed the battery of my phone to …".
CHANGING = compiled(rf" {_CHANGED}(?: (?:the|my|our|his|her|their|its|new|'s|{NAME}))* $")
CHANGING_HERE = compiled(rf"\b{_CHANGED}\b")
REPLACED = compiled(rf"(?:instead of|rather than|statt|anstatt|au lieu de|en vez de|in plaats van) {_ARTICLES}{_A}")
_ADJECTIVE = (
    r"(?:(?P<new>new|neue[nrs]?|nouveau|nouvelle|nuev[oa]|nieuwe|nuov[oa])|current|main|own|usual|regular|aktueller?)"
)
_HAS_NEW = (
    r" (?:(?:has|have|got|gets|found|now|finally|hat|jetzt|nun|a|tiene|heeft|ha|registered|signed|up|with) )+"
    r"(?:in ⟨\d+⟩ )?(?:an?|eine?n?|une?|una?|een)?"
    r"(?= (?:new|neue[nrs]?|nouvel(?:le)?|nouveau|nuev[oa]|nieuwe|nuov[oa]) )"
)
_FIRST = (
    "the (?:kids|children|boys|girls|twins|dog|cat|family)(?: ?'| ?’| 's)|my|our|"
    "mein(?:e[mnr]?)?|unser(?:e[mnr]?)?|mon|ma|notre|mi|nuestr[oa]|mijn|onze|mio|mia"
)
_THEIRS = r"his|her|their|its|ihr|ihre[mnrs]?|sein|seine[mnrs]?|son|sa|ses|sus?|suo|sua|haar|zijn"
# Before a role, in a text with a space on either side.
OWNER = compiled(
    rf"(?: (?P<name>{NAME})(?: 's| (?:has |have )?{_CHANGED}|{_HAS_NEW})?| "
    rf"(?P<me>{_FIRST}|(?:i|we){_HAS_NEW})| (?P<other>{_THEIRS})|"
    rf"(?P<bare>^| [,;:.(]| (?:{_CHANGED}|(?P<the>the|die|der|das|la|le|el))))(?: {_ADJECTIVE})? $"
)
# "goes to Mr Keller, our landlord", "Ellie had a lesson with Shazia, her new driving instructor"
NAMED_BEFORE = compiled(rf"{_V} , (?:{_FIRST}|(?P<other>{_THEIRS}))(?: {_ADJECTIVE})?$")
# "V is our new R".
_IS_V = (
    r"(?:is|are|became|becomes|ist|est|es|wird|"
    r"(?:was|were|has been|got) (?:elected|appointed|named|chosen|voted)(?: as)?|"
    r"(?:has |is )?(?:took|takes|taken|taking|steps|stepped) (?:over|in|up)(?: from ⟨\d+⟩)? as)"
)
VALUE_FIRST = compiled(
    rf"(?:^|[,;:] |\b(?:and|so|but|und|et) )(?:{_V} {_IS_V}|(?:i|ich) (?:'m|am|bin)) {_NOW}"
    rf"(?P<rest>(?:(?!{NAME} {_IS_V} )[^,;:])*)$"
)
# "Bev's head coach as of this week"
IS_BY_S = compiled(rf"(?:^|[,;:.] |\b(?:and|so|but) )(?P<v>{NAME}) 's (?:the )?(?:new )?$")
SINCE_NOW = compiled(r" (?:(?:now|again)(?= ?$| [,;]| and )|as of\b|since\b|from ⟦)")
OFFICE_ENDS = compiled(
    r"(?!.*\b(?:says?|said|thinks?|sagt|meint|or so)\b)"
    r"(?= ?$| [,;]| (?:now|since|as of|again|jetzt|seit)\b| (?:from|ab) ⟦)"
)
# "is treasurer of the chess club", "ist Vorsitzender vom Kleingartenverein"
OF_NOUN = compiled(
    rf" (?:(?:of|for|at) the (?P<noun>{_NOUN}(?: {_NOUN})??)|(?:der|des|vom|im|beim|in der) (?P<nomen>{_NOUN}))"
    r"(?=$| [,;(]| (?:now|since|from|and|as|jetzt|seit|und)\b)"
)
# "treasurer of the Climbers"
OF_NAME = compiled(
    rf" (?:of|for|von|vom|der|des) {_ARTICLES}(?P<of>{NAME})"
    r"(?=$| [,;(]| (?:now|since|from|and|at|on|in|jetzt|seit)\b)"
)
# "X is treasurer": of us, where one holds it
OFFICES = frozenset(
    f"has {one}" for one in ("treasurer", "secretary", "head coach", "head nurse", "conductor", "head teacher")
)
AFTER_ROLE = compiled(
    r"(?= ?$| [,;]| (?:now|since|from|as of|jetzt|seit|maintenant|ahora|these|of|for|again)\b|"
    r" (?:at|in|on|bei|im)\b(?! (?:(?:the|der|dem|den) )?⟨))"
)
# "I bank with", "listens on port 22", "upgraded to 3.1": what tells of a role without its name.
_WHO = rf"(?P<s>{NAME}|i|we|he|she|wir|ich|je|yo)"
_CAR_IS = r"(?:(?:new|old|little|big|red|blue|black|white|silver|used|second-hand|neuen|alten|kleinen|\d{4}) )*"
_NO_HIRE = r"(?![^,;]*\b(?:his|hers|this|today|rental|hire|loan|from|while|until|to|for|into|bis|nach|solange)\b)"
_PUPIL = rf"(?P<s>{NAME}|him|her)"
_UPGRADED = "(?:upgraded|updated|bumped|downgraded)"
_ARROWS = "-> → => -->"
VERBS = tuple(
    (ROLES[role], compiled(rf"(?:^|\s){pattern}{_CLOSED}"), frozenset(hints.split()))
    for role, hints, pattern in (
        *(
            (
                role,
                f"{instrument} {instrument}unterricht",
                rf"{_WHO} (?:has|have|hat|takes?|learns?|does|studies|starts|started) {_NOW}"
                rf"(?:[^\W\d_]+tags |mittwochs )?{instrument}"
                rf"(?: lessons?|unterricht)? "
                rf"(?:with|bei|from) {_V}",
            )
            for role, instrument in (
                ("piano teacher", "piano"),
                ("piano teacher", "klavier"),
                ("guitar teacher", "guitar"),
                ("guitar teacher", "gitarre"),
                ("violin teacher", "violin"),
                ("violin teacher", "geige"),
                ("flute teacher", "flute"),
                ("flute teacher", "flöte"),
            )
        ),
        *(
            (role, instrument, rf"{_V} teaches {_PUPIL} {_NOW}(?:the )?{instrument}")
            for role, instrument in (
                ("piano teacher", "piano"),
                ("guitar teacher", "guitar"),
                ("violin teacher", "violin"),
                ("flute teacher", "flute"),
            )
        ),
        ("car", "driving", rf"(?P<me>(?:sold|traded) [^,;]+ ,|^) ?driving an? {_CAR_IS}{_V}{_NO_HIRE} now"),
        (
            "conductor",
            "conducts conducting dirigiert",
            rf"(?<!\s){_V} (?:conducts|is {_NOW}conducting|dirigiert) {_ARTICLES}{_WHO}(?=$| again| now| ,)",
        ),
        (
            "accountant",
            "taxes accounts books steuer steuern steuererklärung",
            rf"{_V} (?:does|is doing|macht) {_NOW}(?:ab sofort )?(?P<me>my|our|meine|unsere) "
            r"(?:taxes|accounts|books|steuern?|steuererklärung)",
        ),
        ("bank", "bank banks", rf"{_WHO} {_NOW}banks? (?:with|at) {_V}"),
        (
            "electricity",
            "electricity power",
            rf"(?P<me>we|i) {_NOW}(?:get|buy|have) (?:our|my) (?:electricity|power) (?:from|with|through) {_V}",
        ),
        (
            "internet",
            "internet broadband",
            rf"(?P<me>we|i) {_NOW}(?:get|have) (?:our|my) (?:internet|broadband) (?:from|with|through) {_V}",
        ),
        (
            "car",
            "drive drives driving fahr fahre fahren fährt",
            rf"{_WHO} {_NOW}(?:(?:'m|'re|'s|is|are|am) {_NOW}driving|drives?|fahr(?:en?)?|fährt) {_NOW}"
            rf"(?:an?|einen?|den) {_CAR_IS}{_V}{_NO_HIRE}(?: (?:with|full|von(?= \d)) .*?)?",
        ),
        (
            "accountant",
            "steuer steuern steuererklärung buchhaltung",
            rf"(?P<me>)(?:die|unsere|meine) (?:steuern?|steuererklärung|buchhaltung) macht {_NOW}{_ARTICLES}{_V}",
        ),
        (
            "electricity",
            "strom",
            rf"(?P<me>)(?:unser |unseren |den )?strom (?:haben wir|habe ich|beziehen wir|kommt|ist) {_NOW}"
            rf"(?:bei|von|vom) {_ARTICLES}{_V}",
        ),
        (
            "internet",
            "internet",
            rf"(?P<me>)(?:unser |das |mein )?internet (?:haben wir|habe ich|kommt|läuft) {_NOW}"
            rf"(?:bei|von|vom|über) {_ARTICLES}{_V}",
        ),
        (
            "health insurance",
            "krankenversichert",
            rf"(?P<me>)krankenversichert (?:bin|sind) (?:ich|wir) {_NOW}bei {_ARTICLES}{_V}",
        ),
        ("phone contract", "handy", rf"(?P<me>)mit dem handy (?:bin|sind) (?:ich|wir) {_NOW}bei (?:der )?{_V}"),
        (
            "phone contract",
            "handy",
            rf"(?P<me>)(?:bin|sind) {_NOW}mit dem handy {_NOW}(?:von {_A} )?zu[rm]? {_V} gewechselt",
        ),
        (
            "landlord",
            "rent renting",
            rf"(?P<me>(?:i|we) rent|(?:(?:i|we) (?:'m|'re|am|are) )?renting) (?:(?:the|our|this|an?) (?!holiday)"
            rf"(?:[^\W\d_]+ )?(?:flat|house|apartment|studio|place|office|unit|shop|workshop|bungalow)"
            rf"(?: (?:on|in|at|above) [^,;]+?)? )?from {_V}",
        ),
        (
            "partner",
            "dating relationship",
            rf"{_WHO} (?:(?:is|'s|are|'m|am|has been|'s been) )?{_NOW}(?:dating|in a relationship) "
            rf"{_NOW}(?:with )?(?:an? (?:[^\W\d_]+ ){{1,2}}(?:called|named) )?{_V}",
        ),
        ("partner", "zusammen", rf"{_WHO} (?:ist|bin) {_NOW}mit {_V} {_NOW}zusammen(?=$| [,;])"),
        ("car", "traded", rf"(?P<me>)traded (?:in )?{_ARTICLES}{_A} (?:in )?for {_ARTICLES}{_V}"),
        ("car insurance", "insured", rf"(?P<me>my|our|the) car (?:is|are) {_NOW}insured (?:with|by|at) {_V}"),
        ("insurance", "insured", rf"{_WHO} (?:is|are|'re|'m|am) {_NOW}insured (?:with|by|at) {_V}"),
        ("gym", "train trains", rf"(?!we\b){_WHO} {_NOW}(?:trains?|works? out) {_NOW}at {_ARTICLES}{_V}"),
        (
            "gym",
            "training",
            rf"(?P<me>i|we|been)(?: (?:'m|'ve|am|have|been|are|'re))* {_NOW}training at {_ARTICLES}{_V}",
        ),
        ("supermarket", "shop shops", rf"{_WHO} {_NOW}shops? {_NOW}at {_ARTICLES}{_V}"),
        ("university", "study studies", rf"{_WHO} {_NOW}(?:study|studies) {_NOW}(?:\w+ )?at {_ARTICLES}{_V}"),
        (
            "school",
            "goes geht attends besucht",
            rf"{_WHO} (?:[^,;⟨⟩]{{0,40}}(?:schule|schools?) [^,;⟨⟩]{{0,20}}(?:und|and) )?"
            rf"{_NOW}(?:(?:goes|geht) {_NOW}(?:to|aufs?|ans?|zur)|attends|besucht) "
            rf"{_NOW}{_ARTICLES}{_V}(?: 's)?",
        ),
        ("class", "class grade klasse", rf"{_WHO} (?:is|'s|'m|ist|est) {_NOW}in (?:der )?(?:class|grade|klasse) {_V}"),
        ("port", "port", rf"{_WHO} (?:[^\s,⟨]+ ){{0,2}}(?:on|at|uses|auf|via) port {_V}"),
        ("port", "listens", rf"{_WHO} {_NOW}listens {_NOW}on {_V}"),
        ("ip", "ip has at is hat", rf"{_WHO} (?:has|hat|is|'s) {_NOW}(?:(?:the|an|ip|address|at|on) )*{_V}"),
        ("ip", _ARROWS, rf"{_WHO} (?:: )?{_A} {_ARROW} {_V}"),
        ("version", "at on", rf"{_WHO} (?:is|'s|runs) {_NOW}(?:at|on) (?:version )?(?P<v>⟨\d+⟩|v?\d+(?:\.\d+)+)"),
        ("version", "version", rf"{_WHO} (?:[^\s,⟨]+ ){{0,2}}version {_V}"),
        (
            "version",
            "upgraded updated bumped downgraded",
            rf"{_WHO} (?:(?:is|was|got|has been|are|were) )?{_UPGRADED} (?:from {_A} )?to (?:version )?{_V}",
        ),
        (
            "version",
            "upgraded updated bumped downgraded",
            rf"{_UPGRADED} {_ARTICLES}{_WHO} (?:from {_A} )?to (?:version )?{_V}",
        ),
        ("version", _ARROWS, rf"{_WHO} (?:: )?{_A} {_ARROW} {_V}"),
    )
)
_IN_VERBS = frozenset(word for _, _, hints in VERBS for word in hints) - {"has", "at", "is", "hat", "on"}
HINTS = ROLE_HINTS | _IN_VERBS
"""Without one of these words, or an address of numbers, a sentence tells of no role."""
