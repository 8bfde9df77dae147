"""What one encoded sentence says of one thing in any words, and whether it says that it is new."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from hopgate.extract.extraction import Stated
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.stated_changes import changed, moved_to
from hopgate.extract.rules.stated_loans import HINTS as LOANS
from hopgate.extract.rules.stated_loans import lent_or_back
from hopgate.extract.rules.stated_parts import DOUBT, LATELY, MOVED, NOW, value_at
from hopgate.extract.rules.stated_states import state_of
from hopgate.extract.rules.stated_turns import was_and_is
from hopgate.extract.rules.words import words

MOST_IN_SENTENCE = 20  # a longer one says more than one thing
_MOST_OF_LOAN = 30
_SINCE = compiled(
    r"\b(?:from now on|these days|as of (?:⟦\d+⟧|this \w+|now|today|for a while|\w+)|"
    r"^(?:starting|beginning|from) (?:this|next) (?:week|month|term|season|semester|year)(?: on)?(?: ,)?|"
    r"since (?:⟦\d+⟧|last \w+|\w+ ⟦\d+⟧|then|the \w+|\w+)|"
    r"from ⟦\d+⟧(?: on(?:wards?)?)?(?! (?:is|are|was|were)\b))(?=$| )|\bsince$"
)
_DATED = compiled(r" (?:in|from|on) ⟦\d+⟧$")
_OF_TIME = words("from these as since starting beginning")
# Of what these begin, nothing is read but after a break.
_OPENING = words(
    """
    it he she they you that this there these those what how why who when where so and but yes no not thanks thank sorry
    wow hey hi oh if as in on at for from after before while with to by let lets can could do did have had has will
    would more very also just maybe perhaps really sounds glad looking please ok okay
    """
) - {"on", "from", "as"}
_LINKING = words("so and but")
_BREAKS = frozenset((",", ":", "-", "–", "so"))
_DENIED = words("not no isn't aren't")
# Of how it was before, or of others, said beside what is so now.
ASIDE = _DENIED | words(
    """
    was were had wanted neighbour neighbours neighbor neighbors people everyone someone somebody before until never
    today yesterday another wasn't didn't couldn't doesn't don't can't failed ill sick cancelled canceled apparently
    """
)
_STILL = words("still")
# "far too elegant", and not "I use it too"
_TOO = compiled(r"\b(?:far|much|way|bit|is|are|'s) too [^\W\d_]")
# "was moved into": by whom, does not matter
_PASSIVE = compiled(
    r"\b(?:was|were|got|has been|have been) (?=(?:moved|transferred|migrated|shifted|relocated|switched) "
    r"(?:\S+ )?(?:in)?to (?!.* for ))"
)
# "gets rsynced to badger every night now as a backup"
_COPIED = compiled(
    r"\b(?:as|for) (?:a |an )?(?:backup|copy|mirror|spare)\b|"
    r"\b(?:rsynced|mirrored|replicated|copied|synced|backed up) (?:over |off )?(?:to|onto)\b"
)
_THAT_DAY = words("today yesterday")
_WENT = MOVED | words("raised bumped upgraded lowered pushed")
_NOT_ANY_MORE = compiled(
    r"[,;]? ?(?:and |but )?(?:(?:is |are )?(?:no longer|not) |instead of |rather than |aren't |isn't )"
    r"(?:(?:in|at|on|with|from|by|to|the|a|an|my|our) )*(?P<a>[^,;]+?)(?: any ?more)?(?= , | but |$)"
)


# "I have a new bridge partner, Jim Coakley"
_HAVE_NEW = compiled(
    r"^(?:(?:i|we) )?(?:have|'ve|'ve got|have got|got|found) (?:myself |ourselves )?an? new (?P<t>[^,;:]+?)"
    r"(?: (?:today|now|this week|at last|finally))? [,:] (?P<v>[^,;:]+?)(?: , .*)?$"
)


@lru_cache(maxsize=4096)  # short sentences differ in their names alone, which are numbers here
def statement_of(text: str, code: str = "en") -> Stated | None:  # noqa: PLR0911, PLR0912
    """What an encoded sentence says, with its references as they are."""
    tokens = text.split()
    if len(tokens) <= _MOST_OF_LOAN and not LOANS.isdisjoint(tokens) and (told := lent_or_back(text)):
        return told
    if (had := _HAVE_NEW.match(text)) and (one := state_of(f"{had['t']} : {had['v']}".split(), code)):
        return Stated(one.thing, one.relation, one.value, is_change=True)
    opens = tokens[0] in _OPENING and _BREAKS.isdisjoint(tokens) and _WENT.isdisjoint(tokens)
    if opens or not 1 < len(tokens) <= MOST_IN_SENTENCE:
        return None
    if told := was_and_is(text):
        return told
    if not MOVED.isdisjoint(tokens) and (active := _PASSIVE.sub("", text)) != text:
        text, tokens = active, active.split()
    # Most sentences end here: every look costs as much as all that it finds.
    doubt = _doubt(text, tokens)
    denied = doubt and doubt <= _DENIED
    if doubt and not denied:
        return _beside_doubt(text, code) if doubt <= ASIDE and " , " in text else None
    if not doubt and (told := changed(text, tokens)):
        return told
    former, is_new_one = "", " 's new " in text
    if is_new_one:
        text = text.replace(" 's new ", " 's ")  # "Lily's new cello teacher is …"
    if (denied or "instead" in tokens or "rather" in tokens) and (over := _NOT_ANY_MORE.search(text)):
        value = value_at(over["a"].split(), 0)
        former = value.text if value else ""
        text = f"{text[: over.start()]} {text[over.end() :]} now".replace(" but ", " ")
        denied = False
    if denied:
        return _beside_doubt(text, code) if " , " in text else None
    if "⟦" in text:
        text = _DATED.sub("", text)
    plain = text if _OF_TIME.isdisjoint(tokens) else _SINCE.sub("", text)
    said = plain.split()
    if former and not DOUBT.isdisjoint(said):
        return None
    left = [word for word in said if word not in NOW and word not in LATELY and word != "still"]
    is_change = bool(former) or is_new_one or plain != text or not NOW.isdisjoint(said)
    for part in (*_told_now(said), left, *_parts(left)):
        if len(part) > 1 and (one := moved_to(part) or state_of(part, code, beside=not is_change)):
            # "new phone : Pixel 8", "our new vet is …", "the new ward manager on St Anne's"
            is_new = f" new {one.thing.partition(' of ')[0]}" in f" {text}"
            return Stated(one.thing, one.relation, one.value, former, is_change or is_new or one.is_change)
    return None


def _doubt(text: str, tokens: list[str]) -> frozenset[str]:
    """The words of a sentence that leave in doubt what it says."""
    doubt = DOUBT.intersection(tokens)
    if found := _COPIED.search(text):
        doubt |= {found[0]}
    if "too" in doubt and _TOO.search(text):
        doubt -= {"too"}
    if doubt and not _WENT.isdisjoint(tokens):
        doubt -= _THAT_DAY  # "moved the router to the hall today"
    if doubt == _STILL and NOW.isdisjoint(tokens):
        return frozenset()  # a plain state
    return doubt


def _beside_doubt(text: str, code: str) -> Stated | None:
    """A change that is told in some parts of a sentence, where others tell of what was, or of others.

    "immich is on cormorant now , puffin was out of memory"
    """
    parts = text.split(" , ")
    for length in range(len(parts) - 1, 0, -1):
        for at in range(len(parts) - length + 1):
            part = " , ".join(parts[at : at + length]).removeprefix("so ").removeprefix("and ").removeprefix("but ")
            if DOUBT.intersection(part.split()) <= _DENIED and (one := statement_of(part, code)) and one.is_change:
                return one
    return None


def _told_now(said: list[str]) -> Iterator[list[str]]:
    """The last part of a sentence where that alone says how it is now: "Caleb is off, so Micah is our drummer now"."""
    at = len(said) - 1 - said[::-1].index(",") if "," in said else -1
    if at < 0 or NOW.isdisjoint(said[at:]) or not NOW.isdisjoint(said[:at]):
        return
    part = said[at + 1 :]
    part = part[1:] if part and part[0] in _LINKING else part
    if part and part[0][0] == "⟨":
        yield [word for word in part if word not in NOW and word not in LATELY]


def _parts(said: list[str]) -> Iterator[list[str]]:
    """The parts of a sentence after an opening: "hey all, rehearsals are at the Cannery"."""
    return (said[at + 1 :] for at, word in enumerate(said) if word in _BREAKS)
