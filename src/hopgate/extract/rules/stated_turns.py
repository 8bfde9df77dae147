"""What was and what is, told one after the other: "the bridge evening used to be on Fridays, it's on Tuesdays now"."""

from __future__ import annotations

import itertools
import re

from hopgate.extract.extraction import Stated
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.stated_parts import (
    AT,
    BY,
    DOUBT,
    LATELY,
    NOW,
    PLACES,
    PREPOSITIONS,
    Part,
    thing_at,
    value_at,
)
from hopgate.extract.rules.stated_states import sort_of, state_of
from hopgate.extract.rules.words import words

# "is no longer on Tuesday", "used to be with Eon", "was in the shed until May".
_WAS = compiled(
    r"^(?P<t>.+?) (?:used to (?:be|run|live|happen|go|meet|sit|hang|come)|no longer [^\W\d_]+|"
    r"(?:do|does) not [^\W\d_]+|"
    r"(?:is|are|'s|'re) (?:no longer|off|done with|through with|rid of|out of|away from)|"
    r"(?:has |have |had )?(?:left|quit|dropped|ditched|gave up|given up|stopped)|was|were|(?:has|have|had) been|"
    r"'s been) (?P<a>[^,;:]+?)"
    r"(?: (?:until|till|for|because|since|before|on|in) .+)?$"
)
_BREAK = compiled(r" (?:[,;:–-]|but|and) ")
_LINKS = words("and but so instead then")
_IT = words("it they that this he she")
# "they put it on Thursday"
_PUT = compiled(
    r"^(?:(?:they|we|i|he|she)(?: have| 've| has)? )?(?:put|moved|shifted|set|placed|hung|stuck|brought|pushed|took) "
    r"(?:it|them) (?:back |up |down |over )?(?P<p>to|on|in|at|into|onto|with|under|behind) (?P<b>.+)$"
)
_FORMERLY = compiled(
    r"^(?:(?P<t>[^:,;]+) [:,;] )?(?:formerly|previously|before|was|used to be|until now|so far) (?P<a>[^,;:]+?) "
    r"[,;:] (?:but |and )?now (?P<b>[^,;]+)"
)
_CHANGED_WHAT = compiled(r"^(?:(?:we|i) )?(?:'ve |have |'s |has )?(?:moved|changed|switched)(?: of)? ")
_IS = {"'s": "is", "'re": "are"}  # after "it" no possessive
_A_THING = "something"  # in place of what "it" is
_PAST = words("was were had used no not until till before")
_HINTS = words(
    """
    used longer was were been formerly previously before until off done through rid out away left quit dropped ditched
    gave given stopped not
    """
)
# "⟨2⟩ does it all", "Agnes owns it"
_HAS_IT = compiled(
    r"^(?P<b>⟨\d+⟩)(?: has| have| is|'s| 's)?(?: now)? (?:does|do|handles|runs|owns|leads|has|took|taken|takes|"
    r"hosts|keeps|looks after|manages|maintains|chairs|doing|running|in charge of|responsible for|picked|"
    r"got)(?: over| on| up)? "
    r"(?:it|that|this|them)(?: all| on| over| up)?(?: now)?$"
)
# "fetched the bike", "gave the spare key back"
_DEFINITE = compiled(
    r"\b(?:the|my|our) (?P<t>(?:(?!from |to |back |in |on |at |with |off |out |and |the |my |our |sold |bought )"
    r"[^\s,;⟨⟩]+ ?){1,3})"
)
_HAPPENED = compiled(
    r"(?:[^\W\d_]+ )?(?:[^\W\d_]+(?:ed|en)|sold|lost|gone|done|bought|built|shut|cut|hit|down|full|ill)"
)
_MINE = words("mine ours")
_GIVES = words("sold gave handed passed")
# "Selma stepped down as lead of the data team , Yusuf has taken the role"
_PASSED_ON = compiled(
    r"^(?P<a>⟨\d+⟩) (?:has |have |is )?(?:stepped down|stepping down|stood down|resigned|retired|retiring|left|quit|"
    r"stopped)(?: as (?:the |our )?(?P<r>[^\W\d_]+)(?: (?:of|for) (?P<t>[^,;]+?))?)? (?:,|and|, and) "
    r"(?P<b>⟨\d+⟩) (?:has |have |is |'s )?(?:now )?(?:taken|took|takes|taking|got|gets|has|picked up|stepped into) "
    r"(?:over|the role|the job|the post|(?:his|her|their) (?:place|role|job|post)|on the role|it|it over|"
    r"it on)(?: now)?$"
)
# "Anke Sutter has resigned at Brenner, her successor is Lena Vogt"
_SUCCEEDED = compiled(
    r"^(?P<a>⟨\d+⟩) (?:has |have |is |'s )?(?:[^,;]+ )?(?:retired|retiring|retires|resigned|resigns|left|leaving|"
    r"leaves|quit|gone|stepped down|stopped|gekündigt|aufgehört|gegangen|verabschiedet)(?: [^,;]+)? , "
    r"(?:and )?(?:his|her|their|the) (?:new )?(?:successor|replacement|nachfolger|nachfolgerin)"
    r"(?: as [^\W\d_]+)? (?:is|heißt|:) (?:now )?(?P<b>⟨\d+⟩)"
)


def was_and_is(text: str) -> Stated | None:
    """What a sentence says to have been, and in its next part to be.

    Examples
    --------
    >>> told = was_and_is("bridge evening used to be on fridays , it 's on tuesdays now")
    >>> told.thing, told.former, told.value
    ('bridge evening', 'friday', 'tuesday')
    >>> told = was_and_is("plumber : was ⟨0⟩ , now ⟨1⟩")
    >>> told.thing, told.former, told.value
    ('plumber', '⟨0⟩', '⟨1⟩')
    """
    said = set(text.split())
    if _HINTS.isdisjoint(said):
        return passed_on(text) or (_of_it(_BREAK.split(text)) if not _IT.isdisjoint(said) else None)
    if found := _FORMERLY.match(text):
        return _formerly(found)
    parts = _BREAK.split(text)
    if told := _of_it(parts):
        return told
    for part, after in itertools.pairwise(parts):
        was = _WAS.match(part)
        if was and (told := _then(was, after)):
            return told
    return None


def _of_it(parts: list[str]) -> Stated | None:
    """What is said of "it" now, after a part with one thing: "fetched the bike from Marek , it is in my cellar now"."""
    for before, part in itertools.pairwise(parts):
        said = part.split()
        if said[0] not in ("it", "they") or NOW.isdisjoint(said) or not DOUBT.isdisjoint(said):
            continue
        things = [found["t"].strip() for found in _DEFINITE.finditer(before)]
        if len(things) == 2 and not _GIVES.isdisjoint(before.split()):
            things = things[1:]  # "the council sold the pavilion"
        if len(things) == 1 and DOUBT.isdisjoint(before.split()):
            rest = [word for word in said[1:] if word not in NOW and word not in LATELY]
            told = state_of([_A_THING, *(_IS.get(word, word) for word in rest[:1]), *rest[1:]])
            if told and told.thing == _A_THING:
                return Stated(things[0], told.relation, told.value, is_change=True)
    return None


def passed_on(text: str) -> Stated | None:
    """Who has a task after somebody who has it no longer; of what task, where it is not said, another note has told.

    Examples
    --------
    >>> told = passed_on("⟨0⟩ has stepped down as lead of the data team , ⟨1⟩ has taken the role")
    >>> told.thing, told.former, told.value
    ('data team', '⟨0⟩', '⟨1⟩')
    """
    if next_one := _SUCCEEDED.match(text):
        return Stated("", BY, next_one["b"], next_one["a"], is_change=True)
    found = _PASSED_ON.match(text)
    if not found:
        return None
    part = thing_at((found["t"] or found["r"] or "").split(), 0)
    return Stated(part.text if part else "", BY, found["b"], found["a"], is_change=True)


def _formerly(found: re.Match[str]) -> Stated | None:
    old, new = _placed(found["a"].split()), _placed(found["b"].split())
    if not old or not new or old[0].text == new[0].text:
        return None
    label = _CHANGED_WHAT.sub("", found["t"]) if found["t"] else ""
    thing = thing_at(label.split(), 0) if label else None
    if label and not thing:
        return None
    return Stated(thing.text if thing else "", sort_of(*new), new[0].text, old[0].text, is_change=True)


def _then(was: re.Match[str], part: str) -> Stated | None:
    """What is so now, by the part after that of what was."""
    thing, old = thing_at((before := was["t"].split()), 0), _placed(was["a"].split())
    mine = was["a"] in _MINE
    if not thing or thing.end < len(before) or not (old or mine) or not DOUBT.isdisjoint(set(before) - _PAST):
        return None
    said = part.split()
    while said and (said[0] in _LINKS or said[0] in NOW):
        said = said[1:]
    if len(said) < 2 or not DOUBT.isdisjoint(said):
        return None
    has = _HAS_IT.match(part)
    if has:
        return Stated(thing.text, BY, has["b"], "" if mine or not old else old[0].text, is_change=True)
    if mine or not old:
        return None
    if put := _PUT.match(" ".join(said)):
        value = value_at(put["b"].split(), 0)
        state = (sort_of(value, put["p"]), value.text) if value else None
    else:
        said = said[1:] if said[0] in _IT else ["is", *said] if said[0] in PREPOSITIONS else said
        told = state_of([*before, *(word for word in said if word not in NOW and word not in LATELY)])
        state = (told.relation, told.value) if told and told.thing == thing.text else None
    if not state or state[1] == old[0].text:
        return None
    relation = AT if state[0] != AT and old[1] in PLACES and sort_of(*old) == AT else state[0]
    return Stated(thing.text, relation, state[1], old[0].text, is_change=True)


def _placed(said: list[str]) -> tuple[Part, str] | None:
    """A value, and the preposition before it."""
    said = [word for word in said if word not in NOW]
    preposition = said[0] if said and said[0] in PREPOSITIONS else ""
    value = value_at(said, bool(preposition))
    if not value or value.end < len(said) - 1:
        return None
    happened = not preposition and value.kind == "noun" and _HAPPENED.fullmatch(value.text)  # "was sold"
    return None if happened else (value, preposition)
